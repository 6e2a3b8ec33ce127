// Whether a film is made of chunks, of which outputs, and cut where: decided once its source was inspected.

import type { OutputSpec } from "#shared/job/output-spec.ts";
import { chosenVideo } from "#shared/media/choose-streams.ts";
import { type PossibleCut, packCuts, unpackCuts } from "#shared/media/frame-index.ts";
import { sourceFacts } from "#shared/media/media-probe.ts";
import { chooseCuts } from "#shared/plan/chunks/choose-split-points.ts";
import { chunkGridMs, whyNotChunked } from "#shared/plan/chunks/chunkable.ts";
import { ALL_SOFTWARE } from "#shared/plan/command/capabilities.ts";
import { planSound } from "#shared/plan/plan-audio.ts";
import { chooseTracks } from "#shared/plan/source/source-tracks.ts";
import { type ChunkedFilm, type Chunking, MIN_CHUNKED_MS } from "#shared/protocol/chunking.ts";
import type { ChunkResults, ChunkWork } from "../state/chunk-state.ts";
import type { JobSpec, JobState, TaskState } from "../state/job-state.ts";
import { grantFolder } from "./chunk-work.ts";

export type ChunkPlan =
  | { readonly ok: true; readonly work: ChunkWork; readonly results: ChunkResults }
  | { readonly ok: false; readonly reason: string };

export type Inspected = {
  /** The task that inspected the source. */
  readonly task: TaskState;
  /** What its node says; undefined when it says nothing of chunks. */
  readonly chunking: Chunking | undefined;
  /** Encodes that all connected nodes can do at the same time. */
  readonly slots: number;
};

/** Whether a source is worth to be looked at for chunks, as far as its job's request tells. */
export const mayBeChunked = ({ settings, outputs }: Pick<JobSpec, "settings" | "outputs">): boolean =>
  settings.ultrafast && outputs.some(({ type }) => type !== "image");

/** Plans the chunks of a job whose source's probe is known, for those of the wanted outputs that can be made of them. */
export function planChunks(state: JobState, wanted: readonly number[], inspected: Inspected): ChunkPlan {
  const specs = state.spec.outputs.filter(({ index }) => wanted.includes(index));
  const { outputs, why } = chunkedOutputs(specs, state);
  const segmentMs = chunkGridMs(outputs);
  if (outputs.length === 0 || segmentMs === null) return no(why);
  if (!state.scratch.isUsed) return no("the service has no scratch storage, which its operator sets up");
  const { chunking, task, slots } = inspected;
  if (!chunking) return no("the encoder node that inspected the input does not know how to cut it");
  if (!chunking.ok) return { ok: false, reason: chunking.why };
  const { source, cuts: packed, ok: _, ...film } = chunking;
  if (source.from === "scratch" && source.pieces.some(({ name }) => !name.startsWith(grantFolder(task)))) {
    return no("the encoder node that inspected the input did not say where its copy is");
  }
  if (!isAsLongAsProbed(state, film)) return no("its frames do not last as long as the input");
  const cuts = unpackCuts(packed);
  const fresh = {
    ...{ isActive: true, folder: state.scratch.folder, source, film },
    outputs: outputs.map(({ index }) => index),
    sounding: outputs.filter((spec) => hasMoreThanPictures(spec, state)).map(({ index }) => index),
  };
  const earlier = reusable(state, fresh, cuts);
  // Sound is made again: that it is still the same nobody has looked at.
  const again = { sound: null, seams: null };
  if (earlier) return { ok: true, work: { ...earlier, ...fresh, ...again }, results: state.chunkResults };
  const soundMs = fresh.sounding.length > 0 ? soundCostMs(state) : 0;
  const chosen = chooseCuts({ ...film, cuts }, { segmentMs, slots, soundMs });
  if (!chosen.ok) return no(chosen.why);
  const unbegun = { encoder: null, layout: [], sound: null, retries: 0, seams: null };
  return {
    ok: true,
    work: { ...fresh, cuts: packCuts(chosen.chunks.flatMap(({ to }) => to ?? [])), ...unbegun },
    results: {},
  };
}

/** How far the length of a video by its frames may be from what its probe says. */
const LENGTH_TOLERANCE = 0.1;

/** Both are said by the node that inspected the source: what disagrees is not built upon. */
function isAsLongAsProbed({ input: { probe } }: JobState, { startUs, endUs }: ChunkedFilm): boolean {
  const ofFormat = (probe && sourceFacts(probe).durationMs) ?? 0;
  const ofStream = 1000 * Number(chosenVideo(probe?.streams ?? [])?.duration ?? Number.NaN);
  const lengthMs = (endUs - startUs) / 1000;
  return [ofFormat, ofStream].some((ms) => Math.abs(lengthMs - ms) <= LENGTH_TOLERANCE * ms);
}

const no = (why: string): ChunkPlan => ({ ok: false, reason: `It is not encoded in chunks because ${why}.` });

/** What encoding sound costs, as a part of what encoding a picture of a million pixels a second costs (docs/ultrafast.md). */
const SOUND_COST = 0.2;

/** What encoding the sound costs, as the length of film whose pictures cost as much. */
function soundCostMs({ input: { probe } }: JobState): number {
  const { video, durationMs } = sourceFacts(probe ?? { streams: [], format: {} });
  const megapixels = video ? (video.codedWidth * video.codedHeight * (video.fps ?? 25)) / 1e6 : 1;
  return ((durationMs ?? 0) * SOUND_COST) / megapixels;
}

/** The outputs that can be made of chunks of the same lengths; and why the first of the others cannot. */
function chunkedOutputs(specs: readonly OutputSpec[], { input }: JobState): { outputs: OutputSpec[]; why: string } {
  const probe = input.probe ?? { streams: [], format: {} };
  const durationMs = sourceFacts(probe).durationMs ?? 0;
  if (durationMs <= MIN_CHUNKED_MS) return { outputs: [], why: "the input is not longer than a minute" };
  const outputs: OutputSpec[] = [];
  let why = "";
  for (const spec of specs) {
    const whyNot = whyNotChunked(spec, chooseTracks(probe), ALL_SOFTWARE);
    if (whyNot === null && chunkGridMs([...outputs, spec]) !== null) outputs.push(spec);
    else why ||= whyNot ?? "";
  }
  return { outputs, why };
}

/** Whether the task `sound` makes something for an output: sound, the file's tags, a stream's thumbnails. */
const hasMoreThanPictures = (spec: OutputSpec, { input: { probe } }: JobState): boolean =>
  probe !== null && planSound({ source: "", probe, outputs: [spec], can: ALL_SOFTWARE }).command !== null;

/**
 * The chunks of an earlier round, if they are still there, are of the same outputs (nodes say by which encoders they made
 * all of them), and the source is the same: as good as proven when it is as large, all cuts are at the same times, and
 * as many bytes of the picture lie before each.
 */
function reusable(
  state: JobState,
  { folder, source, film, outputs }: Pick<ChunkWork, "folder" | "source" | "film" | "outputs">,
  cuts: readonly PossibleCut[],
): ChunkWork | null {
  const { chunks } = state;
  if (!chunks || chunks.folder !== folder || !isSameFilm(chunks.film, film)) return null;
  const known = new Set(cuts.map((cut) => JSON.stringify(packCuts([cut]))));
  const isSame = unpackCuts(chunks.cuts).every((cut) => known.has(JSON.stringify(packCuts([cut]))));
  const areSame = outputs.length === chunks.outputs.length && outputs.every((index) => chunks.outputs.includes(index));
  return isSame && areSame && sizeOf(source) === sizeOf(chunks.source) ? chunks : null;
}

const sizeOf = (source: ChunkWork["source"]): number =>
  source.from === "origin" ? source.sizeBytes : source.pieces.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);

const isSameFilm = (one: ChunkedFilm, other: ChunkedFilm): boolean =>
  Object.entries(one).every(([name, value]) => other[name as keyof ChunkedFilm] === value);
