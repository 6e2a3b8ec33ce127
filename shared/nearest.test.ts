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
])("from %j to %j it is %i", (one, other, distance) => {
  expect(editDistance(one, other)).toBe(distance);
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
])("%j is nearest to one of %j: %j", (word, known, expected) => {
  expect(nearest(word, known)).toBe(expected);
});

it("is a distance: the same both ways, none to itself, never more than the longer text", () => {
  const texts = fc.string({ maxLength: 12 });
  fc.assert(
    fc.property(texts, texts, (one, other) => {
      const distance = editDistance(one, other);
      expect(editDistance(other, one)).toBe(distance);
      expect(editDistance(one, one)).toBe(0);
      expect(distance).toBeLessThanOrEqual(Math.max(one.length, other.length));
      expect(distance).toBeGreaterThanOrEqual(Math.abs(one.length - other.length));
    }),
  );
});
