import { describe, expect, test } from "vitest";
import { MAX_SPLIT_POINTS } from "../../media/frame-index.ts";
import { evenly, frameIndexOf, probeOf } from "../../testing/frame-indexes.ts";
import { chooseSplitPoints } from "./choose-split-points.ts";
import { chunkableSource, gridLineMs } from "./chunked-source.ts";

describe("places where a film can be cut", () => {
  const ROWS: [name: string, rate: string, times: number[], first: number[], count: number][] = [
    ["every two seconds of a constant rate", "25/1", evenly(25, 20), [50, 100], 9],
    [
      "where matroska's milliseconds are not on the line",
      "30000/1001",
      evenly(30000 / 1001, 20).map(toMs),
      [60, 120],
      9,
    ],
    ["behind the first frame's own line when it is late", "25/1", evenly(25, 20, 0.6), [50, 100], 9],
    ["before the first frame behind a line, at any times", "varying", [0, 0.5, 1.9, 2.3, 3, 4.1, 5], [3, 5], 2],
    ["nowhere when rounding lays frames on a rate by chance", "25/1", evenly(25, 20, 0.02), [], 0],
    [
      "nowhere when two frames are one of that rate",
      "25/1",
      [...evenly(25, 3), 3, 3.001, 3.002, 3.04, ...evenly(25, 9, 3.08)],
      [],
      0,
    ],
    // From the fiftieth on frames come half a frame early: each is moved to where the next one belongs.
    [
      "nowhere behind a frame that is moved because of the one before",
      "25/1",
      [...evenly(25, 2), ...evenly(25, 8, 1.975)],
      [],
      0,
    ],
  ];

  test.each(ROWS)("%s", (_, rate, times, first, count) => {
    const { splitPoints } = chunkableSource(frameIndexOf(times), probeOf(rate));
    expect(splitPoints.slice(0, first.length).map(({ index }) => index)).toEqual(first);
    expect(splitPoints).toHaveLength(count);
  });

  test("count from where a run over picture and sound begins, in MPEG-TS", () => {
    const format = { format_name: "mpegts", start_time: "1.400000" };
    const { streams } = probeOf("25/1");
    const starts = ["1.860000", "1.810000"];
    const timed = streams.map((stream, at) => ({ ...stream, start_time: starts[at] }));
    const film = chunkableSource(frameIndexOf(evenly(25, 10, 0.46)), { ...probeOf("25/1", format), streams: timed });
    expect([film.startUs, film.endUs, film.splitPoints[0]?.frameUs]).toEqual([50_000, 10_050_000, 2_050_000]);
  });
});

function toMs(time: number): number {
  return Math.round(time * 1000) / 1000;
}

describe("chunks", () => {
  const film = (seconds: number) => chunkableSource(frameIndexOf(evenly(5, seconds)), probeOf("5/1"));
  const ROWS: [seconds: number, segmentMs: number, slots: number, expected: number[] | string][] = [
    [60, 2000, 8, "the film is no longer than 60 s"],
    [61, 2000, 1, "there are no two nodes or slots to share it"],
    [61, 2000, 8, [24, 24, 13]],
    [90, 6000, 8, [24, 24, 24, 18]],
    [100, 10_000, 8, [30, 30, 40]],
    [180, 2000, 5, [36, 36, 36, 36, 36]],
    [180, 2000, 6, [30, 30, 30, 30, 30, 30]],
    [180, 2000, 8, [24, 24, 24, 24, 24, 24, 24, 12]],
    [300, 2000, 2, Array(10).fill(30)],
    [600, 2000, 3, Array(15).fill(40)],
    [120, 14_000, 8, [28, 28, 28, 36]],
    [240, 60_000, 8, [60, 60, 60, 60]],
  ];

  test.each(ROWS)("of %i s with a grid of %i ms for %i slots are %j long", (seconds, segmentMs, slots, expected) => {
    const whole = film(seconds);
    const chosen = chooseSplitPoints(whole, { segmentMs, slots, audioMs: 0 });
    const lines = chosen.ok
      ? [...chosen.chunks.flatMap(({ to }) => (to ? gridLineMs(whole, to) : [])), seconds * 1000]
      : [];
    expect(chosen.ok ? lines.map((line, at) => (line - (lines[at - 1] ?? 0)) / 1000) : chosen.why).toEqual(expected);
    if (chosen.ok) expect(chosen.chunks.reduce((sum, { frames }) => sum + frames, 0)).toBe(whole.frames);
  });

  test("are not more than a job can keep", () => {
    const cut = (at: number) => ({
      ...{ index: 30 * at, splitUs: 30e6 * at - 1 },
      frameUs: 30e6 * at,
      keyframe: 0,
      bytes: 0,
    });
    const splitPoints = Array.from({ length: MAX_SPLIT_POINTS }, (_, at) => cut(at + 1));
    const week = { frames: 604_800, startUs: 0, endUs: 604_800e6, bytes: 1e9, longestGopMs: 2000, splitPoints };
    const chosen = chooseSplitPoints(week, { segmentMs: 2000, slots: 100_000, audioMs: 0 });
    expect(chosen).toEqual({ ok: false, why: "it is too long: it would have more than 1700 chunks" });
  });

  test("are not made of a film whose keyframes are too far apart", () => {
    const chosen = chooseSplitPoints({ ...film(300), longestGopMs: 31_000 }, { segmentMs: 2000, slots: 8, audioMs: 0 });
    expect(chosen).toEqual({ ok: false, why: "its keyframes are up to 31.0 s apart, too far to begin within it" });
  });

  test("share the mean bitrate by the source's own bytes, and together spend it", () => {
    const ledger = frameIndexOf(evenly(5, 72), (index) => (index < 120 ? 400 : 100));
    const chosen = chooseSplitPoints(chunkableSource(ledger, probeOf("5/1")), {
      segmentMs: 2000,
      slots: 8,
      audioMs: 0,
    });
    expect(chosen.ok && chosen.chunks.map(({ share }) => share)).toEqual([1.5, 0.75, 0.75]);
  });
});
