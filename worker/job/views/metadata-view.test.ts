import { expect, it } from "vitest";
import type { Clip } from "#shared/job/clip.ts";
import { OutputMetadata } from "#shared/job/metadata.ts";
import type { QualityReport } from "#shared/job/quality.ts";
import { TaskResult } from "#shared/protocol/reports.ts";
import {
  claim,
  encoding,
  madeImages,
  madeVideo,
  NOW,
  recordUploads,
  spec,
  UPLOADS,
  useSpec,
} from "../../testing/job-steps.ts";
import { checkedJob, PROBE } from "../../testing/jobs.ts";
import { completeTask } from "../decide/reports.ts";
import { JobState } from "../state/job-state.ts";
import { viewJob } from "./job-view.ts";
import { inputMetadata, outputMetadata, payloadOutputMetadata } from "./metadata-view.ts";

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

const clipped = (clip: Clip) => ({ ...spec, outputs: spec.outputs.map((output) => ({ ...output, clip })) });

it("shows the clip beside the metadata of the whole input", () => {
  const whole = inputMetadata(encoding());
  expect(inputMetadata(encoding(clipped({ startMs: 1500, endMs: 99_000_000 })))).toEqual({
    ...whole,
    clip: { start: 1.5, end: Number(whole?.format.duration) },
  });
});

it("fails an input that ends before its clip", () => {
  const inspecting = claim(
    checkedJob(clipped({ startMs: 99_000_000, endMs: null })),
    "t1",
    NOW,
    "node-a",
    "inspect",
  ).state;
  const state = completeTask(inspecting, "inspect", { kind: "inspect", probe: PROBE }, NOW);
  expect(viewJob(state)).toMatchObject({
    status: "job.failed",
    input: { status: "input.failed", error_code: "input_clip_beyond_end" },
  });
});

it("shows the measured quality of an output, but without its series in notifications", () => {
  const result = { kind: "encode", outputs: [{ ...madeVideo, quality: REPORT }, madeImages] };
  const uploaded = recordUploads(encoding(), "encode", UPLOADS);
  const state = JobState.parse(completeTask(uploaded, "encode", TaskResult.parse(result), NOW));
  const metadata = outputMetadata(state, 0);
  expect(metadata?.quality).toEqual(REPORT);
  expect(OutputMetadata.parse(metadata)).toEqual(metadata);
  expect(payloadOutputMetadata(state, 0)?.quality).toEqual({ ...REPORT, renditions: [RENDITION] });
});
