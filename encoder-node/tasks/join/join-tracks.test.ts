import { expect, it } from "vitest";
import { checkFrames } from "./join-tracks.ts";

it.each([
  ["as reported and planned", 30, 30, null],
  ["as reported, where the plan does not know", 30, null, null],
  ["fewer than reported", 31, null, "chunk_mismatch"],
  ["as reported, but not as planned", 30, 31, "chunk_mismatch"],
  ["as planned, but not as reported", 29, 30, "chunk_mismatch"],
])("checks the number of frames of a chunk of 30 frames: %s", (_, reported, planned, code) => {
  const check = () => checkFrames({ frames: reported } as never, { frames: planned } as never, { frames: 30 } as never);
  if (code === null) expect(check).not.toThrow();
  else expect(check).toThrow(expect.objectContaining({ code }));
});
