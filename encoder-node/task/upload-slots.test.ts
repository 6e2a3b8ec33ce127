import { expect, it } from "vitest";
import { createUploadSlots } from "./upload-slots.ts";

it("leaves no place taken by who stops waiting for one", async () => {
  const slots = createUploadSlots(1, async () => true);
  const never = new AbortController().signal;
  const leave = await slots.take(never);
  const gone = new AbortController();
  const waiting = slots.take(gone.signal);
  gone.abort(new Error("over"));
  await expect(waiting).rejects.toThrow("over");
  leave();
  (await slots.take(never))();
});

it("waits while the disk is full", async () => {
  const abort = new AbortController();
  const full = createUploadSlots(1, async () => false).take(abort.signal);
  abort.abort(new Error("over"));
  await expect(full).rejects.toThrow();
});
