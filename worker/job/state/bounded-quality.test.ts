import { expect, test } from "vitest";
import type { QualityReport } from "#shared/protocol/quality.ts";
import { boundedQuality } from "./bounded-quality.ts";

const STATISTICS = { mean: 90, harmonicMean: 90, percentile1: 80, min: 70 };
const report = (points: readonly (number | null)[]): QualityReport => ({
  renditions: [
    {
      track: "video",
      size: { width: 1280, height: 720 },
      shown: { width: 1920, height: 1080 },
      model: "vmaf_v0.6.1",
      samples: points.length,
      every: 10,
      vmaf: STATISTICS,
      psnr: STATISTICS,
      ssim: STATISTICS,
      series: { intervalSeconds: 1, vmaf: [...points], psnr: [...points], ssim: [...points] },
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
  expect(series).toMatchObject({ intervalSeconds: 8, vmaf: { length: 225, 0: 80.5 } });
});
