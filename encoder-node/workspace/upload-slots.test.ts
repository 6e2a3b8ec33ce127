import { expect, it } from "vitest";
import { UploadSlots } from "./slots.ts";

it("leaves no slot occupied by a caller that stops waiting", async () => {
  const slots = new UploadSlots(1, async () => true);
  const never = new AbortController().signal;
  const release = await slots.acquire(never);
  const gone = new AbortController();
  const waiting = slots.acquire(gone.signal);
  gone.abort(new Error("over"));
  await expect(waiting).rejects.toThrow("over");
  release();
  (await slots.acquire(never))();
});

it("waits while the disk is full", async () => {
  const abort = new AbortController();
  const full = new UploadSlots(1, async () => false).acquire(abort.signal);
  abort.abort(new Error("over"));
  await expect(full).rejects.toThrow();
});
