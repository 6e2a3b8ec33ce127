// The tracks of an MP4 file whose packets a demuxer lists from the header alone, without reading them. Pure.
import { type Box, bodyAt, boxesIn } from "./boxes.ts";
import { decoderConfig } from "./esds.ts";
import { type Sample, samplesOf } from "./sample-tables.ts";

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
  const timescale = timescaleOf(only(boxes, "mvhd"));
  if (timescale === null || boxes.some(({ type }) => type === "mvex" || type === "cmov")) return null;
  const bodies = boxes.filter(({ type }) => type === "trak");
  if (bodies.length > MAX_TRACKS) return null;
  const tracks = bodies.map(({ body }) => outlinedTrack(body, timescale));
  return tracks.length > 0 && tracks.every((track) => track !== null) ? tracks : null;
}

const only = (boxes: readonly Box[], type: string): Buffer | null =>
  boxes.find((box) => box.type === type)?.body ?? null;

/** Ticks per second of `mvhd` or `mdhd`: version 1 has dates of 64 bits. */
function timescaleOf(header: Buffer | null): number | null {
  const timescale = header?.readUInt32BE(header.readUInt8(0) === 1 ? 20 : 12) ?? 0;
  return timescale > 0 ? timescale : null;
}

function outlinedTrack(trak: Buffer, movieTimescale: number): OutlinedTrack | null {
  const media = boxesIn(bodyAt(trak, "mdia"));
  const timescale = timescaleOf(only(media, "mdhd"));
  const handler = only(media, "hdlr")?.toString("latin1", 8, 12) ?? "";
  const tables = boxesIn(bodyAt(trak, "mdia/minf/stbl"));
  const [stts, stsz, stsc, stsd] = ["stts", "stsz", "stsc", "stsd"].map((type) => only(tables, type));
  const co64 = only(tables, "co64");
  const places = co64 ?? only(tables, "stco");
  if (!stts || !stsz || !stsc || !stsd || !places || timescale === null) return null;
  if (!isListed(handler, stsd, only(tables, "stss") !== null)) return null;
  const startSeconds = editStart(trak, timescale, movieTimescale);
  if (startSeconds === null) return null;
  const samples = samplesOf({ stts, stsz, stsc, places, has64Bits: co64 !== null, timescale });
  return { isVideo: handler === "vide", samples: shifted(samples, startSeconds) };
}

function* shifted(samples: Generator<Sample>, bySeconds: number): Generator<Sample> {
  for (const sample of samples) yield { ...sample, seconds: sample.seconds + bySeconds };
}

/** `stsd` has version, flags and the number of entries; the entries are boxes. */
const STSD_HEADER_BYTES = 8;

function isListed(handler: string, stsd: Buffer, hasKeyframes: boolean): boolean {
  const entries = boxesIn(stsd.subarray(STSD_HEADER_BYTES));
  const [entry] = entries;
  if (handler !== "vide" && handler !== "soun") return true;
  if (!entry || entries.length > 1) return false;
  if (handler === "vide") return INTRA_ENTRIES.has(entry.type) || (VIDEO_ENTRIES.has(entry.type) && hasKeyframes);
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
