// Whether and where a film can be cut into chunks, and where the nodes that encode them read it.
import { stat } from "node:fs/promises";
import { AppError } from "#shared/errors.ts";
import { messageOf } from "#shared/log.ts";
import { MAX_CUTS, type PackedCuts, packCuts } from "#shared/media/frame-index.ts";
import type { MediaProbe } from "#shared/media/media-probe.ts";
import { type ChunkFilm, chunkFilm } from "#shared/plan/chunks/chunked-source.ts";
import { chooseTracks } from "#shared/plan/source/source-tracks.ts";
import {
  type Chunking,
  isReportable,
  MAX_VALIDATOR_CHARS,
  MIN_CHUNKED_MS,
  type RangedSource,
} from "#shared/protocol/chunking.ts";
import type { TaskOf } from "#shared/protocol/protocol.ts";
import { readFrameLedger } from "../../source/frame-index/frame-index.ts";
import { describePiece } from "../../source/ranges/source-range.ts";
import type { TaskDeps } from "../../task/task-deps.ts";
import { scratchSource } from "./scratch-source.ts";

export type Film = {
  /** On this node's disk. */
  readonly path: string;
  readonly probe: MediaProbe;
  readonly url: string;
};

/** How long the source's host may take to say whether it does ranges. */
const STALL_MS = 30_000;
const MAX_WHY_CHARS = 300;
/** Cuts and probe travel in one report, of which the control plane takes 1 MiB. */
const MAX_REPORT_BYTES = 900_000;

/**
 * Rejects only when the work is no longer wanted: whatever else goes wrong is a reason to encode the film whole. Brings the source
 * to the scratch bucket, told as `transferring`, unless it can be read where it is.
 */
export async function surveyChunks(
  film: Film,
  { readOrigin }: NonNullable<TaskOf<"inspect">["chunking"]>,
  deps: TaskDeps,
): Promise<Chunking> {
  try {
    const { cuts, ...facts } = await chunkable(film, deps);
    const packed = packCuts(cuts);
    if (isTooLong(packed, film.probe) || !isReportable({ ...facts, cuts: packed })) {
      throw cannot("it is too long, or its description is too large");
    }
    const source = (readOrigin ? await originSource(film, deps) : null) ?? (await broughtSource(film, deps));
    return { ok: true, source, ...facts, cuts: packed };
  } catch (error) {
    deps.signal.throwIfAborted();
    if (isUnwanted(error)) throw error;
    deps.log.info("The film is not cut", { why: messageOf(error) });
    return {
      ok: false,
      why: messageOf(error)
        .replace(/\p{Cc}+/gu, " ")
        .slice(0, MAX_WHY_CHARS),
    };
  }
}

/** Codes that say that nobody wants the work any more. */
const UNWANTED: ReadonlySet<string> = new Set(["lease_superseded", "cancelled"]);
const isUnwanted = (error: unknown): boolean => error instanceof AppError && UNWANTED.has(error.code);

/** Whether the report on a film would not be taken. */
export const isTooLong = (cuts: PackedCuts, probe: MediaProbe): boolean =>
  cuts.length > MAX_CUTS || Buffer.byteLength(JSON.stringify([cuts, probe])) > MAX_REPORT_BYTES;

const cannot = (why: string): Error => new Error(`The film cannot be cut, because ${why}.`);

async function chunkable({ path, probe }: Film, { ffprobe, probing, signal }: TaskDeps): Promise<ChunkFilm> {
  const track = chooseTracks(probe).video;
  if (!track) throw cannot("it has no moving picture");
  if (track.startsWithOldFrames) throw cannot("it begins with frames from before its beginning");
  const reading = await probing(() => readFrameLedger(ffprobe, { path }, track.streamIndex, signal));
  if (!reading.ok) throw cannot(reading.why);
  const film = chunkFilm(reading.ledger, probe);
  if (film.endUs - film.startUs <= MIN_CHUNKED_MS * 1000) {
    throw cannot(`it is no longer than ${MIN_CHUNKED_MS / 1000} s`);
  }
  if (film.cuts.length === 0) throw cannot("there is no place where the frames keep their times");
  return film;
}

/** Null when the host does not do ranges or name versions, or is about to serve something else than it did. */
async function originSource({ path, url }: Film, deps: TaskDeps): Promise<RangedSource | null> {
  const { allowPrivate: allow, signal } = deps;
  const { size } = await stat(path);
  const piece = await describePiece({ url, allow, stallMs: STALL_MS, signal }).catch(() => null);
  signal.throwIfAborted();
  const validator = piece?.validator ?? "";
  if (piece?.sizeBytes !== size || validator === "" || validator.length > MAX_VALIDATOR_CHARS) return null;
  return { from: "origin", sizeBytes: size, validator };
}

/** What went wrong is the operator's affair: a message may name the host of the scratch storage, and reasons reach clients. */
async function broughtSource({ path }: Film, deps: TaskDeps): Promise<RangedSource> {
  return await scratchSource(path, deps).catch((error: unknown) => {
    deps.signal.throwIfAborted();
    if (isUnwanted(error)) throw error;
    deps.log.warn("The source was not brought to the scratch storage", { error: messageOf(error) });
    throw cannot("its source could not be brought to the scratch storage");
  });
}
