import { expect, it, vi } from "vitest";
import { isWithin, outsideOf, parseHours, watchHours } from "./working-hours.ts";

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

it("reports each start and each end of the hours once", async () => {
  let now = at("21:59");
  const changes: Date[] = [];
  const end = watchHours(
    parseHours("22-7"),
    () => changes.push(now),
    () => now,
    1,
  );
  for (const [step, clock] of [at("22:00"), at("22:01"), at("07:00")].entries()) {
    now = clock;
    const expected = [1, 1, 2][step];
    await vi.waitFor(() => expect(changes).toHaveLength(expected ?? 0));
  }
  expect(changes).toEqual([at("22:00"), at("07:00")]);
  end();
});
