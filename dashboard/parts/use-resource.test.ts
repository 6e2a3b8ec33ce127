import { setTimeout as delay } from "node:timers/promises";
import { expect, it, vi } from "vitest";
import { thenAgain } from "./use-resource.ts";

it.each(["arrives", "fails"])(
  "waits for a slow response, and polls again after it %s until it is aborted",
  async (how) => {
    const again = vi.fn();
    const abort = new AbortController();
    const slow = delay(50).then(() => (how === "fails" ? Promise.reject(new Error("refused")) : 1));
    await thenAgain(slow, abort.signal, 5, again).catch(() => undefined);
    expect(again).not.toHaveBeenCalled();
    await vi.waitFor(() => expect(again.mock.calls.length).toBeGreaterThan(1));
    abort.abort();
    again.mockClear();
    await delay(20);
    expect(again).not.toHaveBeenCalled();
  },
);

it("does not poll again after the abort", async () => {
  const again = vi.fn();
  await thenAgain(Promise.resolve(), AbortSignal.abort(), 1, again);
  await delay(10);
  expect(again).not.toHaveBeenCalled();
});
