import { expect, it } from "vitest";
import { OutputMetadata } from "#shared/job/metadata.ts";
import type { QualityReport } from "#shared/protocol/quality.ts";
import { TaskResult } from "#shared/protocol/reports.ts";
import { encoding, madeImages, madeVideo, NOW, recordUploads, UPLOADS, useSpec } from "../../testing/job-steps.ts";
import { completeTask } from "../decide/reports.ts";
import { JobState } from "../state/job-state.ts";
import { outputMetadata, payloadOutputMetadata } from "./metadata-view.ts";

useSpec();

const STATISTICS = { mean: 93, harmonicMean: 92.9, percentile1: 88, min: 85 };
const SHOWN = { mean: 93, harmonic_mean: 92.9, percentile_1: 88, min: 85 };
const SSIM = { mean: 0.98, harmonicMean: 0.98, percentile1: 0.97, min: 0.96 };

const REPORT: QualityReport = {
  renditions: [
    {
      track: "video",
      size: { width: 1280, height: 720 },
      shown: { width: 1920, height: 1080 },
      model: "vmaf_v0.6.1",
      samples: 8,
      every: 7,
      vmaf: STATISTICS,
      psnr: STATISTICS,
      ssim: SSIM,
      series: { intervalSeconds: 1, vmaf: [93.4, null], psnr: [41.3, null], ssim: [0.98, null] },
    },
  ],
  failure: "The frames cannot be paired",
};

it("shows the measured quality of an output, but without its series in notifications", () => {
  const result = { kind: "encode", outputs: [{ ...madeVideo, quality: REPORT }, madeImages] };
  const uploaded = recordUploads(encoding(), "encode", UPLOADS);
  const state = JobState.parse(completeTask(uploaded, "encode", TaskResult.parse(result), NOW));
  const metadata = outputMetadata(state, 0);
  const rendition = {
    track: "video",
    width: 1280,
    height: 720,
    shown_width: 1920,
    shown_height: 1080,
    model: "vmaf_v0.6.1",
    frames: 8,
    every: 7,
    vmaf: SHOWN,
    psnr: SHOWN,
    ssim: { mean: 0.98, harmonic_mean: 0.98, percentile_1: 0.97, min: 0.96 },
  };
  const series = { interval_seconds: 1, vmaf: [93.4, null], psnr: [41.3, null], ssim: [0.98, null] };
  const error = "The frames cannot be paired";
  expect(metadata?.quality).toEqual({ renditions: [{ ...rendition, series }], error });
  expect(OutputMetadata.parse(metadata)).toEqual(metadata);
  expect(payloadOutputMetadata(state, 0)?.quality).toEqual({ renditions: [rendition], error });
});
