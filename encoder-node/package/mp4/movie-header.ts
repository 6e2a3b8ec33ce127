// What the head of a fragmented MP4 file (`moov`) with one track says of it.
import { soundOfConfig } from "../codecs/aac.ts";
import { avcCodec, type CodecDescription, hevcCodec } from "../codecs/codec-strings.ts";
import { bodyAt, boxesIn } from "./boxes.ts";
import { decoderConfig } from "./esds.ts";

/** What samples are when their fragment does not say otherwise (`trex`). */
export type SampleDefaults = { readonly duration: number; readonly sizeBytes: number; readonly flags: number };

export type MovieHeader = {
  readonly track: CodecDescription & { readonly timescale: number };
  readonly defaults: SampleDefaults;
};

/** Reads the body of a `moov`. Throws when it has other than one track, or that is of a codec that no stream has. */
export function readMovieHeader(moov: Buffer): MovieHeader {
  const media = bodyAt(moov, "trak/mdia");
  // Version, flags and the number of entries come first.
  const [entry, ...others] = boxesIn(bodyAt(media, "minf/stbl/stsd").subarray(8));
  if (!entry || others.length > 0) throw new Error("A track needs one sample entry");
  const trex = bodyAt(moov, "mvex/trex");
  return {
    track: { timescale: timescaleOf(bodyAt(media, "mdhd")), ...describe(entry.type, entry.body) },
    defaults: { duration: trex.readUInt32BE(12), sizeBytes: trex.readUInt32BE(16), flags: trex.readUInt32BE(20) },
  };
}

function timescaleOf(mdhd: Buffer): number {
  const timescale = mdhd.readUInt32BE(mdhd.readUInt8(0) === 1 ? 20 : 12);
  if (timescale === 0) throw new Error("A track without a timescale");
  return timescale;
}

/** Bytes of a VisualSampleEntry, or AudioSampleEntry, before the boxes in it (ISO/IEC 14496-12 §12.1.3 and §12.2.3). */
const VISUAL_BYTES = 78;
const AUDIO_BYTES = 28;

function describe(type: string, entry: Buffer): CodecDescription {
  switch (type) {
    case "avc1":
      return { codec: avcCodec(type, configuration(entry, VISUAL_BYTES, "avcC").subarray(1)), ...pictureOf(entry) };
    case "hvc1":
      return { codec: hevcCodec(type, configuration(entry, VISUAL_BYTES, "hvcC")), ...pictureOf(entry) };
    case "mp4a": {
      const { codec, ...sound } = soundOfConfig(decoderConfig(configuration(entry, AUDIO_BYTES, "esds")));
      return { codec, picture: null, sound };
    }
    default:
      throw new Error(`A track of the codec ${JSON.stringify(type)}`);
  }
}

const configuration = (entry: Buffer, skipBytes: number, type: string): Buffer =>
  bodyAt(entry.subarray(skipBytes), type);

const pictureOf = (entry: Buffer) => ({
  picture: { width: entry.readUInt16BE(24), height: entry.readUInt16BE(26) },
  sound: null,
});
