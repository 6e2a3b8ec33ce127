import { expect, it } from "vitest";
import { isWithin, outsideOf, parseHours } from "./working-hours.ts";

const at = (clock: string): Date => new Date(`2026-11-27T${clock}:00`);

it.each([
  ["22-7", "21:59", false],
  ["22-7", "22:00", true],
  ["22-7", "06:59", true],
  ["22-7", "07:00", false],
  ["9:30-17:15", "09:29", false],
  ["9:30-17:15", "17:14", true],
  ["0-24", "23:59", undefined],
  ["18-24", "23:59", true],
  ["18-24", "00:00", false],
  ["7-7", "07:00", undefined],
  ["25-7", "07:00", undefined],
  ["22", "07:00", undefined],
  ["22:60-7", "07:00", undefined],
  ["night", "07:00", undefined],
])("decides if the hours %s include the time %s: %s", (text, clock, expected) => {
  const hours = parseHours(text);
  expect(hours ? isWithin(hours, at(clock)) : undefined).toBe(expected);
});

it("a node without hours always works, and a node outside its hours states them", () => {
  expect(outsideOf(null, at("12:00"))).toEqual([]);
  expect(outsideOf(parseHours("22:30-7"), at("12:00"))).toEqual(["works from 22:30 to 7:00 (--hours)"]);
  expect(outsideOf(parseHours("22:30-7"), at("23:00"))).toEqual([]);
});
