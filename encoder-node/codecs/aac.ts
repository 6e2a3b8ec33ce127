// Reads the headers of AAC: AudioSpecificConfig (ISO/IEC 14496-3 §1.6.2.1) and ADTS (§1.A.2.2).
import { type Bits, readBits } from "./bits.ts";
import type { CodecAudio } from "./codec-strings.ts";

/** ISO/IEC 14496-3 table 1.18. */
const SAMPLE_RATES_HZ = [
  96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8000, 7350,
];
/** Table 1.19, by channel configuration. 0, a program config element, does not occur: browsers cannot decode it. */
const CHANNELS = [null, 1, 2, 3, 4, 5, 6, 8];

/** Reads the DecoderSpecificInfo of an MP4 track. Throws for an unknown sample rate or channel configuration. */
export function audioOfConfig(config: Buffer): CodecAudio {
  const bits = readBits(config);
  const short = bits.take(5);
  const objectType = short === 31 ? 32 + bits.take(6) : short;
  const sampleRateHz = takeSampleRate(bits);
  return describe(objectType, sampleRateHz, bits.take(4));
}

/** Reads the header of a frame in MPEG-TS. Throws when there is none. */
export function audioOfAdts(frame: Buffer): CodecAudio {
  const bits = readBits(frame);
  if (bits.take(12) !== 0xfff) throw new Error("AAC in MPEG-TS has no ADTS header");
  bits.take(4); // MPEG version, layer, absence of a checksum
  const objectType = bits.take(2) + 1;
  const sampleRateHz = takeSampleRate(bits);
  bits.take(1);
  return describe(objectType, sampleRateHz, bits.take(3));
}

/** Samples per frame (ISO/IEC 14496-3 §4.5.1.1; broadcast radio has 960). */
const FRAME_SAMPLES = 1024;

/** The duration of the frames in a PES packet in seconds. Each frame has a header with its size. */
export function secondsOfAdts(frames: Buffer): number {
  const { sampleRateHz } = audioOfAdts(frames);
  let count = 0;
  for (let at = 0; at + ADTS_HEADER_BYTES <= frames.length; count++) {
    const sizeBytes = (frames.readUIntBE(at + 3, 3) >> 5) & 0x1fff;
    if (sizeBytes < ADTS_HEADER_BYTES) throw new Error("AAC frame is shorter than its header");
    at += sizeBytes;
  }
  return (count * FRAME_SAMPLES) / sampleRateHz;
}

/** Without a checksum. */
const ADTS_HEADER_BYTES = 7;

function takeSampleRate(bits: Bits): number {
  const index = bits.take(4);
  // 15: the rate follows in Hz.
  const rate = index === 15 ? bits.take(24) : SAMPLE_RATES_HZ[index];
  if (!rate) throw new Error(`AAC has unknown sample rate index ${index}`);
  return rate;
}

function describe(objectType: number, sampleRateHz: number, configuration: number): CodecAudio {
  const channels = CHANNELS[configuration];
  if (!channels) throw new Error(`AAC has unknown channel configuration ${configuration}`);
  return { codec: `mp4a.40.${objectType}`, channels, sampleRateHz };
}
