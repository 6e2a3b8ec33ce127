import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { READ } from "./event-sockets.ts";
import { OPENING, streamOf } from "./socket-stream.ts";

/** A client's stream, and the object's end of its socket. */
function opened() {
  const { 0: client, 1: object } = new WebSocketPair();
  const requests: unknown[] = [];
  const closed: number[] = [];
  object.accept();
  object.addEventListener("message", ({ data }) => requests.push(data));
  object.addEventListener("close", ({ code }) => closed.push(code));
  const gone = new AbortController();
  const reader = streamOf(client, gone.signal).pipeThrough(new TextDecoderStream()).getReader();
  const read = async () => (await reader.read()).value ?? null;
  return { object, requests, closed, gone, read, cancel: () => reader.cancel() };
}

/** Lets the sockets carry all texts: the test controls the timers. */
const settle = async (): Promise<void> => {
  for (let turn = 0; turn < 20; turn++) await scheduler.wait(0);
};

describe("the stream of a client", () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "setInterval", "clearInterval"] }));
  afterEach(() => void vi.useRealTimers());

  it("carries the texts of the socket, and asks for more after they are read", async () => {
    const { object, requests, read } = opened();
    expect(await read()).toBe(OPENING);
    const next = read();
    await settle();
    expect(requests).toEqual([]);
    object.send("event: job\n\n");
    expect(await next).toBe("event: job\n\n");
    const last = read();
    await settle();
    expect(requests).toEqual([READ]);
    object.close(1000);
    expect(await last).toBeNull();
  });

  it("sends pings without asking the object, and ends after ten minutes", async () => {
    const { requests, closed, read } = opened();
    const texts = [];
    for (let text = await read(); text !== null; ) {
      texts.push(text);
      const next = read();
      await settle();
      vi.advanceTimersByTime(15_000);
      text = await next;
    }
    expect(new Set(texts)).toEqual(new Set([OPENING, ": ping\n\n", ": connect again\n\n"]));
    expect(texts.length).toBeGreaterThan(40);
    expect(texts.at(-1)).toBe(": connect again\n\n");
    await settle();
    expect([requests, closed]).toEqual([[], [1005]]);
  });

  it.each<[string, (stream: ReturnType<typeof opened>) => unknown]>([
    ["whose connection ends", ({ gone }) => gone.abort()],
    ["who reads no more", ({ cancel }) => cancel()],
    ["who has not read for the interval of pings", () => vi.advanceTimersByTime(30_000)],
  ])("releases the object for a client %s", async (_, leave) => {
    const stream = opened();
    await stream.read();
    await leave(stream);
    await settle();
    expect(stream.closed).toEqual([1005]);
  });
});
