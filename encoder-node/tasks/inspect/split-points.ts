// Decides if and where a source can be split into chunks, and where the nodes that encode the chunks read the source.
import { stat } from "node:fs/promises";
import { AppError } from "#shared/errors.ts";
import type { Clip } from "#shared/job/clip.ts";
import { messageOf } from "#shared/log.ts";
import { MAX_SPLIT_POINTS, type PackedSplitPoints, packSplitPoints } from "#shared/media/frame-index.ts";
import type { MediaProbe } from "#shared/media/media-probe.ts";
import { type ChunkableSource, chunkableSource } from "#shared/plan/chunks/chunkable-source.ts";
import { chooseTracks } from "#shared/plan/source/source-tracks.ts";
import { type Chunking, isReportable, MIN_CHUNKED_MS } from "#shared/protocol/chunks.ts";
import { MAX_VALIDATOR_CHARS, type RangedSource } from "#shared/protocol/scratch.ts";
import type { TaskOf } from "#shared/protocol/tasks.ts";
import { mapLimitedOrAbort } from "../../async/in-parallel.ts";
import type { SourceFile } from "../../source/fetch/source-file.ts";
import { readFrameIndex } from "../../source/frame-index/frame-index.ts";
import type { LocalFile } from "../../source/frame-index/run-packet-listing.ts";
import { rangeContent } from "../../upload/content.ts";
import { putScratch, scratchName } from "../../workspace/scratch.ts";
import type { TaskDeps } from "../../workspace/task-deps.ts";
import { openSource } from "../../workspace/task-source.ts";

/** A source on this node's disk, or its outline. */
export type InspectedSource = LocalFile & {
  readonly probe: MediaProbe;
  /** The place where the source can be read by ranges, if known. */
  readonly origin: RangedSource | undefined;
};

const MAX_REASON_CHARS = 300;
/** The report holds split points and probe. The control plane accepts 1 MiB. */
const MAX_REPORT_BYTES = 900_000;

/**
 * Finds the split points of a source. Copies the source to the scratch bucket, with progress of the stage
 * `transferring`, unless it can be read at its origin. Rejects only when the work is no longer needed: after any other
 * failure the source is encoded as a whole.
 */
export async function findSplitPoints(
  source: InspectedSource,
  task: TaskOf<"inspect">,
  deps: TaskDeps,
): Promise<Chunking> {
  try {
    const { splitPoints, ...facts } = await readChunkableSource(source, task.chunking?.clip, deps);
    const packed = packSplitPoints(splitPoints);
    if (isTooLong(packed, source.probe) || !isReportable({ ...facts, splitPoints: packed })) {
      throw notChunkable("it is too long, or its metadata is too large");
    }
    const ranged =
      (task.chunking?.readOrigin ? (source.origin ?? (await originSource(source, task, deps))) : null) ??
      (await copiedSource(source, deps));
    return { ok: true, source: ranged, ...facts, splitPoints: packed };
  } catch (error) {
    deps.signal.throwIfAborted();
    if (isUnwanted(error)) throw error;
    deps.log.info("source not divided into chunks", { reason: messageOf(error) });
    return {
      ok: false,
      reason: messageOf(error)
        .replace(/\p{Cc}+/gu, " ")
        .slice(0, MAX_REASON_CHARS),
    };
  }
}

/** Codes of errors after which the work is no longer needed. */
const UNWANTED: ReadonlySet<string> = new Set(["lease_superseded", "cancelled"]);
const isUnwanted = (error: unknown): boolean => error instanceof AppError && UNWANTED.has(error.code);

/** True if the control plane would reject the report as too large. */
export const isTooLong = (splitPoints: PackedSplitPoints, probe: MediaProbe): boolean =>
  splitPoints.length > MAX_SPLIT_POINTS || Buffer.byteLength(JSON.stringify([splitPoints, probe])) > MAX_REPORT_BYTES;

const notChunkable = (reason: string): Error => new Error(`The video cannot be split into chunks, because ${reason}.`);

async function readChunkableSource(
  { probe, ...source }: InspectedSource,
  clip: Clip | undefined,
  deps: TaskDeps,
): Promise<ChunkableSource> {
  const { ffprobe, signal } = deps;
  const local = { path: source.path, isOutline: source.isOutline };
  const track = chooseTracks(probe).video;
  if (!track) throw notChunkable("it has no video track");
  if (track.startsWithOldFrames) throw notChunkable("its first frames precede the start of the timeline");
  const reading = await deps.withProbeSlot(() =>
    deps.trace.step("probe", () => readFrameIndex(ffprobe, local, track.streamIndex, signal)),
  );
  if (!reading.ok) throw notChunkable(reading.error);
  const chunkable = chunkableSource(reading.value, probe, clip);
  if (chunkable.endUs - chunkable.startUs <= MIN_CHUNKED_MS * 1000) {
    throw notChunkable(`it is not longer than ${MIN_CHUNKED_MS / 1000} s`);
  }
  if (chunkable.splitPoints.length === 0) throw notChunkable("a split at any frame would change timestamps");
  return chunkable;
}

/** Null when the host supports no range requests, identifies no versions, or now serves another file. */
async function originSource(
  { path }: InspectedSource,
  task: TaskOf<"inspect">,
  deps: TaskDeps,
): Promise<RangedSource | null> {
  const { size } = await stat(path);
  const { file, release } = await openSource(task, deps);
  try {
    const hasRanges = await file.askForRanges(deps.signal).catch(() => false);
    deps.signal.throwIfAborted();
    return hasRanges && file.sizeBytes === size ? originOf(file) : null;
  } finally {
    release();
  }
}

/** The place where a source can be read by ranges; null without a validator that fits into a report. */
export function originOf({ sizeBytes, validator }: Pick<SourceFile, "sizeBytes" | "validator">): RangedSource | null {
  if (sizeBytes === null || !validator || validator.length > MAX_VALIDATOR_CHARS) return null;
  return { from: "origin", sizeBytes, validator };
}

/**
 * The cause is only logged: clients can read the reason, and the cause may name the host of the operator's scratch
 * storage.
 */
async function copiedSource({ path }: InspectedSource, deps: TaskDeps): Promise<RangedSource> {
  return await deps.trace
    .step("upload", () => scratchSource(path, deps))
    .catch((error: unknown) => {
      deps.signal.throwIfAborted();
      if (isUnwanted(error)) throw error;
      deps.log.warn("source not copied to scratch storage", { error: messageOf(error) });
      throw notChunkable("its source could not be copied to the scratch storage");
    });
}

// Copies a source to the scratch bucket, in pieces, for the nodes that encode its chunks.

/** Far below the limit of one PUT (5 GiB with S3), so that a lost connection costs little. */
const PIECE_BYTES = 512 * 1024 * 1024;
/** Pieces that are sent at a time. Each piece is signed just before it is sent, because signatures expire soon. */
const PARALLEL = 4;

/** Reports progress of the stage `transferring`. Throws as `putScratch` does. */
export async function scratchSource(path: string, deps: TaskDeps, pieceBytes = PIECE_BYTES): Promise<RangedSource> {
  const { size } = await stat(path);
  const count = Math.ceil(size / pieceBytes);
  const sent = Array.from({ length: count }, () => 0);
  const pieces = sent.map((_, at) => ({
    name: scratchName(deps.assignment.lease, `source-${String(at + 1).padStart(5, "0")}`),
    sizeBytes: Math.min(pieceBytes, size - at * pieceBytes),
  }));
  deps.progress("transferring", 0);
  await mapLimitedOrAbort(pieces, PARALLEL, deps.signal, async ({ name, sizeBytes }, at, signal) => {
    const content = rangeContent(path, at * pieceBytes, sizeBytes);
    await putScratch([{ name, content }], { ...deps, signal }, (bytes) => {
      sent[at] = bytes;
      deps.progress("transferring", sent.reduce((sum, each) => sum + each, 0) / size);
    });
  });
  return { from: "scratch", pieces };
}
