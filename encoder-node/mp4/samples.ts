// The samples of the tracks of an MP4 file whose packets a demuxer lists from the header alone (ISO/IEC 14496-12 §8.6,
// §8.7). Pure.
import type { TrackKind } from "#shared/plan/source/source-tracks.ts";
import { type Box, bodyAt, boxesIn } from "./boxes.ts";
import { decoderConfig, sampleEntries, timescaleOf, trackKind } from "./movie.ts";

export type OutlinedTrack = {
  readonly isVideo: boolean;
  /** In decoding order, with times on the timeline of the file. */
  readonly samples: Generator<Sample>;
};

/**
 * Sample entries whose packets equal the samples of the index. ffmpeg parses the samples of other codecs, and then
 * lists other packets (AC-3, MP3; mov.c, `need_parsing`). Video is parsed for its keyframes, which `stss` names too.
 */
const VIDEO_ENTRIES: ReadonlySet<string> = new Set(["avc1", "avc3", "hvc1", "hev1", "vp09", "av01"]);
const INTRA_ENTRIES: ReadonlySet<string> = new Set(["apch", "apcn", "apcs", "apco", "ap4h", "ap4x"]);
const AUDIO_ENTRIES: ReadonlySet<string> = new Set(["mp4a", "sowt", "twos", "lpcm", "in24", "in32", "fl32"]);

/** More tracks than sources with all their languages have. Choosing the next sample takes time for each track. */
const MAX_TRACKS = 64;

/**
 * The tracks of a movie header (`moov`, its body). Null when the header does not list their packets: fragmented or
 * compressed, encrypted, other codecs, several edits, no list of keyframes, too many tracks. Throws for an invalid
 * header.
 */
export function outlinedTracks(moov: Buffer): OutlinedTrack[] | null {
  const boxes = boxesIn(moov);
  const mvhd = only(boxes, "mvhd");
  const timescale = mvhd ? timescaleOf(mvhd) : 0;
  if (timescale === 0 || boxes.some(({ type }) => type === "mvex" || type === "cmov")) return null;
  const bodies = boxes.filter(({ type }) => type === "trak");
  if (bodies.length > MAX_TRACKS) return null;
  const tracks = bodies.map(({ body }) => outlinedTrack(body, timescale));
  return tracks.length > 0 && tracks.every((track) => track !== null) ? tracks : null;
}

const only = (boxes: readonly Box[], type: string): Buffer | null =>
  boxes.find((box) => box.type === type)?.body ?? null;

function outlinedTrack(trak: Buffer, movieTimescale: number): OutlinedTrack | null {
  const media = boxesIn(bodyAt(trak, "mdia"));
  const [mdhd, hdlr] = [only(media, "mdhd"), only(media, "hdlr")];
  const timescale = mdhd ? timescaleOf(mdhd) : 0;
  const kind = hdlr && trackKind(hdlr);
  const tables = boxesIn(bodyAt(trak, "mdia/minf/stbl"));
  const [stts, stsz, stsc, stsd] = ["stts", "stsz", "stsc", "stsd"].map((type) => only(tables, type));
  const co64 = only(tables, "co64");
  const places = co64 ?? only(tables, "stco");
  if (!stts || !stsz || !stsc || !stsd || !places || timescale === 0) return null;
  if (!isListed(kind, stsd, only(tables, "stss") !== null)) return null;
  const startSeconds = editStart(trak, timescale, movieTimescale);
  if (startSeconds === null) return null;
  const samples = samplesOf({ stts, stsz, stsc, places, has64Bits: co64 !== null, timescale });
  return { isVideo: kind === "video", samples: shifted(samples, startSeconds) };
}

function* shifted(samples: Generator<Sample>, bySeconds: number): Generator<Sample> {
  for (const sample of samples) yield { ...sample, seconds: sample.seconds + bySeconds };
}

function isListed(kind: TrackKind | null, stsd: Buffer, hasKeyframes: boolean): boolean {
  if (kind === null) return true;
  const [entry, ...others] = sampleEntries(stsd);
  if (!entry || others.length > 0) return false;
  if (kind === "video") return INTRA_ENTRIES.has(entry.type) || (VIDEO_ENTRIES.has(entry.type) && hasKeyframes);
  return AUDIO_ENTRIES.has(entry.type) && (entry.type !== "mp4a" || isAac(entry.body));
}

/** True if the entry is AAC. Its descriptor is in the entry, in QuickTime within a box `wave` there. */
function isAac(entry: Buffer): boolean {
  const at = entry.indexOf("esds", 0, "latin1");
  if (at < 0) return false;
  try {
    decoderConfig(entry.subarray(at + 4));
    return true;
  } catch {
    return false;
  }
}

/**
 * Decoding time of the track's first sample on the timeline of the file, in seconds. An empty edit makes it later. An
 * edit that starts within the track makes it earlier (negative). Null for several edits.
 */
function editStart(trak: Buffer, timescale: number, movieTimescale: number): number | null {
  const edts = only(boxesIn(trak), "edts");
  const elst = edts && only(boxesIn(edts), "elst");
  if (!elst) return 0;
  const isLong = elst.readUInt8(0) === 1;
  const entryBytes = isLong ? 20 : 12;
  let emptySeconds = 0;
  let start: number | null = null;
  for (let entry = 0; entry < elst.readUInt32BE(4); entry++) {
    const at = 8 + entryBytes * entry;
    const length = isLong ? Number(elst.readBigUInt64BE(at)) : elst.readUInt32BE(at);
    const from = isLong ? Number(elst.readBigInt64BE(at + 8)) : elst.readInt32BE(at + 4);
    if (start !== null) return null;
    if (from < 0) emptySeconds += length / movieTimescale;
    else start = emptySeconds - from / timescale;
  }
  return start ?? 0;
}

/** A sample. `seconds` is its decoding time from the track's start. */
export type Sample = { readonly offset: number; readonly sizeBytes: number; readonly seconds: number };

/** The bodies of a track's sample tables. */
type SampleTables = {
  /** Decoding times (`stts`), sizes (`stsz`), samples of each chunk (`stsc`). */
  readonly stts: Buffer;
  readonly stsz: Buffer;
  readonly stsc: Buffer;
  /** Places of chunks: `stco`, or `co64` with 64 bits. */
  readonly places: Buffer;
  readonly has64Bits: boolean;
  /** Ticks per second. */
  readonly timescale: number;
};

/** Version and flags, then the number of entries. */
const HEADER_BYTES = 8;

/** The samples in decoding order. Ends with the shortest table; throws RangeError if a table is truncated. */
function* samplesOf({ stts, stsz, stsc, places, has64Bits, timescale }: SampleTables): Generator<Sample> {
  const sizes = sampleSizes(stsz);
  const times = decodingTimes(stts);
  const chunks = places.readUInt32BE(4);
  const counts = samplesPerChunk(stsc, chunks);
  for (let chunk = 0; chunk < chunks; chunk++) {
    let offset = has64Bits
      ? Number(places.readBigUInt64BE(HEADER_BYTES + 8 * chunk))
      : places.readUInt32BE(HEADER_BYTES + 4 * chunk);
    const count = counts.next().value ?? 0;
    for (let at = 0; at < count; at++) {
      const sizeBytes = sizes.next().value;
      const ticks = times.next().value;
      if (sizeBytes === undefined || ticks === undefined) return;
      yield { offset, sizeBytes, seconds: ticks / timescale };
      offset += sizeBytes;
    }
  }
}

function* sampleSizes(stsz: Buffer): Generator<number, undefined> {
  const common = stsz.readUInt32BE(4);
  const count = stsz.readUInt32BE(8);
  for (let at = 0; at < count; at++) yield common || stsz.readUInt32BE(12 + 4 * at);
}

function* decodingTimes(stts: Buffer): Generator<number, undefined> {
  const entries = stts.readUInt32BE(4);
  let ticks = 0;
  for (let entry = 0; entry < entries; entry++) {
    const count = stts.readUInt32BE(HEADER_BYTES + 8 * entry);
    const step = stts.readUInt32BE(HEADER_BYTES + 8 * entry + 4);
    for (let at = 0; at < count; at++, ticks += step) yield ticks;
  }
}

/** The number of samples of each chunk. An entry is valid up to the first chunk of the next entry. */
function* samplesPerChunk(stsc: Buffer, chunks: number): Generator<number, undefined> {
  const entries = stsc.readUInt32BE(4);
  for (let entry = 0; entry < entries; entry++) {
    const at = HEADER_BYTES + 12 * entry;
    const first = stsc.readUInt32BE(at);
    const next = entry + 1 < entries ? stsc.readUInt32BE(at + 12) : chunks + 1;
    for (let chunk = first; chunk < next; chunk++) yield stsc.readUInt32BE(at + 4);
  }
}
