// Reads tracks from the head (`moov`) of MP4 files.

import type { TrackKind } from "#shared/plan/source/source-tracks.ts";
import { audioOfConfig } from "../codecs/aac.ts";
import {
  av1Codec,
  avcCodec,
  type CodecAudio,
  type CodecDescription,
  flacAudio,
  hevcCodec,
  opusAudio,
  vp9Codec,
} from "../codecs/codec-strings.ts";
import { audioOfDac3, audioOfDec3 } from "../codecs/dolby.ts";
import { type Box, bodyAt, boxesIn } from "./boxes.ts";

/** The defaults for samples (`trex`), which a fragment may override. */
export type SampleDefaults = { readonly duration: number; readonly sizeBytes: number; readonly flags: number };

/** The single track of a fragmented file. */
export type MovieHeader = {
  readonly kind: TrackKind | null;
  /** Ticks per second. */
  readonly timescale: number;
  /** Its sample entry, with the codec. */
  readonly entry: Box;
  readonly defaults: SampleDefaults;
};

/** Reads the body of a `moov`. Throws when it does not have exactly one track with one sample entry. */
export function readMovieHeader(moov: Buffer): MovieHeader {
  const media = bodyAt(moov, "trak/mdia");
  const [entry, ...others] = sampleEntries(bodyAt(media, "minf/stbl/stsd"));
  if (!entry || others.length > 0) throw new Error("MP4 track has more or less than one sample entry");
  const timescale = timescaleOf(bodyAt(media, "mdhd"));
  if (timescale === 0) throw new Error("MP4 track has no timescale");
  const trex = bodyAt(moov, "mvex/trex");
  const defaults = { duration: trex.readUInt32BE(12), sizeBytes: trex.readUInt32BE(16), flags: trex.readUInt32BE(20) };
  return { kind: trackKind(bodyAt(media, "hdlr")), timescale, entry, defaults };
}

/** `stsd` has version, flags and the number of entries; the entries are boxes. */
export const STSD_HEADER_BYTES = 8;
export const sampleEntries = (stsd: Buffer): Box[] => boxesIn(stsd.subarray(STSD_HEADER_BYTES));

/** Ticks per second of `mvhd` or `mdhd`: version 1 has dates of 64 bits. */
export const timescaleOf = (header: Buffer): number => header.readUInt32BE(header.readUInt8(0) === 1 ? 20 : 12);

const KINDS: Readonly<Record<string, TrackKind>> = { vide: "video", soun: "audio" };

/** The kind of a track from its `hdlr`; null for other tracks. */
export const trackKind = (hdlr: Buffer): TrackKind | null => KINDS[hdlr.toString("latin1", 8, 12)] ?? null;

/** Bytes of a VisualSampleEntry or AudioSampleEntry before its boxes (ISO/IEC 14496-12 §12.1.3 and §12.2.3). */
const VISUAL_BYTES = 78;
const AUDIO_BYTES = 28;

/** Describes the codec of a sample entry. Throws for an unsupported codec. */
export function describeEntry({ type, body: entry }: Box): CodecDescription {
  const video = VIDEOS.get(type);
  if (video) {
    const boxes = entry.subarray(VISUAL_BYTES);
    const colr = boxesIn(boxes).find((box) => box.type === "colr")?.body ?? null;
    const codec = video.codecOf(bodyAt(boxes, video.box), colr);
    return { codec, video: { width: entry.readUInt16BE(24), height: entry.readUInt16BE(26) }, audio: null };
  }
  const known = AUDIOS.get(type);
  if (!known) throw new Error(`Unsupported MP4 codec ${JSON.stringify(type)}`);
  const { codec, ...audio } = known.audioOf(bodyAt(entry.subarray(AUDIO_BYTES), known.box));
  return { codec, video: null, audio };
}

type VideoEntry = { readonly box: string; readonly codecOf: (configuration: Buffer, colr: Buffer | null) => string };
type AudioEntry = { readonly box: string; readonly audioOf: (configuration: Buffer) => CodecAudio };

/** Sample entries by their types: the box with the decoder's configuration, and its reader. */
const VIDEOS: ReadonlyMap<string, VideoEntry> = new Map([
  ["avc1", { box: "avcC", codecOf: (avcc) => avcCodec("avc1", avcc.subarray(1)) }],
  ["hvc1", { box: "hvcC", codecOf: (hvcc) => hevcCodec("hvc1", hvcc) }],
  ["vp09", { box: "vpcC", codecOf: vp9Codec }],
  ["av01", { box: "av1C", codecOf: av1Codec }],
]);
const AUDIOS: ReadonlyMap<string, AudioEntry> = new Map([
  ["mp4a", { box: "esds", audioOf: (esds) => audioOfConfig(decoderConfig(esds)) }],
  ["Opus", { box: "dOps", audioOf: opusAudio }],
  ["fLaC", { box: "dfLa", audioOf: flacAudio }],
  ["ac-3", { box: "dac3", audioOf: audioOfDac3 }],
  ["ec-3", { box: "dec3", audioOf: audioOfDec3 }],
]);

// The descriptors that contain a decoder's configuration (ISO/IEC 14496-1 §7.2.6).

const ES = 3;
const DECODER_CONFIG = 4;
const DECODER_SPECIFIC = 5;
/** Object type, stream type, buffer size and two bitrates. */
const DECODER_CONFIG_BYTES = 13;
/** ISO/IEC 14496-3: the AAC family. */
const MPEG4_AUDIO = 0x40;

/**
 * Returns the DecoderSpecificInfo in the body of an `esds` box: for AAC, its AudioSpecificConfig. Throws for other
 * codecs.
 */
export function decoderConfig(esds: Buffer): Buffer {
  const stream = descriptor(esds.subarray(4), ES);
  const decoder = descriptor(stream.subarray(streamFieldBytes(stream)), DECODER_CONFIG);
  if (decoder.readUInt8(0) !== MPEG4_AUDIO) throw new Error(`Unsupported audio object type ${decoder.readUInt8(0)}`);
  return descriptor(decoder.subarray(DECODER_CONFIG_BYTES), DECODER_SPECIFIC);
}

/** Returns the body of the descriptor at the start of some bytes. Its size is coded in groups of seven bits. */
function descriptor(bytes: Buffer, tag: number): Buffer {
  if (bytes.readUInt8(0) !== tag) throw new Error(`MP4 descriptor ${bytes.readUInt8(0)} instead of ${tag}`);
  let sizeBytes = 0;
  let at = 1;
  for (let more = true; more; at += 1) {
    const byte = bytes.readUInt8(at);
    sizeBytes = sizeBytes * 128 + (byte & 0x7f);
    more = byte > 0x7f;
  }
  return bytes.subarray(at, at + sizeBytes);
}

/** Bytes of an ES_Descriptor before its first descriptor: an id, flags, and the optional fields. */
function streamFieldBytes(stream: Buffer): number {
  const flags = stream.readUInt8(2);
  const dependsOn = flags & 0x80 ? 2 : 0;
  const url = flags & 0x40 ? 1 + stream.readUInt8(3 + dependsOn) : 0;
  return 3 + dependsOn + url + (flags & 0x20 ? 2 : 0);
}
