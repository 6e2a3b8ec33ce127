// Reads the track description from the head (`moov`) of a fragmented MP4 file with a single track.
import { audioOfConfig } from "../codecs/aac.ts";
import { avcCodec, type CodecDescription, hevcCodec } from "../codecs/codec-strings.ts";
import { bodyAt, boxesIn } from "./boxes.ts";
import { decoderConfig } from "./esds.ts";

/** The defaults for samples (`trex`), which a fragment may override. */
export type SampleDefaults = { readonly duration: number; readonly sizeBytes: number; readonly flags: number };

export type MovieHeader = {
  readonly track: CodecDescription & { readonly timescale: number };
  readonly defaults: SampleDefaults;
};

/** Reads the body of a `moov`. Throws when it does not have exactly one track, or has an unsupported codec. */
export function readMovieHeader(moov: Buffer): MovieHeader {
  const media = bodyAt(moov, "trak/mdia");
  // The first 8 bytes are version, flags and the number of entries.
  const [entry, ...others] = boxesIn(bodyAt(media, "minf/stbl/stsd").subarray(8));
  if (!entry || others.length > 0) throw new Error("MP4 track has more or less than one sample entry");
  const trex = bodyAt(moov, "mvex/trex");
  return {
    track: { timescale: timescaleOf(bodyAt(media, "mdhd")), ...describe(entry.type, entry.body) },
    defaults: { duration: trex.readUInt32BE(12), sizeBytes: trex.readUInt32BE(16), flags: trex.readUInt32BE(20) },
  };
}

function timescaleOf(mdhd: Buffer): number {
  const timescale = mdhd.readUInt32BE(mdhd.readUInt8(0) === 1 ? 20 : 12);
  if (timescale === 0) throw new Error("MP4 track has no timescale");
  return timescale;
}

/** Bytes of a VisualSampleEntry or AudioSampleEntry before its boxes (ISO/IEC 14496-12 §12.1.3 and §12.2.3). */
const VISUAL_BYTES = 78;
const AUDIO_BYTES = 28;

function describe(type: string, entry: Buffer): CodecDescription {
  switch (type) {
    case "avc1":
      return { codec: avcCodec(type, configuration(entry, VISUAL_BYTES, "avcC").subarray(1)), ...sizeOf(entry) };
    case "hvc1":
      return { codec: hevcCodec(type, configuration(entry, VISUAL_BYTES, "hvcC")), ...sizeOf(entry) };
    case "mp4a": {
      const { codec, ...audio } = audioOfConfig(decoderConfig(configuration(entry, AUDIO_BYTES, "esds")));
      return { codec, video: null, audio };
    }
    default:
      throw new Error(`Unsupported MP4 codec ${JSON.stringify(type)}`);
  }
}

const configuration = (entry: Buffer, skipBytes: number, type: string): Buffer =>
  bodyAt(entry.subarray(skipBytes), type);

const sizeOf = (entry: Buffer) => ({
  video: { width: entry.readUInt16BE(24), height: entry.readUInt16BE(26) },
  audio: null,
});
