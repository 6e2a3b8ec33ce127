import { expect, test } from "vitest";
import { encodePath } from "./encode-path.ts";

// The URI encoding of AWS Signature Version 4: encodes everything except A-Z a-z 0-9 - . _ ~ and slashes.
test.each([
  ["a/b c.mp4", "a/b%20c.mp4"],
  ["-._~", "-._~"],
  ["!'()*", "%21%27%28%29%2A"],
  ["50%+1&2=3?#", "50%25%2B1%262%3D3%3F%23"],
  ["é/🎬", "%C3%A9/%F0%9F%8E%AC"],
])("encodes %s", (path, encoded) => {
  expect(encodePath(path)).toBe(encoded);
});
