// Checks the files that ffmpeg made: each file exists, has its tracks, and is long enough.

import { lstat } from "node:fs/promises";
import { AppError, errorTraits } from "#shared/errors.ts";
import type { MediaProbe } from "#shared/media/media-probe.ts";
import { type PlannedTrack, toleranceMs } from "#shared/plan/source/output-length.ts";
import type { TrackKind } from "#shared/plan/source/source-tracks.ts";
import type { Tool } from "../ffmpeg/discover/locate.ts";
import { readIndexFirst } from "../mp4/index-first.ts";
import { probeFile } from "../source/probe/probe.ts";
import { type Content, headedContent, rangeContent } from "./content.ts";
import type { EarlyUpload } from "./early-upload.ts";

export type MadeFile = {
  readonly path: string;
  /** The size of `content`. */
  readonly sizeBytes: number;
  /** The bytes to upload; left out: the file on the disk. */
  readonly content?: Content;
  /** The file's upload, if it started while the file was written. */
  readonly early?: EarlyUpload;
};

/**
 * Throws AppError `encoding_failed` when the file does not exist or is empty. Links are rejected: ffmpeg makes none.
 */
export async function madeFile(path: string): Promise<MadeFile> {
  const stats = await lstat(path).catch(() => null);
  if (!stats?.isFile() || stats.size === 0)
    throw new AppError("encoding_failed", "The encoder made fewer files than planned");
  return { path, sizeBytes: stats.size };
}

/**
 * A finished file as it is uploaded. If its index is at the end, the upload has the index first. Ends an early upload
 * that cannot be continued. Throws AppError `encoding_failed` when the file is not as planned.
 */
export async function uploadable(encoded: MadeFile, indexAtEnd: boolean, early?: EarlyUpload): Promise<MadeFile> {
  const hasBegun = early?.halt() ?? false;
  const reservedBytes = hasBegun && early ? early.reservedBytes : 0;
  const [file, isAsPlanned] = indexAtEnd ? await withIndexFirst(encoded, reservedBytes) : [encoded, true];
  if (early && hasBegun && isAsPlanned) return { ...file, early };
  await early?.stop();
  return file;
}

async function withIndexFirst({ path }: MadeFile, reservedBytes: number): Promise<[MadeFile, boolean]> {
  try {
    const { head, from, to, shift } = await readIndexFirst(path, reservedBytes);
    const content = headedContent(head, rangeContent(path, from, to - from));
    return [{ path, sizeBytes: content.sizeBytes, content }, shift === reservedBytes];
  } catch (error) {
    throw new AppError("encoding_failed", "The index of the result cannot be read", { cause: error });
  }
}

/** ffmpeg also exits with 0 when it could not decode any frame of its input. The file then has no content. */
const UNREADABLE =
  "The result is not a readable file; the input may be damaged, or of a kind that this node's ffmpeg cannot decode";

export type ProbeDeps = { readonly ffprobe: Tool; readonly signal: AbortSignal };

/** Probes a file that ffmpeg made. Throws AppError `encoding_failed` where `probeFile` would blame the input. */
export async function probeResult(path: string, { ffprobe, signal }: ProbeDeps, demuxer?: string): Promise<MediaProbe> {
  return readOwnFile(probeFile(ffprobe, path, signal, demuxer));
}

/** Awaits the reading of a file that ffmpeg made on this node. Throws `encoding_failed` where it blames the input. */
export async function readOwnFile<Value>(reading: Promise<Value>): Promise<Value> {
  try {
    return await reading;
  } catch (error) {
    const blamesInput = error instanceof AppError && errorTraits(error.code).blame === "source";
    throw blamesInput ? new AppError("encoding_failed", UNREADABLE, { cause: error }) : error;
  }
}

/** True if a track that ends at `madeMs` is long enough, or if the expected end is not certain. */
export const isLongEnough = ({ endMs }: PlannedTrack, madeMs: number): boolean =>
  endMs === null || madeMs >= endMs - toleranceMs(endMs);

/** Throws AppError `encoding_failed` when a track that ends at `madeMs` is too short. */
export function checkEnd(track: PlannedTrack, madeMs: number): void {
  const { kind, endMs } = track;
  if (endMs === null || isLongEnough(track, madeMs)) return;
  const seconds = (ms: number): string => (ms / 1000).toFixed(2);
  const ends = `The ${kind} of the result ends at ${seconds(madeMs)} s instead of ${seconds(endMs)} s`;
  throw new AppError("encoding_failed", `${ends}; the source may be damaged or truncated`);
}

export const missingTrack = (kind: TrackKind): AppError =>
  new AppError(
    "encoding_failed",
    `The result has no ${kind}; the ${kind} of the source may be damaged, or start after the end of the output`,
  );
