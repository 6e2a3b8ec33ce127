import { expect, test } from "vitest";
import { separateCues } from "./separate-cues.ts";

type Times = readonly (readonly [startMs: number, endMs: number, text: string])[];
const separated = (cues: Times): Times =>
  separateCues({
    definitions: [],
    cues: cues.map(([startMs, endMs, text]) => ({ startMs, endMs, settings: "", text })),
  }).cues.map(({ startMs, endMs, text }) => [startMs, endMs, text]);

test.each<[string, Times, Times]>([
  [
    "one after the other",
    [
      [0, 10, "a"],
      [10, 20, "b"],
      [30, 40, "c"],
    ],
    [
      [0, 10, "a"],
      [10, 20, "b"],
      [30, 40, "c"],
    ],
  ],
  [
    "inside of another",
    [
      [0, 30, "a"],
      [10, 20, "b"],
    ],
    [
      [0, 10, "a"],
      [10, 20, "a\nb"],
      [20, 30, "a"],
    ],
  ],
  [
    "at the same time",
    [
      [0, 10, "a"],
      [0, 10, "b"],
    ],
    [[0, 10, "a\nb"]],
  ],
  [
    "in a row",
    [
      [0, 20, "a"],
      [10, 30, "b"],
      [10, 40, "c"],
    ],
    [
      [0, 10, "a"],
      [10, 20, "a\nb\nc"],
      [20, 30, "b\nc"],
      [30, 40, "c"],
    ],
  ],
  ["never", [], []],
])("cues that are shown %s have their text at each time", (_, cues, expected) => {
  expect(separated(cues)).toEqual(expected);
});

test("a hundred thousand cues that overlap are refused in time", () => {
  const cues = Array.from({ length: 1e5 }, (_, at): Times[number] => [at, 1e6 + at, "text"]);
  expect(() => separated(cues)).toThrow("too many of its cues overlap");
});
