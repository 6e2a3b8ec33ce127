import { expect, test } from "vitest";
import { QualityReport } from "#shared/job/quality.ts";
import type { TargetMetadata } from "#shared/job/quality-target.ts";
import { boundedChunkTargets, boundedQuality, boundedTargets } from "./bounded-quality.ts";

const STATISTICS = { mean: 90, harmonic_mean: 90, percentile_1: 80, min: 70 };
const report = (points: readonly (number | null)[]): QualityReport => ({
  renditions: [
    {
      track: "video",
      width: 1280,
      height: 720,
      shown_width: 1920,
      shown_height: 1080,
      model: "vmaf_v0.6.1",
      frames: points.length,
      every: 10,
      vmaf: STATISTICS,
      psnr: STATISTICS,
      ssim: { mean: 0.99, harmonic_mean: 0.99, percentile_1: 0.9, min: 0.8 },
      series: { interval_seconds: 1, vmaf: [...points], psnr: [...points], ssim: [...points] },
    },
  ],
});

test("a series that is short enough is kept", () => {
  const short = report([90, null, 92]);
  expect(boundedQuality(short, 30)).toEqual(short);
});

test("the intervals of a long series become longer until the outputs of a job fit together", () => {
  const bounded = boundedQuality(
    report(Array.from({ length: 1800 }, (_, at) => (at % 4 < 2 ? null : 80 + (at % 2)))),
    30,
  );
  const [series] = bounded.renditions.map((rendition) => rendition.series);
  expect(JSON.stringify(bounded).length).toBeLessThan(200_000 / 30);
  expect(series).toMatchObject({ interval_seconds: 8, vmaf: { length: 225, 0: 80.5 } });
});

const many = <Value>(count: number, value: Value): Value[] => Array.from({ length: count }, () => value);

test.each([
  ["series of different lengths", many(50, { interval_seconds: 1, vmaf: [], psnr: many(2000, 40.123), ssim: [] })],
  ["intervals of the greatest length", [{ interval_seconds: 1_000_000, vmaf: many(2000, 90), psnr: [], ssim: [] }]],
  ["more tracks than fit", many(50, { interval_seconds: 1, vmaf: [90], psnr: [40], ssim: [1] })],
])("a report with %s is bounded, and can be read again", (_name, series) => {
  const renditions = series.flatMap((part) => report([90]).renditions.map((each) => ({ ...each, series: part })));
  const bounded = boundedQuality({ renditions }, 30);
  expect(JSON.stringify(bounded).length).toBeLessThan(200_000 / 30);
  expect(QualityReport.parse(bounded)).toEqual(bounded);
});

const target: TargetMetadata = {
  vmaf: 93,
  size: "1280x720",
  rate_factor: 23,
  ended: "met",
  samples: null,
  tried: many(20, { rate_factor: 23.25, score: 92.87, kbps: 1234 }),
};

test("searches are kept without `tried`, and no more of them than fit", () => {
  expect(boundedTargets([target], 1)).toEqual([target]);
  expect(boundedTargets(many(5, target), 30)).toEqual(many(5, { ...target, tried: [] }));
  expect(JSON.stringify(boundedTargets(many(50, target), 30)).length).toBeLessThan(50_000 / 30);
});

test("a chunk keeps a search for each of its tracks, without `tried`", () => {
  const of = (output: number) => ({ output, target });
  const quality = { output: 1, target: { ...target, tried: [] } };
  expect(boundedChunkTargets([of(0), ...many(9, of(1))], { outputs: [1, 2], tracks: 2 })).toEqual([quality, quality]);
});
