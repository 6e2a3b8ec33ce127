// Follows a track while ffmpeg writes it, and tells which of its segments are there to be taken.
import { createReadStream, createWriteStream } from "node:fs";
import { type FileHandle, open, rm, unlink } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import type { TrackKind } from "#shared/plan/command/output-plan.ts";
import { STREAM_START_SECONDS } from "#shared/plan/streams/planned-stream.ts";
import type { CodecDescription } from "./codecs/codec-strings.ts";
import { type FileFragment, type FileHead, type FragmentFile, followFragments } from "./mp4/fragment-file.ts";
import { type EventPlaylist, readEventPlaylist } from "./mpegts/event-playlist.ts";
import { TICKS_PER_SECOND } from "./mpegts/ts-packets.ts";
import { readTsSegment, type TsSegment } from "./mpegts/ts-segments.ts";
import type { Segment } from "./segment.ts";
import { type CutSegment, cutSegments, gridRule } from "./segment-boundaries.ts";

/** A segment that is complete, and where its bytes lie. */
export type ReadySegment = {
  readonly segment: Segment;
  readonly path: string;
  /** Where it begins in the file, in bytes. */
  readonly offset: number;
  /** Its bytes are no longer needed: a file of its own is removed. */
  readonly release: () => Promise<void>;
};

/** The release of a segment that has a file of its own. */
export const fileRelease = (path: string) => (): Promise<void> => rm(path, { force: true }).catch(() => undefined);

/** The release of a segment that is a range of a file with others. */
const keepFile = async (): Promise<void> => {};

/** What is known of a track once its first bytes are there. */
export type TrackHeader = CodecDescription & {
  /** Ticks per second. */
  readonly timescale: number;
  /** Size of the initialization segment at the beginning of the file; null for MPEG-TS, which has none. */
  readonly initBytes: number | null;
};

/**
 * Takes one call at a time. A file that is not there is a track that has not begun, until `ended`. All calls throw when the
 * bytes are not such a track's, and then at every further call.
 */
export interface TrackReader {
  /** Null until it is known. */
  header(): Promise<TrackHeader | null>;
  /** Segments that became complete since the last call; `ended`: ffmpeg has exited well, so what lies there is all. */
  next(ended: boolean): Promise<ReadySegment[]>;
  close(): Promise<void>;
}

export type Fmp4Track = { readonly path: string; readonly segmentSeconds: number; readonly kind: TrackKind };

/** Segments are several whole fragments each, and begin at the lines of a grid, or at the first fragment behind one. */
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
      if (ended && !(head && fragments?.isWhole())) throw new Error("ffmpeg left a track's file unfinished");
      if (!head) return [];
      const cut = cutSegments(waiting, gridRule({ timescale: head.track.timescale, segmentSeconds, kind }), ended);
      waiting = cut.waiting;
      return cut.segments.map(({ segment, pieces }) => ({
        segment,
        path,
        offset: pieces[0].offset,
        release: keepFile,
      }));
    },
    close: async () => file?.close(),
  };
}

export type TsTrack = { readonly playlist: string; readonly segmentSeconds: number; readonly kind: TrackKind };

/**
 * ffmpeg's segments are files, which begin at the lines of the same grid; where it makes shorter ones, as after a gap, they are
 * put together, in one file.
 */
export function tsReader({ playlist, segmentSeconds, kind }: TsTrack): TrackReader {
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
      if (ended && !listed?.isFinished) throw new Error("ffmpeg left a track's segments unfinished");
      if (!listed) return [];
      const cut = cutSegments(waiting, gridRule({ timescale: TICKS_PER_SECOND, segmentSeconds, kind }), ended);
      waiting = cut.waiting;
      return Promise.all(cut.segments.map(inOneFile));
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

/** Continuity counters go on from one file to the next, so that files can be put behind each other. */
async function inOneFile({ segment, pieces: [first, ...rest] }: CutSegment<FileSegment>): Promise<ReadySegment> {
  for (const piece of rest) {
    await pipeline(createReadStream(piece.path), createWriteStream(first.path, { flags: "a" }));
    await unlink(piece.path);
  }
  return { segment, path: first.path, offset: 0, release: fileRelease(first.path) };
}

/** Null when there is no such file. */
export async function openIfThere(path: string): Promise<FileHandle | null> {
  try {
    return await open(path);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return null;
    throw error;
  }
}
