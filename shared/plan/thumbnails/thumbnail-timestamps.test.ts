import { expect, test } from "vitest";
import type { FrameSelection } from "../../job/output-spec.ts";
import { chooseTimestamps, countTimestamps, type TrackLength, timestampsOf } from "./thumbnail-timestamps.ts";

const track = (
  durationMs: number | null,
  startMs = 0,
  lengthFrom: TrackLength["lengthFrom"] = "stream",
): TrackLength => ({ durationMs, startMs, lengthFrom });
const number = (count: number): FrameSelection => ({ by: "number", number: count });
const offsets = (...offsetsMs: number[]): FrameSelection => ({ by: "offsets", offsetsMs });
const interval = (intervalMs: number | null): FrameSelection => ({ by: "interval", intervalMs });
const scenes = (count: number, durationMs: number): FrameSelection => ({ by: "scenes", number: count, durationMs });

test.each<[FrameSelection, TrackLength, number[]]>([
  [number(4), track(8000), [1000, 3000, 5000, 7000]],
  [number(1), track(8000, 500), [4500]],
  [number(3), track(null), [500, 1500, 2500]],
  [offsets(3000, 500, 500, 8000), track(8000), [500, 500, 3000, 8000]],
  [offsets(9000), track(8000, 0, "estimate"), [9000]],
  [offsets(9000), track(null), [9000]],
  [interval(3000), track(8000, 700), [700, 3700, 6700]],
  [interval(4000), track(8000), [0, 4000]],
  [interval(9000), track(8000), [0]],
])("%j of %j gives these timestamps", (selection, length, timestamps) => {
  const chosen = chooseTimestamps(selection, length, false);
  expect(chosen.ok && timestampsOf(chosen.value)).toEqual(timestamps);
});

test.each([
  [60, 30],
  [120, 60],
  [121, 25],
  [600, 120],
  [1800, 180],
  [3600, 180],
  [7200, 240],
])("for %i seconds the automatic interval gives %i images", (seconds, images) => {
  const chosen = chooseTimestamps(interval(null), track(seconds * 1000), false);
  expect(chosen.ok && countTimestamps(chosen.value)).toBe(images);
});

test.each<[FrameSelection, TrackLength, string, RegExp, boolean]>([
  [offsets(1000, 8001), track(8000), "offset_beyond_end", /at 8\.001 s: the input ends at 8 s/, false],
  [interval(null), track(null), "output_interval_not_possible", /length of the input is unknown/, false],
  [interval(1000), track(5_001_000), "output_interval_not_possible", /5001 images; at most 5000.*every 1\.1 s/, false],
  [interval(500), track(5_001_000), "output_interval_not_possible", /at most 10000/, true],
])("%j of %j fails with %s", (selection, length, code, message, onSheets) => {
  expect(chooseTimestamps(selection, length, onSheets)).toEqual({
    ok: false,
    error: { code, message: expect.stringMatching(message) },
  });
});

test.each<[FrameSelection, TrackLength, string[]]>([
  [scenes(1, 5000), track(60_000), ["27500 +50"]],
  [scenes(2, 2000), track(60_000, 1000), ["15000 +20", "45000 +20"]],
  // Scenes do not overlap: they are shorter if the source is short.
  [scenes(3, 5000), track(6000), ["0 +20", "2000 +20", "4000 +20"]],
  [scenes(1, 5000), track(40), ["0 +1"]],
  [scenes(1, 5000), track(null), ["0 +50"]],
])("%j of %j start at these times, with ten frames per second", (selection, length, expected) => {
  const chosen = chooseTimestamps(selection, length, false);
  const steps = expected.map((step) => step.split(" +").map(Number));
  expect(chosen.ok && chosen.value).toEqual(steps.map(([firstMs, count]) => ({ firstMs, stepMs: 100, count })));
});
