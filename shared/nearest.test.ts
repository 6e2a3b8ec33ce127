import fc from "fast-check";
import { expect, it } from "vitest";
import { editDistance, nearest } from "./nearest.ts";

it.each([
  ["", "abc", 3],
  ["path", "path", 0],
  ["pth", "path", 1],
  ["paht", "path", 1],
  ["ca", "abc", 3],
  ["kitten", "sitting", 3],
])("the edit distance from %j to %j is %i", (a, b, distance) => {
  expect(editDistance(a, b)).toBe(distance);
});

it.each<[string, string[], string | null]>([
  ["httpstrem", ["mp4", "httpstream"], "httpstream"],
  ["Bucket", ["bucket"], "bucket"],
  ["mp5", ["mov", "mp4", "mp3"], "mp4"],
  ["resoltuion", ["rotation", "resolution"], "resolution"],
  ["speed", ["key", "path", "duration"], null],
  ["x", ["y"], null],
  ["", ["a"], null],
  ["a".repeat(41), ["a".repeat(41)], null],
])("finds the word nearest to %j in %j: %j", (word, known, expected) => {
  expect(nearest(word, known)).toBe(expected);
});

it("the edit distance is symmetric, 0 to the same text, and at most the length of the longer text", () => {
  const texts = fc.string({ maxLength: 12 });
  fc.assert(
    fc.property(texts, texts, (a, b) => {
      const distance = editDistance(a, b);
      expect(editDistance(b, a)).toBe(distance);
      expect(editDistance(a, a)).toBe(0);
      expect(distance).toBeLessThanOrEqual(Math.max(a.length, b.length));
      expect(distance).toBeGreaterThanOrEqual(Math.abs(a.length - b.length));
    }),
  );
});
