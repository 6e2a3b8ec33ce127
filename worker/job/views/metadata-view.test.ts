import { expect, it } from "vitest";
import { OutputMetadata } from "#shared/job/metadata.ts";
import type { QualityReport } from "#shared/job/quality.ts";
import { TaskResult } from "#shared/protocol/reports.ts";
import { encoding, madeImages, madeVideo, NOW, recordUploads, UPLOADS, useSpec } from "../../testing/job-steps.ts";
import { completeTask } from "../decide/reports.ts";
import { JobState } from "../state/job-state.ts";
import { outputMetadata, payloadOutputMetadata } from "./metadata-view.ts";

useSpec();

const STATISTICS = { mean: 93, harmonic_mean: 92.9, percentile_1: 88, min: 85 };
const SSIM = { mean: 0.98, harmonic_mean: 0.98, percentile_1: 0.97, min: 0.96 };

const RENDITION = {
  track: "video",
  width: 1280,
  height: 720,
  shown_width: 1920,
  shown_height: 1080,
  model: "vmaf_v0.6.1",
  frames: 8,
  every: 7,
  vmaf: STATISTICS,
  psnr: STATISTICS,
  ssim: SSIM,
};
const SERIES = { interval_seconds: 1, vmaf: [93.4, null], psnr: [41.3, null], ssim: [0.98, null] };
const REPORT: QualityReport = { renditions: [{ ...RENDITION, series: SERIES }], error: "The frames cannot be paired" };

it("shows the measured quality of an output, but without its series in notifications", () => {
  const result = { kind: "encode", outputs: [{ ...madeVideo, quality: REPORT }, madeImages] };
  const uploaded = recordUploads(encoding(), "encode", UPLOADS);
  const state = JobState.parse(completeTask(uploaded, "encode", TaskResult.parse(result), NOW));
  const metadata = outputMetadata(state, 0);
  expect(metadata?.quality).toEqual(REPORT);
  expect(OutputMetadata.parse(metadata)).toEqual(metadata);
  expect(payloadOutputMetadata(state, 0)?.quality).toEqual({ ...REPORT, renditions: [RENDITION] });
});
