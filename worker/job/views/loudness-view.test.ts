import { expect, it } from "vitest";
import type { LoudnessMetadata } from "#shared/job/loudness.ts";
import { OutputMetadata } from "#shared/job/metadata.ts";
import { TaskResult } from "#shared/protocol/reports.ts";
import { claim, good, inspected, NOW, run, useChunkedSpec } from "../../testing/chunked-jobs.ts";
import { encoding, madeImages, madeVideo, recordUploads, UPLOADS, useSpec } from "../../testing/job-steps.ts";
import { completeTask } from "../decide/reports.ts";
import { JobState } from "../state/job-state.ts";
import { outputMetadata } from "./metadata-view.ts";

useSpec();
useChunkedSpec();

const REPORT: LoudnessMetadata = {
  layout: "stereo",
  input: { integrated: -23.4, range: 12.1, true_peak: -3.2 },
  gain_db: 7.4,
  limited_seconds: 1.2,
  output: { integrated: -16.02, true_peak: -1.1 },
};

it("shows the loudness of an output in its metadata", () => {
  const result = { kind: "encode", outputs: [{ ...madeVideo, loudness: [REPORT] }, madeImages] };
  const uploaded = recordUploads(encoding(), "encode", UPLOADS);
  const state = JobState.parse(completeTask(uploaded, "encode", TaskResult.parse(result), NOW));
  const metadata = outputMetadata(state, 0);
  expect(metadata).toMatchObject({ loudness: [REPORT] });
  expect(OutputMetadata.parse(metadata)).toEqual(metadata);
});

it("shows the captions from speech of an output in its metadata", () => {
  const speech = [{ model: "ggml-base.bin", language: "en", seconds: 41.2, words: 512 }];
  const result = { kind: "encode", outputs: [{ ...madeVideo, speech }, madeImages] };
  const uploaded = recordUploads(encoding(), "encode", UPLOADS);
  const state = JobState.parse(completeTask(uploaded, "encode", TaskResult.parse(result), NOW));
  const metadata = outputMetadata(state, 0);
  expect(metadata?.speech).toEqual(speech);
  expect(OutputMetadata.parse(metadata)).toEqual(metadata);
});

it("keeps the loudness that the task `audio` of a chunked job reports", () => {
  const { state, given, id } = claim(run(inspected(), (kind) => kind === "audio"));
  const result = { ...good(given), loudness: [{ output: 0, mixes: [REPORT] }] };
  const after = JobState.parse(completeTask(state, id, TaskResult.parse(result), NOW));
  expect(after.outputs[0]?.loudness).toEqual([REPORT]);
});
