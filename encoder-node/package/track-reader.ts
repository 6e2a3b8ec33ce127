// Follows a track while ffmpeg writes it, and returns its segments as they become complete.
import { constants } from "node:fs";
import { type FileHandle, rm, unlink } from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import type { TrackKind } from "#shared/plan/source/source-tracks.ts";
import { STREAM_START_SECONDS } from "#shared/plan/streams/planned-stream.ts";
import type { CodecDescription } from "../codecs/codec-strings.ts";
import type { Segment } from "../codecs/segment.ts";
import { type FileFragment, type FileHead, type FragmentFile, followFragments } from "../mp4/fragments.ts";
import { describeEntry } from "../mp4/movie.ts";
import { openFile } from "../run-files/open-file.ts";
import type { RunFiles } from "../run-files/run-files.ts";
import { TICKS_PER_SECOND } from "./mpegts/ts-packets.ts";
import { readTsSegment, type TsSegment } from "./mpegts/ts-segments.ts";
import { type AssembledSegment, assembleSegments, gridRule } from "./segment-boundaries.ts";

/** A complete segment and the location of its bytes. */
export type ReadySegment = {
  readonly segment: Segment;
  readonly path: string;
  /** Its position in the file, in bytes. */
  readonly offset: number;
  /** Must be called when the bytes are no longer needed. Removes the segment's own file, if it has a file. */
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
  /** Size of the initialization segment at the start of the file. Null for MPEG-TS, which has no such segment. */
  readonly initBytes: number | null;
};

/**
 * Accepts a single call at a time. Until `ended`, a missing file is a track that has not started. Calls throw when the
 * bytes do not belong to such a track, and then every later call throws, too.
 */
export interface TrackReader {
  /** Null until the header is known. */
  header(): Promise<TrackHeader | null>;
  /** Segments that became complete since the last call. `ended`: ffmpeg has succeeded, so the files are complete. */
  next(ended: boolean): Promise<ReadySegment[]>;
  close(): Promise<void>;
}

/** `file` is the name of the file or playlist that ffmpeg writes. */
type Track = {
  readonly files: RunFiles;
  readonly file: string;
  readonly segmentSeconds: number;
  readonly kind: TrackKind;
};

/** Each segment consists of whole fragments. It starts at a grid time, or at the first fragment after the grid time. */
export function fmp4Reader({ files, file: name, segmentSeconds, kind }: Track): TrackReader {
  const path = files.pathOf(name);
  let file: FileHandle | null = null;
  let fragments: FragmentFile | null = null;
  let waiting: readonly FileFragment[] = [];

  const readOn = async (): Promise<FileHead | null> => {
    if (!file && (await files.take(name)) !== null) file = await openFile(path);
    if (!file) return null;
    fragments ??= followFragments(file, kind);
    waiting = [...waiting, ...(await fragments.readOn())];
    return fragments.head();
  };

  return {
    async header() {
      const head = await readOn();
      return head && { ...describeEntry(head.entry), timescale: head.timescale, initBytes: head.initBytes };
    },
    async next(ended) {
      const head = await readOn();
      if (ended && !(head && fragments?.isWhole())) throw new Error("ffmpeg left the file of a track incomplete");
      if (!head) return [];
      const assembly = assembleSegments(waiting, gridRule({ timescale: head.timescale, segmentSeconds, kind }), ended);
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

export type TsTrack = Track & {
  /** Segments stay in their folder when they are released. */
  readonly keepsFiles?: boolean;
};

/**
 * ffmpeg's segments are files that start at the same grid times. Shorter segments, as after a gap, are joined in a
 * single file.
 */
export function tsReader({ files, file: playlist, segmentSeconds, kind, keepsFiles = false }: TsTrack): TrackReader {
  let header: TrackHeader | null = null;
  let taken = 0;
  let near = STREAM_START_SECONDS * TICKS_PER_SECOND;
  let waiting: readonly FileSegment[] = [];

  const readOn = async (): Promise<EventPlaylist | null> => {
    const text = await files.read(playlist, MAX_PLAYLIST_BYTES);
    const listed = text === null ? null : readEventPlaylist(text);
    for (const { name, seconds } of listed?.segments.slice(taken) ?? []) {
      const file = await files.take(name);
      if (file === null) throw new Error("ffmpeg's playlist names a segment that does not exist");
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

/** A week of segments of a second has half of this size. */
const MAX_PLAYLIST_BYTES = 64 * 2 ** 20;

/** Continuity counters continue from file to file, so the files can be concatenated. */
async function inOneFile({ segment, pieces: [first, ...rest] }: AssembledSegment<FileSegment>): Promise<ReadySegment> {
  for (const piece of rest) {
    const from = await openFile(piece.path);
    const to = await openFile(first.path, constants.O_WRONLY | constants.O_APPEND);
    await pipeline(from.createReadStream(), to.createWriteStream());
    await unlink(piece.path);
  }
  return { segment, path: first.path, offset: 0, release: fileRelease(first.path) };
}

/** Reads ffmpeg's own playlist of finished segments (RFC 8216 §4.3.2.1), which grows line by line. */
type EventPlaylist = {
  /** True if no more segments follow. */
  readonly isFinished: boolean;
  readonly segments: readonly { readonly name: string; readonly seconds: number }[];
};

/** Throws when a segment has no duration. */
function readEventPlaylist(text: string): EventPlaylist {
  const lines = text.split("\n").map((line) => line.trim());
  const names = lines.flatMap((line, at) => (line === "" || line.startsWith("#") ? [] : [{ name: line, at }]));
  return {
    isFinished: lines.includes("#EXT-X-ENDLIST"),
    segments: names.map(({ name, at }) => ({ name, seconds: durationIn(lines[at - 1]) })),
  };
}

function durationIn(line = ""): number {
  const seconds = Number.parseFloat(/^#EXTINF:(.*),/.exec(line)?.[1] ?? "");
  if (!(seconds >= 0)) throw new Error("Segment in ffmpeg's playlist has no duration");
  return seconds;
}
