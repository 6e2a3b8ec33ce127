import { describe, expect, test } from "vitest";
import type { Clip } from "../../job/clip.ts";
import { MAX_SPLIT_POINTS, packSplitPoints } from "../../media/frame-index.ts";
import { isReportable } from "../../protocol/chunks.ts";
import { evenly, frameIndexOf, probeOf } from "../../testing/frame-indexes.ts";
import { chooseSplitPoints } from "./choose-split-points.ts";
import { chunkableSource, gridLineMs } from "./chunkable-source.ts";

describe("exact split points are", () => {
  const ROWS: [name: string, rate: string, times: number[], first: number[], count: number][] = [
    ["every two seconds of a constant rate", "25/1", evenly(25, 20), [50, 100], 9],
    [
      "on the line in spite of the rounding of Matroska's milliseconds",
      "30000/1001",
      evenly(30000 / 1001, 20).map(toMs),
      [60, 120],
      9,
    ],
    ["relative to a first frame that is late", "25/1", evenly(25, 20, 0.6), [50, 100], 9],
    ["at the first frame after a line for a variable rate", "varying", [0, 0.5, 1.9, 2.3, 3, 4.1, 5], [3, 5], 2],
    ["nowhere if the slots of frames depend on rounding", "25/1", evenly(25, 20, 0.02), [], 0],
    [
      "nowhere if two frames have the same slot",
      "25/1",
      [...evenly(25, 3), 3, 3.001, 3.002, 3.04, ...evenly(25, 9, 3.08)],
      [],
      0,
    ],
    // From the fiftieth frame on, frames come half a frame early. Each is moved to the next slot.
    [
      "nowhere after a frame whose slot depends on the frame before",
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

  test("measures times from the start of a run over video and audio in MPEG-TS", () => {
    const format = { format_name: "mpegts", start_time: "1.400000" };
    const { streams } = probeOf("25/1");
    const starts = ["1.860000", "1.810000"];
    const timed = streams.map((stream, at) => ({ ...stream, start_time: starts[at] }));
    const source = chunkableSource(frameIndexOf(evenly(25, 10, 0.46)), { ...probeOf("25/1", format), streams: timed });
    expect([source.startUs, source.endUs, source.splitPoints[0]?.frameUs]).toEqual([50_000, 10_050_000, 2_050_000]);
  });
});

describe("a clip", () => {
  const ROWS: [clip: Clip, rate: string, times: number[], frames: [startUs: number, endUs: number, count: number]][] = [
    [{ startMs: 3010, endMs: null }, "25/1", evenly(25, 10), [3_040_000, 10_000_000, 174]],
    // A millisecond before a frame may be the rounded time of the frame.
    [{ startMs: 3001, endMs: 7001 }, "25/1", evenly(25, 10), [3_000_000, 7_000_000, 100]],
    [{ startMs: 3000, endMs: 7002 }, "25/1", evenly(25, 10), [3_000_000, 7_040_000, 101]],
    // 7.02 s is shown as 7.04 s: no longer in the clip.
    [{ startMs: 3000, endMs: 7030 }, "25/1", [...evenly(25, 7), ...evenly(25, 3, 7.02)], [3_000_000, 7_020_000, 100]],
    [{ startMs: 0, endMs: 7002 }, "25/1", evenly(25, 10), [0, 7_040_000, 176]],
    [{ startMs: 3001, endMs: 9039 }, "varying", evenly(25, 10), [3_040_000, 9_040_000, 150]],
    [{ startMs: 3001, endMs: 9961 }, "varying", evenly(25, 10), [3_040_000, 10_000_000, 174]],
  ];

  test.each(ROWS)("%j of %s fps has its own frames and split points", (clip, rate, times, frames) => {
    const source = chunkableSource(frameIndexOf(times), probeOf(rate, { duration: "10" }), clip);
    expect([source.startUs, source.endUs, source.frames]).toEqual(frames);
    const [point] = source.splitPoints;
    expect([point?.index, (point?.frameUs ?? 0) - source.startUs, point?.bytes]).toEqual([50, 2_000_000, 5000]);
    expect(isReportable({ ...source, splitPoints: packSplitPoints(source.splitPoints) })).toBe(true);
  });

  test.each([20_000, 1_000_000])("that starts at %s ms, after the input, cannot be split", (startMs) => {
    const source = chunkableSource(frameIndexOf(evenly(25, 10)), probeOf("25/1"), { startMs, endMs: null });
    expect(source).toMatchObject({ frames: 0, splitPoints: [] });
  });
});

function toMs(time: number): number {
  return Math.round(time * 1000) / 1000;
}

describe("chunks", () => {
  const sourceOf = (seconds: number) => chunkableSource(frameIndexOf(evenly(5, seconds)), probeOf("5/1"));
  const ROWS: [seconds: number, segmentMs: number, slots: number, expected: number[] | string][] = [
    [60, 2000, 8, "the video is no longer than 60 s"],
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

  test.each(ROWS)("splits %i s with a grid of %i ms for %i slots into %j", (seconds, segmentMs, slots, expected) => {
    const source = sourceOf(seconds);
    const chosen = chooseSplitPoints(source, { segmentMs, slots, audioMs: 0 });
    const lines = chosen.ok
      ? [...chosen.value.flatMap(({ to }) => (to ? gridLineMs(source, to) : [])), seconds * 1000]
      : [];
    expect(chosen.ok ? lines.map((line, at) => (line - (lines[at - 1] ?? 0)) / 1000) : chosen.error).toEqual(expected);
    if (chosen.ok) expect(chosen.value.reduce((sum, { frames }) => sum + frames, 0)).toBe(source.frames);
  });

  test("limits the number of chunks that a job can store", () => {
    const point = (at: number) => ({
      index: 30 * at,
      splitUs: 30e6 * at - 1,
      frameUs: 30e6 * at,
      keyframe: 0,
      bytes: 0,
    });
    const splitPoints = Array.from({ length: MAX_SPLIT_POINTS }, (_, at) => point(at + 1));
    const week = { frames: 604_800, startUs: 0, endUs: 604_800e6, bytes: 1e9, longestGopMs: 2000, splitPoints };
    const chosen = chooseSplitPoints(week, { segmentMs: 2000, slots: 100_000, audioMs: 0 });
    expect(chosen).toEqual({ ok: false, error: "it is too long: it would have more than 1700 chunks" });
  });

  test("rejects a source whose keyframes are too far apart", () => {
    const chosen = chooseSplitPoints(
      { ...sourceOf(300), longestGopMs: 31_000 },
      { segmentMs: 2000, slots: 8, audioMs: 0 },
    );
    expect(chosen).toEqual({ ok: false, error: "its keyframes are up to 31.0 s apart, too far to start within it" });
  });

  test("makes chunks shorter, and their mean bitrate higher, where the source has more bytes", () => {
    const source = chunkableSource(
      frameIndexOf(evenly(5, 300), (index) => (index < 300 ? 400 : 100)),
      probeOf("5/1"),
    );
    const chosen = chooseSplitPoints(source, { segmentMs: 2000, slots: 6, audioMs: 0 });
    const chunks = chosen.ok ? chosen.value : [];
    expect(chunks.map(({ frames }) => frames / 5)).toEqual([18, 18, 18, 26, ...Array(5).fill(30), 30, 40]);
    expect(chunks.map(({ share }) => share)).toEqual([1.6583, 1.6583, 1.6583, 1.0786, ...Array(7).fill(0.8291)]);
  });

  test("ends a chunk after a minute even if its frames have hardly any bytes", () => {
    const source = chunkableSource(
      frameIndexOf(evenly(5, 600), (index) => (index < 1500 ? 1 : 10_000)),
      probeOf("5/1"),
    );
    const chosen = chooseSplitPoints(source, { segmentMs: 2000, slots: 2, audioMs: 0 });
    const seconds = chosen.ok ? chosen.value.map(({ frames }) => frames / 5) : [];
    expect(seconds).toEqual([...Array(5).fill(60), ...Array(8).fill(36), 12]);
  });
});
