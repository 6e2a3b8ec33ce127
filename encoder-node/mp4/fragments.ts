// Reads the fragments of a fragmented MP4 file with a single track (ISO/IEC 14496-12 §8.8), also while the file grows.
import type { FileHandle } from "node:fs/promises";
import type { TrackKind } from "#shared/plan/source/source-tracks.ts";
import type { Piece } from "../codecs/segment.ts";
import { bodyAt, boxesFrom, boxesIn, type PlacedBox, readerOf } from "./boxes.ts";
import { type MovieHeader, readMovieHeader, type SampleDefaults } from "./movie.ts";

type Fragment = Piece & { readonly frames: number };

/** A `moof` with its `mdat`, and their position in the file. */
export type FileFragment = Fragment & { readonly offset: number; readonly moofBytes: number };

export type FileHead = MovieHeader & {
  /** `ftyp` and `moov`: the initialization segment. */
  readonly initBytes: number;
};

export interface FragmentFile {
  /** Null until a call of `readOn` finds the complete head. */
  head(): FileHead | null;
  /** Returns fragments that became complete since the last call. Throws when the file is not a fragmented MP4 track. */
  readOn(): Promise<FileFragment[]>;
  /** True if the file ended with a complete box when it was last read. */
  isWhole(): boolean;
}

/** Reads only headers and tables, never the samples. */
export function followFragments(file: Pick<FileHandle, "read" | "stat">, kind: TrackKind): FragmentFile {
  const read = readerOf(file);
  let offset = 0;
  let sizeBytes = 0;
  let head: FileHead | null = null;
  let open: Omit<FileFragment, "sizeBytes"> | null = null;

  /** Returns the fragment that ends with this complete box, or null. */
  const takeBox = async (box: PlacedBox): Promise<FileFragment | null> => {
    const body = (): Promise<Buffer> => read(offset + box.headerBytes, box.sizeBytes - box.headerBytes);
    if (box.type === "mdat" && open) {
      const fragment = { ...open, sizeBytes: offset + box.sizeBytes - open.offset };
      open = null;
      return fragment;
    }
    if (box.type === "moof" && head && !open) {
      open = { ...readFragment(await body(), head.defaults, kind), offset, moofBytes: box.sizeBytes };
      return null;
    }
    if (box.type === "moov" && !head) {
      const movie = readMovieHeader(await body());
      if (movie.kind !== kind) throw new Error(`MP4 track is not ${kind}`);
      head = { ...movie, initBytes: offset + box.sizeBytes };
      return null;
    }
    if (!open && (AT_END.has(box.type) || (box.type === "ftyp" && offset === 0))) return null;
    throw new Error(`Unexpected MP4 box ${JSON.stringify(box.type)} at byte ${offset}`);
  };

  return {
    head: () => head,
    async readOn() {
      const fragments: FileFragment[] = [];
      sizeBytes = (await file.stat()).size;
      for await (const box of boxesFrom(read, offset, sizeBytes)) {
        const fragment = await takeBox(box);
        if (fragment) fragments.push(fragment);
        offset += box.sizeBytes;
      }
      return fragments;
    },
    isWhole: () => offset === sizeBytes && open === null,
  };
}

/** The index for seeking, and the data that this program appends (chunk-quality.ts). No segment has these boxes. */
const AT_END: ReadonlySet<string> = new Set(["mfra", "free"]);

type Sample = {
  readonly shownAt: number;
  readonly duration: number;
  readonly sizeBytes: number;
  readonly isSync: boolean;
};

/**
 * Reads the body of a `moof`. Offsets are relative to the start of the box. Throws when the `moof` has no samples,
 * several tracks, or offsets relative to the file. Throws also when it does not start with a keyframe: no segment could
 * start there.
 */
export function readFragment(moof: Buffer, defaults: SampleDefaults, kind: TrackKind): Omit<Fragment, "sizeBytes"> {
  const traf = bodyAt(moof, "traf");
  const ofTrack = fragmentDefaults(bodyAt(traf, "tfhd"), defaults);
  const [run, ...runs] = boxesIn(traf).filter(({ type }) => type === "trun");
  let decodedAt = decodeTime(bodyAt(traf, "tfdt"));
  const samples: Sample[] = [];
  for (const { body } of run ? [run, ...runs] : []) decodedAt = readRun(body, ofTrack, decodedAt, samples);
  const [first, last] = [samples[0], samples.at(-1)];
  if (!run || !first || !last) throw new Error("MP4 fragment has no samples");
  if (kind === "video" && !first.isSync) throw new Error("MP4 fragment does not start with a keyframe");
  const keyframe = { offset: 0, sizeBytes: dataOffset(run.body) + first.sizeBytes, start: first.shownAt };
  return {
    frames: samples.length,
    start: samples.reduce((earliest, { shownAt }) => Math.min(earliest, shownAt), first.shownAt),
    // Sample durations are distances between decoding times, which lag behind presentation times. The last sample's
    // duration is its frame's own.
    end: samples.reduce((latest, { shownAt }) => Math.max(latest, shownAt), first.shownAt) + last.duration,
    keyframes: kind === "video" ? [keyframe] : [],
  };
}

const flagsOf = (box: Buffer): number => box.readUIntBE(1, 3);

function fragmentDefaults(tfhd: Buffer, defaults: SampleDefaults): SampleDefaults {
  const flags = flagsOf(tfhd);
  if (flags & 0x1) throw new Error("MP4 fragment has offsets relative to the file, so it cannot be moved");
  const fields = fieldsOf(tfhd, 8);
  if (flags & 0x2) fields();
  return {
    duration: flags & 0x8 ? fields() : defaults.duration,
    sizeBytes: flags & 0x10 ? fields() : defaults.sizeBytes,
    flags: flags & 0x20 ? fields() : defaults.flags,
  };
}

/** Reads consecutive 32-bit numbers. */
function fieldsOf(box: Buffer, from: number): () => number {
  let at = from;
  return () => {
    at += 4;
    return box.readUInt32BE(at - 4);
  };
}

/** ffmpeg writes negative times, although the field is unsigned. Players read them as millions of years. */
function decodeTime(tfdt: Buffer): number {
  const time = tfdt.readUInt8(0) === 1 ? Number(tfdt.readBigInt64BE(4)) : tfdt.readUInt32BE(4);
  if (time < 0) throw new Error("MP4 fragment has a negative decoding time");
  return time;
}

const DATA_OFFSET = 0x1;
/** sample_is_non_sync_sample (§8.8.3.1). */
const NOT_SYNC = 0x10000;
/** Far more samples than any fragment has: hours of frames. */
const MAX_SAMPLES = 1_000_000;

/** Adds the samples of a `trun`, and returns the decoding time of the sample after them. */
function readRun(trun: Buffer, defaults: SampleDefaults, from: number, samples: Sample[]): number {
  const flags = flagsOf(trun);
  const isSigned = trun.readUInt8(0) > 0;
  const fields = fieldsOf(trun, 8);
  if (flags & DATA_OFFSET) fields();
  const firstFlags = flags & 0x4 ? fields() : null;
  let decodedAt = from;
  const count = trun.readUInt32BE(4);
  if (samples.length + count > MAX_SAMPLES) throw new Error(`MP4 fragment has too many samples: ${count}`);
  for (let at = 0; at < count; at += 1) {
    const duration = flags & 0x100 ? fields() : defaults.duration;
    const sizeBytes = flags & 0x200 ? fields() : defaults.sizeBytes;
    const sampleFlags = flags & 0x400 ? fields() : defaults.flags;
    const shift = flags & 0x800 ? fields() : 0;
    const isSync = (((at === 0 ? firstFlags : null) ?? sampleFlags) & NOT_SYNC) === 0;
    samples.push({ shownAt: decodedAt + (isSigned ? shift | 0 : shift), duration, sizeBytes, isSync });
    decodedAt += duration;
  }
  return decodedAt;
}

function dataOffset(trun: Buffer): number {
  if (!(flagsOf(trun) & DATA_OFFSET)) throw new Error("MP4 sample run has no data offset");
  return trun.readInt32BE(8);
}
