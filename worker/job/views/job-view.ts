// What clients see of a job's state.

import { assertNever, type Failure } from "#shared/errors.ts";
import { isTerminalJob } from "#shared/job/job-status.ts";
import type { JobView, OutputView } from "#shared/job/job-view.ts";
import { contractDate } from "#shared/job/job-view.ts";
import {
  contractMetadata,
  type HttpStreamMetadata,
  type OutputMetadata,
  type UltrafastReceipt,
} from "#shared/job/metadata.ts";
import type { PayloadMetadata } from "#shared/job/notification.ts";
import { playlistsOf } from "#shared/job/output-files.ts";
import type { HttpStreamOutput, OutputSpec } from "#shared/job/output-spec.ts";
import { isTerminalOutput, OUTPUT_STATUS } from "#shared/job/output-status.ts";
import type { MediaProbe } from "#shared/media/media-probe.ts";
import type { FileName, StreamProbes } from "#shared/protocol/protocol.ts";
import { publicUrlOf } from "../../storage/object-store.ts";
import { shownSourceUrl } from "../../storage/source-url.ts";
import { jobFraction, outputFraction } from "../state/job-progress.ts";
import type { JobSpec, JobState, OutputState } from "../state/job-state.ts";
import { objectOf } from "../uploads/job-files.ts";
import { ultrafastReceipt, viewUltrafast } from "./chunk-view.ts";

export function viewJob(state: JobState): JobView {
  const { spec } = state;
  const ultrafast = viewUltrafast(state);
  return {
    id: spec.id,
    created_at: contractDate(spec.createdAt),
    completed_at: state.completedAt === null ? null : contractDate(state.completedAt),
    status: state.status,
    progress: `${jobPercent(state)}%`,
    input: { status: state.input.status, ...failureMembers(state.input.failure) },
    outputs: spec.outputs.map((_, index) => viewOutput(state, index)),
    ...(ultrafast ? { ultrafast } : {}),
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
  const fraction = outputFraction(state, index);
  return {
    key: spec.key,
    type: spec.type,
    format: spec.format,
    ...(output.phase === "done" ? addressesOf(state, index) : {}),
    ...failureMembers(output.failure),
    status: OUTPUT_STATUS[spec.type][output.phase],
    ...(fraction > 0 && !isTerminalOutput(output.phase) ? { progress: `${Math.floor(fraction * 100)}%` } : {}),
    ...(output.phase === "done" ? howMade(output) : {}),
  };
}

const howMade = ({ encoder, note }: OutputState): { encoder?: string; note?: string } => ({
  ...(encoder === undefined ? {} : { encoder }),
  ...(note === undefined ? {} : { note }),
});

const fileUrl = (state: JobState, output: number, file: FileName): string =>
  publicUrlOf(state.spec, objectOf(state, { output, file }));

/** Where the files of a finished output lie. */
function addressesOf(state: JobState, index: number): Pick<OutputView, "url" | "urls"> {
  const [spec, output] = [state.spec.outputs[index], state.outputs[index]];
  if (!spec || !output) throw new Error(`No output ${index}`);
  switch (spec.type) {
    case "video":
      return { url: fileUrl(state, index, 1) };
    case "image":
      return { urls: output.files.map((_, at) => fileUrl(state, index, at + 1)) };
    case "httpstream":
      return { urls: playlistsOf(spec).map(({ format, file }) => ({ format, url: fileUrl(state, index, file) })) };
    default:
      return assertNever(spec);
  }
}

const failureMembers = (failure: Failure | null): { error?: string; error_code?: string } =>
  failure ? { error: failure.message, error_code: failure.code } : {};

/** The input's metadata as clients see it, or null while it is unknown. */
export const inputMetadata = (state: JobState): MediaProbe | null =>
  state.input.probe && contractMetadata(state.input.probe, shownSourceUrl(state.spec.input));

/** An output's metadata as clients see it, or null when it has none. */
export function outputMetadata(state: JobState, index: number): OutputMetadata | null {
  const [spec, output] = [state.spec.outputs[index], state.outputs[index]];
  if (!spec || output?.phase !== "done") return null;
  if (spec.type === "httpstream") return streamMetadata(state.spec, spec, output.packages ?? {});
  return output.probe && contractMetadata(output.probe, fileUrl(state, index, 1));
}

/** Of each package that something is known of; its file name is the address of the first of its playlists. */
function streamMetadata(job: JobSpec, stream: HttpStreamOutput, packages: StreamProbes): HttpStreamMetadata | null {
  const of = (name: "hls" | "dash"): MediaProbe | null => {
    const [probe, playlist] = [packages[name], playlistsOf(stream).find(({ file }) => file.startsWith(`${name}/`))];
    return probe && playlist ? contractMetadata(probe, publicUrlOf(job, playlist.path)) : null;
  };
  const [hls, dash] = [of("hls"), of("dash")];
  return hls || dash ? { ...(hls ? { hls } : {}), ...(dash ? { dash } : {}) } : null;
}

/**
 * The `metadata` member of the metadata answer: what is known so far, how the film was made of chunks, and the keys that the service made for encrypted
 * streams (by the index of their output), which players' key servers must learn from somewhere.
 */
export function viewMetadata(
  state: JobState,
  madeKeys: ReadonlyMap<number, string>,
): {
  input: MediaProbe | Record<string, never>;
  outputs: Record<string, OutputMetadata>[];
  ultrafast?: UltrafastReceipt;
} {
  const ultrafast = ultrafastReceipt(state);
  const outputs = state.spec.outputs.flatMap((spec, index) => {
    const metadata = outputMetadata(state, index);
    return metadata ? [{ [spec.key]: withKey(metadata, spec, madeKeys.get(index)) }] : [];
  });
  return { input: inputMetadata(state) ?? {}, outputs, ...(ultrafast ? { ultrafast } : {}) };
}

/** A stream's metadata with the key of its encrypted package, if there is one to tell. */
function withKey(metadata: OutputMetadata, spec: OutputSpec, key: string | undefined): OutputMetadata {
  if (!("hls" in metadata) || !metadata.hls || spec.type !== "httpstream" || !spec.encryption || !key) return metadata;
  const encryption = { method: "AES-128", key, key_uri: spec.encryption.keyUri } as const;
  return { ...metadata, hls: { ...metadata.hls, encryption } };
}

/** The metadata that payloads carry when the client asked for it. */
export function payloadMetadata(state: JobState): PayloadMetadata {
  if (!state.spec.notification.metadata) return null;
  return { input: inputMetadata(state), outputs: state.spec.outputs.map((_, index) => outputMetadata(state, index)) };
}
