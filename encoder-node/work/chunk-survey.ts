// Whether and where a film can be cut into chunks, and where the nodes that encode them read it.
import { stat } from "node:fs/promises";
import { type Chunking, MIN_CHUNKED_MS, type RangedSource } from "#shared/chunking.ts";
import { AppError } from "#shared/errors.ts";
import { packCuts } from "#shared/frame-ledger.ts";
import { messageOf } from "#shared/log.ts";
import type { MediaProbe } from "#shared/media-probe.ts";
import { type ChunkFilm, chunkFilm } from "#shared/plan/chunk-film.ts";
import { chooseTracks } from "#shared/plan/source-tracks.ts";
import type { TaskOf } from "#shared/protocol.ts";
import { readFrameLedger } from "../input/frame-ledger.ts";
import { describePiece } from "../input/range-source-piece.ts";
import { scratchSource } from "./scratch-source.ts";
import type { TaskDeps } from "./task-deps.ts";

export type Film = {
  /** On this node's disk. */
  readonly path: string;
  readonly probe: MediaProbe;
  readonly url: string;
};

/** How long the source's host may take to say whether it does ranges. */
const STALL_MS = 30_000;
const MAX_WHY_CHARS = 300;

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
    const source = (readOrigin ? await originSource(film, deps) : null) ?? (await scratchSource(film.path, deps));
    return { ok: true, source, ...facts, cuts: packCuts(cuts) };
  } catch (error) {
    deps.signal.throwIfAborted();
    if (error instanceof AppError && UNWANTED.has(error.code)) throw error;
    deps.log.info("The film is not cut", { why: messageOf(error) });
    return { ok: false, why: messageOf(error).slice(0, MAX_WHY_CHARS) };
  }
}

/** Codes that say that nobody wants the work any more. */
const UNWANTED: ReadonlySet<string> = new Set(["lease_superseded", "cancelled"]);

const cannot = (why: string): Error => new Error(`The film cannot be cut, because ${why}.`);

async function chunkable({ path, probe }: Film, { ffprobe, signal }: TaskDeps): Promise<ChunkFilm> {
  const track = chooseTracks(probe).video;
  if (!track) throw cannot("it has no moving picture");
  const reading = await readFrameLedger(ffprobe, { path }, track.streamIndex, signal);
  if (!reading.ok) throw cannot(reading.why);
  const film = chunkFilm(reading.ledger, probe);
  if (film.endUs - film.startUs <= MIN_CHUNKED_MS * 1000) {
    throw cannot(`it is no longer than ${MIN_CHUNKED_MS / 1000} s`);
  }
  if (film.cuts.length === 0) throw cannot("there is no place where the frames keep their times");
  return film;
}

/** Null when the host does not do ranges, or is about to serve something else than it did. */
async function originSource({ path, url }: Film, deps: TaskDeps): Promise<RangedSource | null> {
  const { allowPrivate: allow, signal } = deps;
  const { size } = await stat(path);
  const piece = await describePiece({ url, allow, stallMs: STALL_MS, signal }).catch(() => null);
  signal.throwIfAborted();
  return piece?.sizeBytes === size ? { from: "origin", sizeBytes: size } : null;
}
