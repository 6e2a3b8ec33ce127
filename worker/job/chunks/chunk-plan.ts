// Decides, after the inspection of the source, which outputs are made of chunks and where the source is split.

import { clipLength } from "#shared/job/clip.ts";
import { hasTracks, type OutputSpec } from "#shared/job/output-spec.ts";
import { readsTexts } from "#shared/job/subtitles.ts";
import { chosenVideo } from "#shared/media/choose-streams.ts";
import { type PossibleSplitPoint, packSplitPoints, unpackSplitPoints } from "#shared/media/frame-index.ts";
import { sourceFacts } from "#shared/media/source-facts.ts";
import { chooseSplitPoints } from "#shared/plan/chunks/choose-split-points.ts";
import { chunkGridMs } from "#shared/plan/chunks/chunkable-source.ts";
import { ALL_SOFTWARE } from "#shared/plan/encoders/software-encoders.ts";
import { unchunkableReason } from "#shared/plan/tasks/chunkable.ts";
import { planAudio } from "#shared/plan/tasks/plan-audio.ts";
import { type ChunkedVideo, type Chunking, MIN_CHUNKED_MS } from "#shared/protocol/chunks.ts";
import type { JobSpec } from "../../rpc/job-spec.ts";
import type { ChunkResults, ChunkWork } from "../state/chunk-state.ts";
import type { JobState } from "../state/job-state.ts";
import type { TaskState } from "../state/task-state.ts";
import { attemptFolder } from "./chunk-work.ts";

export type ChunkPlan =
  | { readonly ok: true; readonly work: ChunkWork; readonly results: ChunkResults }
  | { readonly ok: false; readonly reason: string };

export type Inspected = {
  /** The task that inspected the source. */
  readonly task: TaskState;
  /** The node's report about chunks; undefined if it reported nothing. */
  readonly chunking: Chunking | undefined;
  /** Encodes that all connected nodes can do at the same time. */
  readonly slots: number;
};

/** True if a job's request allows chunks, so that the node looks for split points while it inspects the source. */
export const mayBeChunked = ({ settings, outputs }: Pick<JobSpec, "settings" | "outputs">): boolean =>
  settings.ultrafast && outputs.some(hasTracks);

/** Plans the chunks of a job whose source has a probe, for the wanted outputs that can be made of chunks. */
export function planChunks(state: JobState, wanted: readonly number[], inspected: Inspected): ChunkPlan {
  const specs = state.spec.outputs.filter(({ index }) => wanted.includes(index));
  const { outputs, why } = chunkedOutputs(specs, state);
  const segmentMs = chunkGridMs(outputs);
  if (outputs.length === 0 || segmentMs === null) return no(why);
  if (!state.scratch.isUsed) return no("the service has no scratch storage: its operator must configure one");
  const { chunking, task, slots } = inspected;
  if (!chunking) return no("the encoder node that inspected the input does not support chunks");
  if (!chunking.ok) return { ok: false, reason: chunking.reason };
  const { source, splitPoints: packed, ok: _, ...video } = chunking;
  if (source.from === "scratch" && source.pieces.some(({ name }) => !name.startsWith(attemptFolder(task)))) {
    return no("the encoder node that inspected the input stored its copy in a folder that is not its own");
  }
  if (!isAsLongAsProbed(state, video)) return no("the duration of its frames differs from that of the input");
  const splitPoints = unpackSplitPoints(packed);
  const fresh = {
    isActive: true,
    mayJoinEarly: true,
    folder: state.scratch.folder,
    source,
    video,
    outputs: outputs.map(({ index }) => index),
    audioOutputs: outputs.filter((spec) => needsAudioTask(spec, state)).map(({ index }) => index),
    textOutputs: outputs.filter((spec) => hasTracks(spec) && readsTexts(spec)).map(({ index }) => index),
    // Encoded and read again, because nothing shows that they have not changed.
    audio: null,
    texts: null,
  };
  const earlier = reusableWork(state, fresh, splitPoints);
  if (earlier) {
    const work = { ...earlier, ...fresh, boundaries: null };
    return { ok: true, work, results: state.chunkResults };
  }
  const audioMs = fresh.audioOutputs.length > 0 ? audioCostMs(state) : 0;
  const chosen = chooseSplitPoints(
    { ...video, splitPoints },
    {
      segmentMs,
      slots,
      audioMs,
      isPlayedEarly: outputs.some((spec) => spec.type === "httpstream" && spec.livePlaylist),
    },
  );
  if (!chosen.ok) return no(chosen.error);
  return {
    ok: true,
    work: {
      ...fresh,
      splitPoints: packSplitPoints(chosen.value.flatMap(({ to }) => to ?? [])),
      encoder: null,
      layout: [],
      retries: 0,
      boundaries: null,
    },
    results: {},
  };
}

/** Maximum difference between the duration of the frames and the duration in the probe, as a share. */
const LENGTH_TOLERANCE = 0.1;

/** True if the frames and the probe agree. Both come from the node that inspected the source. */
function isAsLongAsProbed({ input: { probe }, spec }: JobState, { startUs, endUs }: ChunkedVideo): boolean {
  const ofFormat = (probe && sourceFacts(probe).durationMs) ?? 0;
  const ofStream = 1000 * Number(chosenVideo(probe?.streams ?? [])?.duration ?? Number.NaN);
  const lengthMs = (endUs - startUs) / 1000;
  const lengths = [ofFormat, ofStream].map((ms) => clipLength(spec.outputs[0]?.clip, ms) ?? 0);
  return lengths.some((ms) => Math.abs(lengthMs - ms) <= LENGTH_TOLERANCE * ms);
}

const no = (why: string): ChunkPlan => ({ ok: false, reason: `It is not encoded in chunks because ${why}.` });

/** The cost of encoding audio, relative to encoding video of a million pixels a second (docs/ultrafast.md). */
const AUDIO_COST = 0.2;

/** The cost of encoding the audio, as the duration of the source's video that costs as much. */
function audioCostMs({ input: { probe }, spec }: JobState): number {
  const { video, durationMs } = sourceFacts(probe ?? { streams: [], format: {} });
  const lengthMs = clipLength(spec.outputs[0]?.clip, durationMs) ?? 0;
  const megapixels = video ? (video.codedWidth * video.codedHeight * (video.fps ?? 25)) / 1e6 : 1;
  return (lengthMs * AUDIO_COST) / megapixels;
}

/** The outputs that can be made of chunks of the same lengths, and the reason why the first other output cannot. */
function chunkedOutputs(specs: readonly OutputSpec[], { input }: JobState): { outputs: OutputSpec[]; why: string } {
  const probe = input.probe ?? { streams: [], format: {} };
  const durationMs = clipLength(specs[0]?.clip, sourceFacts(probe).durationMs) ?? 0;
  if (durationMs <= MIN_CHUNKED_MS) return { outputs: [], why: "the input is not longer than a minute" };
  const outputs: OutputSpec[] = [];
  let why = "";
  for (const spec of specs) {
    const whyNot = unchunkableReason(spec, probe, ALL_SOFTWARE);
    if (whyNot === null && chunkGridMs([...outputs, spec]) !== null) outputs.push(spec);
    else why ||= whyNot ?? "";
  }
  return { outputs, why };
}

/** True if the task `audio` makes something for an output: audio, the file's tags, a stream's thumbnails. */
const needsAudioTask = (spec: OutputSpec, { input: { probe } }: JobState): boolean =>
  probe !== null && planAudio({ source: "", probe, outputs: [spec], capabilities: ALL_SOFTWARE }).command !== null;

/**
 * The chunks of an earlier round, if they still exist, are of the same outputs (nodes report the encoders that made
 * them), and the source is the same. The source is nearly certainly the same if it has the same size, all split points
 * have the same timestamps, and as many bytes of video are before each of them.
 */
function reusableWork(
  state: JobState,
  { folder, source, video, outputs }: Pick<ChunkWork, "folder" | "source" | "video" | "outputs">,
  splitPoints: readonly PossibleSplitPoint[],
): ChunkWork | null {
  const { chunks } = state;
  if (!chunks || chunks.folder !== folder || !isSameVideo(chunks.video, video)) return null;
  const known = new Set(splitPoints.map(keyOf));
  const isSame = unpackSplitPoints(chunks.splitPoints).every((point) => known.has(keyOf(point)));
  const areSame = outputs.length === chunks.outputs.length && outputs.every((index) => chunks.outputs.includes(index));
  return isSame && areSame && sizeOf(source) === sizeOf(chunks.source) ? chunks : null;
}

/** Text with all values of a split point. */
const keyOf = (point: PossibleSplitPoint): string => packSplitPoints([point]).flat().join(" ");

const sizeOf = (source: ChunkWork["source"]): number =>
  source.from === "origin" ? source.sizeBytes : source.pieces.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);

const isSameVideo = (one: ChunkedVideo, other: ChunkedVideo): boolean =>
  Object.entries(one).every(([name, value]) => other[name as keyof ChunkedVideo] === value);
