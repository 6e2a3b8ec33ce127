import { expect, it } from "vitest";

it.each<[unknown, unknown, boolean]>([
  [Buffer.from("same"), Buffer.from("same"), true],
  [{ at: [Buffer.from("same")] }, { at: [Buffer.from("same")] }, true],
  [Uint8Array.of(1, 2, 3).subarray(1), Uint8Array.of(2, 3), true],
  [{ at: [Buffer.from("same")] }, { at: [Buffer.from("sane")] }, false],
  [Uint8Array.of(1, 2), Uint8Array.of(1), false],
  [Uint8Array.of(1, 0), Uint16Array.of(1), false],
])("compares bytes in %j and %j", (a, b, isEqual) => {
  if (isEqual) expect(a).toEqual(b);
  else expect(a).not.toEqual(b);
});
