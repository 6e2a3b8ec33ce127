// Reads the headers of AC-3 and E-AC-3 (ETSI TS 102 366): their boxes in MP4, and the frames of AC-3.
import { type Bits, readBits } from "./bits.ts";
import type { CodecAudio } from "./codec-strings.ts";

/** By fscod (§4.4.1.3). */
const SAMPLE_RATES_HZ = [48_000, 44_100, 32_000];
/** Channels without LFE, by acmod (§4.4.2.3). 0 is two independent channels. */
const CHANNELS = [2, 1, 2, 3, 3, 4, 4, 5];

/** Reads the body of `dac3` (annex F.4). */
export function audioOfDac3(dac3: Buffer): CodecAudio {
  const bits = readBits(dac3);
  const sampleRateHz = sampleRateOf(bits.take(2));
  bits.take(5 + 3); // bsid, bsmod
  return { codec: "ac-3", channels: takeChannels(bits), sampleRateHz };
}

/** Channels that a dependent substream adds, by the bits of chan_loc from the last to the first (table F.6.1). */
const ADDED = [2, 2, 1, 1, 2, 2, 2, 1, 1];

/** Reads the body of `dec3` (annex F.6): the first independent substream, and the channels that dependent ones add. */
export function audioOfDec3(dec3: Buffer): CodecAudio {
  const bits = readBits(dec3);
  bits.take(13 + 3); // data_rate, num_ind_sub
  const sampleRateHz = sampleRateOf(bits.take(2));
  bits.take(5 + 1 + 1 + 3); // bsid, reserved, asvc, bsmod
  const channels = takeChannels(bits);
  bits.take(3);
  const added = bits.take(4) > 0 ? bits.take(9) : 0;
  const more = ADDED.reduce((sum, count, bit) => sum + ((added >> bit) & 1) * count, 0);
  return { codec: "ec-3", channels: channels + more, sampleRateHz };
}

/** acmod and lfeon. */
const takeChannels = (bits: Bits): number => (CHANNELS[bits.take(3)] ?? 0) + bits.take(1);

function sampleRateOf(fscod: number): number {
  const rate = SAMPLE_RATES_HZ[fscod];
  if (rate === undefined) throw new Error("AC-3 has a reserved sample rate");
  return rate;
}

/** Bitrates in kbit/s, by frmsizecod without its last bit (table 4.13). */
const KBPS = [32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384, 448, 512, 576, 640];
const FRAME_SAMPLES = 1536;

/** Reads the header of a frame of AC-3 (§4.3.1, §4.3.2). Throws when there is none. */
export function audioOfAc3(frame: Buffer): CodecAudio & { readonly frameBytes: number } {
  const bits = readBits(frame);
  if (bits.take(16) !== 0x0b77) throw new Error("AC-3 in MPEG-TS has no sync word");
  bits.take(16);
  const sampleRateHz = sampleRateOf(bits.take(2));
  const sizeCode = bits.take(6);
  const kbps = KBPS[sizeCode >> 1];
  if (kbps === undefined) throw new Error("AC-3 has a reserved frame size");
  bits.take(5 + 3); // bsid, bsmod
  const acmod = bits.take(3);
  // Mix levels of the center, the surrounds, or two channels.
  bits.take((acmod & 1 && acmod !== 1 ? 2 : 0) + (acmod & 4 ? 2 : 0) + (acmod === 2 ? 2 : 0));
  const words = Math.floor((kbps * 1000 * FRAME_SAMPLES) / sampleRateHz / 16);
  const padding = sampleRateHz === 44_100 ? sizeCode & 1 : 0;
  return {
    codec: "ac-3",
    channels: (CHANNELS[acmod] ?? 0) + bits.take(1),
    sampleRateHz,
    frameBytes: (words + padding) * 2,
  };
}

/** The duration of the frames in a PES packet in seconds. */
export function secondsOfAc3(frames: Buffer): number {
  const { sampleRateHz } = audioOfAc3(frames);
  let count = 0;
  for (let at = 0; at + AC3_HEADER_BYTES <= frames.length; count++) at += audioOfAc3(frames.subarray(at)).frameBytes;
  return (count * FRAME_SAMPLES) / sampleRateHz;
}

/** Up to lfeon. */
const AC3_HEADER_BYTES = 8;
