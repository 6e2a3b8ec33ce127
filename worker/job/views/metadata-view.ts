// A job's metadata as its clients see it.

import * as z from "zod";
import type { Failure } from "#shared/errors.ts";
import { clipLength } from "#shared/job/clip.ts";
import { contractMetadata, type HttpStreamMetadata, type OutputMetadata, SOURCE_NAMES } from "#shared/job/metadata.ts";
import type { PayloadMetadata } from "#shared/job/notification.ts";
import { playlistsOf } from "#shared/job/output-files.ts";
import type { HttpStreamOutput, OutputSpec } from "#shared/job/output-spec.ts";
import { type QualityMetadata, withoutSeries } from "#shared/job/quality.ts";
import type { TargetMetadata } from "#shared/job/quality-target.ts";
import type { MediaProbe } from "#shared/media/media-probe.ts";
import { sourceFacts } from "#shared/media/source-facts.ts";
import type { StreamProbes } from "#shared/protocol/reports.ts";
import { err, ok, type Result } from "#shared/result.ts";
import type { JobSpec } from "../../rpc/job-spec.ts";
import { publicUrlOf } from "../../storage/open-store.ts";
import { shownSourceUrl } from "../../storage/source-url.ts";
import type { JobState } from "../state/job-state.ts";
import { ultrafastReceipt } from "./chunk-view.ts";
import { fileUrl } from "./job-view.ts";

/** The input's metadata as clients see it, or null while it is unknown. */
export function inputMetadata({ input: { probe }, spec }: JobState): InputMetadata | null {
  if (!probe) return null;
  const clip = spec.outputs[0]?.clip;
  const { durationMs } = sourceFacts(probe);
  const lengthMs = clipLength(clip, durationMs);
  const part = clip && lengthMs !== null && { start: clip.startMs / 1000, end: (clip.startMs + lengthMs) / 1000 };
  return { ...contractMetadata(probe, shownSourceUrl(spec.input)), ...(part ? { clip: part } : {}) };
}

/** `clip`: the part that the job encodes, in seconds of the input. */
type InputMetadata = MediaProbe & { readonly clip?: { readonly start: number; readonly end: number } };

/** An output's metadata as clients see it, or null when it has none. */
export function outputMetadata(state: JobState, index: number): OutputMetadata | null {
  const [spec, output] = [state.spec.outputs[index], state.outputs[index]];
  if (!spec || output?.phase !== "done") return null;
  const metadata =
    spec.type === "httpstream"
      ? streamMetadata(state.spec, spec, output.packages ?? {})
      : output.probe && contractMetadata(output.probe, fileUrl(state, index, 1));
  if (!metadata) return null;
  const { loudness, speech } = output;
  const quality = outputQuality(state, index);
  const measured = { ...(quality ? { quality } : {}), ...(loudness ? { loudness } : {}) };
  return { ...metadata, ...measured, ...(speech ? { speech } : {}) };
}

/** Null if nothing was measured, searched or left out. */
function outputQuality(state: JobState, index: number): QualityMetadata | null {
  const { quality, dropped } = state.outputs[index] ?? {};
  const target = targetsOf(state, index);
  if (!quality && target.length === 0 && !dropped) return null;
  return { ...quality, ...(target.length > 0 ? { target } : {}), ...(dropped ? { dropped } : {}) };
}

/** The metadata of the first package, and of each. Its file name is the URL of the package's first playlist. */
function streamMetadata(job: JobSpec, stream: HttpStreamOutput, packages: StreamProbes): HttpStreamMetadata | null {
  const of = (name: "hls" | "dash"): MediaProbe | null => {
    const [probe, playlist] = [packages[name], playlistsOf(stream).find(({ file }) => file.startsWith(`${name}/`))];
    return probe && playlist ? contractMetadata(probe, publicUrlOf(job, playlist.path)) : null;
  };
  const [hls, dash] = [of("hls"), of("dash")];
  const first = hls ?? dash;
  return first && { ...first, ...(hls ? { hls } : {}), ...(dash ? { dash } : {}) };
}

/** A job's metadata, as far as it is known. */
export const KnownMetadata = z.object({
  input: z.looseObject({}).nullable(),
  outputs: z.array(z.object({ key: z.string(), alias: z.string().exactOptional(), metadata: z.looseObject({}) })),
  /** Receipt of outputs that were made of chunks. */
  ultrafast: z.looseObject({}).exactOptional(),
});
export type KnownMetadata = z.infer<typeof KnownMetadata>;

/** `generatedKeys`: keys that the service created for encrypted streams, by output. Key servers need them. */
export function knownMetadata(state: JobState, generatedKeys: ReadonlyMap<number, string> = new Map()): KnownMetadata {
  const outputs = state.spec.outputs.flatMap((spec, index) => {
    const { key, alias } = spec;
    const metadata = outputMetadata(state, index);
    if (!metadata) return [];
    return [{ key, ...(alias ? { alias } : {}), metadata: withKey(metadata, spec, generatedKeys.get(index)) }];
  });
  const ultrafast = ultrafastReceipt(state);
  return { input: inputMetadata(state), outputs, ...(ultrafast ? { ultrafast } : {}) };
}

/** Body of the metadata response, in JSON. Without a key: all known metadata. With a key: the input or an output. */
export function metadataBody(id: string, known: KnownMetadata, key: string | null): Result<string> {
  const bodyOf = (metadata: object): Result<string> => ok(JSON.stringify({ job_id: id, metadata }));
  if (key === null) {
    const { input, outputs, ...rest } = known;
    return bodyOf({
      input: input ?? {},
      outputs: outputs.map((output) => ({ [output.key]: output.metadata })),
      ...rest,
    });
  }
  const output = known.outputs.find((output) => output.key === key || output.alias === key);
  const document = SOURCE_NAMES.has(key) ? known.input : output?.metadata;
  return document ? bodyOf({ [key]: document }) : err(noMetadataOf(key));
}

const noMetadataOf = (key: string): Failure => ({
  code: "metadata_not_found",
  message: `The job has no metadata for \`${key}\`: no such key, not finished yet, or of a type without metadata`,
});

/** A stream's metadata with the generated key of its encrypted package, if it has one. */
function withKey(metadata: OutputMetadata, spec: OutputSpec, key: string | undefined): OutputMetadata {
  if (!("hls" in metadata) || !metadata.hls || spec.type !== "httpstream" || !spec.encryption || !key) return metadata;
  const encryption = { method: "AES-128", key, key_uri: spec.encryption.keyUri } as const;
  return { ...metadata, hls: { ...metadata.hls, encryption } };
}

/** The metadata of an output in payloads: without long lists, and null for images. */
export function payloadOutputMetadata(state: JobState, index: number): OutputMetadata | null {
  if (state.spec.outputs[index]?.type === "image") return null;
  const metadata = outputMetadata(state, index);
  return metadata?.quality ? { ...metadata, quality: withoutSeries(metadata.quality) } : metadata;
}

/** The metadata in payloads, if the client requested it. */
export function payloadMetadata(state: JobState): PayloadMetadata {
  if (!state.spec.notification.metadata) return null;
  return {
    input: inputMetadata(state),
    outputs: state.spec.outputs.map((_, index) => payloadOutputMetadata(state, index)),
  };
}

/** Searches for each video of an output, or for each of its chunks; empty if no VMAF was requested. */
function targetsOf({ outputs, chunks, chunkResults, ultrafast }: JobState, index: number): TargetMetadata[] {
  const whole = outputs[index]?.targets;
  if (whole) return whole;
  if (!chunks?.outputs.includes(index) || ultrafast?.reason !== null) return [];
  return Object.entries(chunkResults).flatMap(([chunk, { targets = [] }]) =>
    targets.flatMap(({ output, target }) => (output === index ? { ...target, chunk: Number(chunk) } : [])),
  );
}
