import { expect, it } from "vitest";
import { parseRange } from "./http-headers.ts";

it.each([
  [undefined, null],
  ["bytes=0-0", { start: 0, end: 0 }],
  ["bytes=2-4", { start: 2, end: 4 }],
  ["Bytes=2-4 ", { start: 2, end: 4 }],
  ["bytes=8-99", { start: 8, end: 9 }],
  ["bytes=3-", { start: 3, end: 9 }],
  ["bytes=-4", { start: 6, end: 9 }],
  ["bytes=-99", { start: 0, end: 9 }],
  ["bytes=10-", "beyond"],
  ["bytes=-0", "beyond"],
  ["bytes=4-2", null],
  ["bytes=-", null],
  ["bytes=0-1,4-5", null],
  ["items=0-1", null],
])("parses the range of %s in ten bytes", (header, range) => {
  expect(parseRange(header, 10)).toEqual(range);
});

it("reports ranges of an empty file as beyond its end", () => {
  expect(["bytes=0-", "bytes=-5", null].map((range) => parseRange(range, 0))).toEqual(["beyond", "beyond", null]);
});
