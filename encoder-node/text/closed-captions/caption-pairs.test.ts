// Byte pairs of captions in the units of a video.
import { expect, it } from "vitest";
import { captionPairs } from "./caption-pairs.ts";

/** A unit with captions: flags, a reserved byte, and triplets. */
const unit = (flags: number, ...triplets: number[]): Buffer =>
  Buffer.from([...Buffer.from("b5003147413934", "hex"), 3, flags, 0xff, ...triplets, 0xff]);

const timesOf = (units: readonly Buffer[], times: readonly string[]): string =>
  `#tb 0: 1001/30000\n${units.map((bytes, at) => `0, ${times[at]},        1,   ${bytes.length}, 0x00000000\n`).join("")}`;

it.each<[string, Buffer, (readonly [field: number, first: number, second: number])[]]>([
  [
    "of both fields",
    unit(0xc2, 0xfc, 1, 2, 0xfd, 3, 4),
    [
      [1, 1, 2],
      [2, 3, 4],
    ],
  ],
  ["without padding", unit(0xc2, 0xfc, 0x80, 0x80, 0xfd, 3, 4), [[2, 3, 4]]],
  ["without invalid ones and without CEA-708", unit(0xc4, 0xf8, 1, 2, 0xfe, 3, 4, 0xff, 5, 6, 0xfc, 7, 8), [[1, 7, 8]]],
  ["that the flags announce", unit(0x82, 0xfc, 1, 2), []],
  ["without the bytes that prevent start codes", unit(0xc2, 0xfc, 0, 0, 3, 0xfd, 3, 4), [[2, 3, 4]]],
  ["of a unit that ends early", unit(0xdf, 0xfc, 1, 2), [[1, 1, 2]]],
])("finds pairs %s", (_, bytes, pairs) => {
  const pairsOfUnit = captionPairs(bytes, timesOf([bytes], ["0, 0"]));
  expect(pairsOfUnit.map(({ field, first, second }) => [field, first, second])).toEqual(pairs);
});

it("sorts pairs by the time at which their frame is shown", () => {
  const units = [1, 2, 3].map((value) => unit(0xc1, 0xfc, value, value));
  const pairs = captionPairs(Buffer.concat(units), timesOf(units, ["0, 30", "1, 60", "2, NOPTS"]));
  expect(pairs.map(({ first, ms }) => [first, Math.round(ms)])).toEqual([
    [3, 67],
    [1, 1001],
    [2, 2002],
  ]);
});

it("finds nothing in other data", () => {
  expect(captionPairs(Buffer.from("GA94\x03"), "")).toEqual([]);
  expect(captionPairs(Buffer.alloc(0), timesOf([unit(0xc1)], ["0, 0"]))).toEqual([]);
});
