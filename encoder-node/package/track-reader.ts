// Follows a track while ffmpeg writes it, and returns its segments as they become complete.

import { constants } from "node:fs";
import { type FileHandle, open, rm, unlink } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import type { TrackKind } from "#shared/plan/source/source-tracks.ts";
import { STREAM_START_SECONDS } from "#shared/plan/streams/planned-stream.ts";
import type { CodecDescription } from "./codecs/codec-strings.ts";
import { type FileFragment, type FileHead, type FragmentFile, followFragments } from "./mp4/fragment-file.ts";
import { type EventPlaylist, readEventPlaylist } from "./mpegts/event-playlist.ts";
import { TICKS_PER_SECOND } from "./mpegts/ts-packets.ts";
import { readTsSegment, type TsSegment } from "./mpegts/ts-segments.ts";
import type { Segment } from "./segment.ts";
import { type AssembledSegment, assembleSegments, gridRule } from "./segment-boundaries.ts";

/** A complete segment and the location of its bytes. */
export type ReadySegment = {
  readonly segment: Segment;
  readonly path: string;
  /** Its position in the file, in bytes. */
  readonly offset: number;
  /** Call it when the bytes are no longer needed. Removes the segment's own file, if it has one. */
  readonly release: () => Promise<void>;
};

/** The release of a segment with its own file. */
export const fileRelease = (path: string) => (): Promise<void> => rm(path, { force: true }).catch(() => undefined);

/** The release of a segment that shares a file with others. */
const keepFile = async (): Promise<void> => {};

/** The description of a track, available once its first bytes are written. */
export type TrackHeader = CodecDescription & {
  /** Ticks per second. */
  readonly timescale: number;
  /** Size of the initialization segment at the beginning of the file. Null for MPEG-TS, which has none. */
  readonly initBytes: number | null;
};

/**
 * Accepts one call at a time. Until `ended`, a missing file is a track that has not begun. Calls throw when the bytes
 * are not those of such a track, and so does every later call.
 */
export interface TrackReader {
  /** Null until it is known. */
  header(): Promise<TrackHeader | null>;
  /** Segments that became complete since the last call. `ended`: ffmpeg has succeeded, so the files are complete. */
  next(ended: boolean): Promise<ReadySegment[]>;
  close(): Promise<void>;
}

export type Fmp4Track = { readonly path: string; readonly segmentSeconds: number; readonly kind: TrackKind };

/** Each segment consists of whole fragments and begins at a grid time, or at the first fragment after it. */
export function fmp4Reader({ path, segmentSeconds, kind }: Fmp4Track): TrackReader {
  let file: FileHandle | null = null;
  let fragments: FragmentFile | null = null;
  let waiting: readonly FileFragment[] = [];

  const readOn = async (): Promise<FileHead | null> => {
    file ??= await openIfThere(path);
    if (!file) return null;
    fragments ??= followFragments(file, kind);
    waiting = [...waiting, ...(await fragments.readOn())];
    return fragments.head();
  };

  return {
    async header() {
      const head = await readOn();
      return head && { ...head.track, initBytes: head.initBytes };
    },
    async next(ended) {
      const head = await readOn();
      if (ended && !(head && fragments?.isWhole())) throw new Error("ffmpeg left the file of a track incomplete");
      if (!head) return [];
      const assembly = assembleSegments(
        waiting,
        gridRule({ timescale: head.track.timescale, segmentSeconds, kind }),
        ended,
      );
      waiting = assembly.waiting;
      return assembly.segments.map(({ segment, pieces }) => ({
        segment,
        path,
        offset: pieces[0].offset,
        release: keepFile,
      }));
    },
    close: async () => file?.close(),
  };
}

export type TsTrack = {
  readonly playlist: string;
  readonly segmentSeconds: number;
  readonly kind: TrackKind;
  /** Segments stay in their folder when they are released. */
  readonly keepsFiles?: boolean;
};

/**
 * ffmpeg's segments are files that begin at the same grid times. Shorter ones, as after a gap, are joined in one file.
 */
export function tsReader({ playlist, segmentSeconds, kind, keepsFiles = false }: TsTrack): TrackReader {
  let header: TrackHeader | null = null;
  let taken = 0;
  let near = STREAM_START_SECONDS * TICKS_PER_SECOND;
  let waiting: readonly FileSegment[] = [];

  const readOn = async (): Promise<EventPlaylist | null> => {
    const listed = await readPlaylist(playlist);
    for (const { name, seconds } of listed?.segments.slice(taken) ?? []) {
      const file = join(dirname(playlist), basename(name));
      const segment = await readTsSegment({ path: file, kind, near, frameTicks: seconds * TICKS_PER_SECOND });
      header ??= { ...segment.description, timescale: TICKS_PER_SECOND, initBytes: null };
      waiting = [...waiting, { ...segment, path: file }];
      near = segment.end;
      taken += 1;
    }
    return listed;
  };

  return {
    async header() {
      await readOn();
      return header;
    },
    async next(ended) {
      const listed = await readOn();
      if (ended && !listed?.isFinished) throw new Error("ffmpeg left the segments of a track incomplete");
      if (!listed) return [];
      const assembly = assembleSegments(
        waiting,
        gridRule({ timescale: TICKS_PER_SECOND, segmentSeconds, kind }),
        ended,
      );
      waiting = assembly.waiting;
      const ready = await Promise.all(assembly.segments.map(inOneFile));
      return keepsFiles ? ready.map((segment) => ({ ...segment, release: keepFile })) : ready;
    },
    close: async () => {},
  };
}

type FileSegment = TsSegment & { readonly path: string };

async function readPlaylist(file: string): Promise<EventPlaylist | null> {
  const handle = await openIfThere(file);
  if (!handle) return null;
  try {
    return readEventPlaylist(await handle.readFile("utf8"));
  } finally {
    await handle.close();
  }
}

/** A run that was taken over by its source could leave links to any file of this machine. */
const READ_FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW;
const APPEND_FLAGS = constants.O_WRONLY | constants.O_APPEND | constants.O_NOFOLLOW;

/** Continuity counters continue from one file to the next, so that files can be concatenated. */
async function inOneFile({ segment, pieces: [first, ...rest] }: AssembledSegment<FileSegment>): Promise<ReadySegment> {
  for (const piece of rest) {
    const [from, to] = [await open(piece.path, READ_FLAGS), await open(first.path, APPEND_FLAGS)];
    await pipeline(from.createReadStream(), to.createWriteStream());
    await unlink(piece.path);
  }
  return { segment, path: first.path, offset: 0, release: fileRelease(first.path) };
}

/** Null when the file does not exist. */
export async function openIfThere(path: string): Promise<FileHandle | null> {
  try {
    return await open(path, READ_FLAGS);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return null;
    throw error;
  }
}
