// What clients see of a job's state.

import type { Failure } from "#shared/errors.ts";
import { isTerminalJob } from "#shared/job-status.ts";
import type { JobView, OutputView } from "#shared/job-view.ts";
import { contractDate } from "#shared/job-view.ts";
import type { MediaProbe } from "#shared/media-probe.ts";
import { contractMetadata } from "#shared/metadata.ts";
import type { PayloadMetadata } from "#shared/notification.ts";
import { isTerminalOutput, OUTPUT_STATUS } from "#shared/output-status.ts";
import { publicUrlOf } from "../storage/object-store.ts";
import { shownSourceUrl } from "../storage/source-url.ts";
import { objectOf } from "./job-files.ts";
import { jobFraction, outputFraction } from "./job-progress.ts";
import type { JobState, OutputState } from "./job-state.ts";

export function viewJob(state: JobState): JobView {
  const { spec } = state;
  return {
    id: spec.id,
    created_at: contractDate(spec.createdAt),
    completed_at: state.completedAt === null ? null : contractDate(state.completedAt),
    status: state.status,
    progress: `${jobPercent(state)}%`,
    input: { status: state.input.status, ...failureMembers(state.input.failure) },
    outputs: spec.outputs.map((_, index) => viewOutput(state, index)),
  };
}

/** The whole percentage of a job: never lower than one that was shown, and 100 only at the end. */
export function jobPercent(state: JobState): number {
  if (isTerminalJob(state.status)) return 100;
  return Math.min(99, Math.max(state.shownPercent, Math.floor(jobFraction(state) * 100)));
}

export function viewOutput(state: JobState, index: number): OutputView {
  const spec = state.spec.outputs[index];
  const output = state.outputs[index];
  if (!spec || !output) throw new Error(`No output ${index}`);
  const urls = output.files.map((_, at) => fileUrl(state, index, at + 1));
  const fraction = outputFraction(state, index);
  return {
    key: spec.key,
    type: spec.type,
    format: spec.format,
    status: OUTPUT_STATUS[spec.type][output.phase],
    ...(fraction > 0 && !isTerminalOutput(output.phase) ? { progress: `${Math.floor(fraction * 100)}%` } : {}),
    ...(output.phase === "done" ? (spec.type === "image" ? { urls } : { url: urls[0] ?? "" }) : {}),
    ...(output.phase === "done" ? howMade(output) : {}),
    ...failureMembers(output.failure),
  };
}

const howMade = ({ encoder, note }: OutputState): { encoder?: string; note?: string } => ({
  ...(encoder === undefined ? {} : { encoder }),
  ...(note === undefined ? {} : { note }),
});

const fileUrl = (state: JobState, output: number, ordinal: number): string =>
  publicUrlOf(state.spec, objectOf(state, { output, ordinal }));

const failureMembers = (failure: Failure | null): { error?: string; error_code?: string } =>
  failure ? { error: failure.message, error_code: failure.code } : {};

/** The input's metadata as clients see it, or null while it is unknown. */
export const inputMetadata = (state: JobState): MediaProbe | null =>
  state.input.probe && contractMetadata(state.input.probe, shownSourceUrl(state.spec.input));

/** An output's metadata as clients see it, or null when it has none. */
export function outputMetadata(state: JobState, index: number): MediaProbe | null {
  const output = state.outputs[index];
  if (!output?.probe || output.phase !== "done") return null;
  return contractMetadata(output.probe, fileUrl(state, index, 1));
}

/** The `metadata` member of the metadata answer: what is known so far. */
export function viewMetadata(state: JobState): {
  input: MediaProbe | Record<string, never>;
  outputs: Record<string, MediaProbe>[];
} {
  const outputs = state.spec.outputs.flatMap((spec, index) => {
    const metadata = outputMetadata(state, index);
    return metadata ? [{ [spec.key]: metadata }] : [];
  });
  return { input: inputMetadata(state) ?? {}, outputs };
}

/** The metadata that payloads carry when the client asked for it. */
export function payloadMetadata(state: JobState): PayloadMetadata {
  if (!state.spec.notification.metadata) return null;
  return { input: inputMetadata(state), outputs: state.spec.outputs.map((_, index) => outputMetadata(state, index)) };
}
