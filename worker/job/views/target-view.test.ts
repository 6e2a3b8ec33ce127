import { expect, it } from "vitest";
import { OutputMetadata } from "#shared/job/metadata.ts";
import type { TargetMetadata } from "#shared/job/quality-target.ts";
import { TaskResult } from "#shared/protocol/reports.ts";
import { claim, good, inspected, NOW, run, step, useChunkedSpec } from "../../testing/chunked-jobs.ts";
import { encoding, madeImages, madeVideo, recordUploads, UPLOADS, useSpec } from "../../testing/job-steps.ts";
import { completeTask } from "../decide/reports.ts";
import { JobState } from "../state/job-state.ts";
import { outputMetadata, payloadOutputMetadata } from "./metadata-view.ts";

useSpec();
useChunkedSpec();

const REPORT: TargetMetadata = {
  vmaf: 93,
  size: "1280x720",
  rate_factor: 25.5,
  ended: "met",
  samples: { number: 3, seconds: 3, frames: 29, mean: 93.6, harmonic_mean: 93.55, percentile_1: 90.4, kbps: 1240 },
  tried: [{ rate_factor: 25.5, score: 93.4, kbps: 1240 }],
};

it("shows the search for the rate factor of an output", () => {
  const result = { kind: "encode", outputs: [{ ...madeVideo, targets: [REPORT] }, madeImages] };
  const uploaded = recordUploads(encoding(), "encode", UPLOADS);
  const state = JobState.parse(completeTask(uploaded, "encode", TaskResult.parse(result), NOW));
  const metadata = outputMetadata(state, 0);
  expect(metadata).toMatchObject({ quality: { target: [REPORT] } });
  expect(OutputMetadata.parse(metadata)).toEqual(metadata);
});

it("shows the searches of chunks, but not in notifications", () => {
  let state = run(inspected(), (kind) => kind === "chunk");
  const { state: claimed, given, id } = claim(state);
  const result = { ...good(given), targets: [{ output: 0, target: { ...REPORT, tried: [] } }] };
  state = run(completeTask(claimed, id, TaskResult.parse(result), NOW), (kind) => kind === "join");
  state = JobState.parse(step(state));
  expect(outputMetadata(state, 0)).toMatchObject({ quality: { target: [{ ...REPORT, chunk: 0, tried: [] }] } });
  expect(payloadOutputMetadata(state, 0)?.quality).toEqual({ target: [] });
});
