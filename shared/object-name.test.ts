import { expect, it } from "vitest";
import { counterOf, joinPath, objectName } from "./object-name.ts";

const counters: [string, number, string][] = [
  ["a/%02d.jpg", 3, "a/03.jpg"],
  ["a/%.2d.jpg", 3, "a/03.jpg"],
  ["a/%05d.jpg", 12, "a/00012.jpg"],
  ["a/%1d.jpg", 12, "a/12.jpg"],
  ["a/%d.jpg", 7, "a/7.jpg"],
  ["a/plain.jpg", 1, "a/plain.jpg"],
  ["100%/a.jpg", 1, "100%/a.jpg"],
];
it.each(counters)("fills the counter of %s", (path, ordinal, expected) => {
  expect(objectName(path, ordinal)).toBe(expected);
  expect(counterOf(path) !== null).toBe(path !== expected);
});

const joins: [string, string, string][] = [
  ["", "a.mp4", "a.mp4"],
  ["/", "/a.mp4", "a.mp4"],
  ["films", "a.mp4", "films/a.mp4"],
  ["/films/", "//b/a.mp4", "films/b/a.mp4"],
];
it.each(joins)("joins %j and %j", (folder, name, expected) => {
  expect(joinPath(folder, name)).toBe(expected);
});
