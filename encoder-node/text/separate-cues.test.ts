import { expect, test } from "vitest";
import { separateCues } from "./separate-cues.ts";

/** Cues of a text such as `0-10 A, 10-20 B`; a slash ends a line. */
const cuesOf = (text: string) =>
  text.split(", ").flatMap((cue) => {
    const [, startMs, endMs, lines = ""] = /^(\d+)-(\d+) (.*)$/.exec(cue) ?? [];
    return lines
      ? [{ startMs: Number(startMs), endMs: Number(endMs), settings: "", text: lines.replaceAll("/", "\n") }]
      : [];
  });

test.each([
  ["one after the other", "0-10 a, 10-20 b, 30-40 c", "0-10 a, 10-20 b, 30-40 c"],
  ["inside of another", "0-30 a, 10-20 b", "0-10 a, 10-20 a/b, 20-30 a"],
  ["at the same time", "0-10 a, 0-10 b", "0-10 a/b"],
  ["in a row", "0-20 a, 10-30 b, 10-40 c", "0-10 a, 10-20 a/b/c, 20-30 b/c, 30-40 c"],
  ["never", "", ""],
])("cues that are shown %s have their text at each time", (_, cues, expected) => {
  expect(separateCues({ definitions: [], cues: cuesOf(cues) }).cues).toMatchObject(cuesOf(expected));
});

test("a hundred thousand cues that overlap are refused in time", () => {
  const cues = Array.from({ length: 1e5 }, (_, at) => ({ startMs: at, endMs: 1e6 + at, settings: "", text: "text" }));
  expect(() => separateCues({ definitions: [], cues })).toThrow("too many of its cues overlap");
});
