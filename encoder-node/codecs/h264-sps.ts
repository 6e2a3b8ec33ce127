// Reads codec string and frame size from a sequence parameter set of H.264 (ITU-T H.264 §7.3.2.1.1).
import { type Bits, readBits } from "./bits.ts";
import { avcCodec } from "./codec-strings.ts";

export type H264Video = { readonly codec: string; readonly width: number; readonly height: number };

const SPS = 7;

/** Returns the first sequence parameter set of a byte stream (annex B). Null if no parameter set is complete. */
export function findSps(stream: Buffer): Buffer | null {
  for (let at = startCode(stream, 0); at >= 0; ) {
    const next = startCode(stream, at + 3);
    const unit = stream.subarray(at + 3, next < 0 ? stream.length : next);
    if (next >= 0 && (unit.at(0) ?? 0) % 32 === SPS) return unit;
    at = next;
  }
  return null;
}

const startCode = (stream: Buffer, from: number): number => stream.indexOf("000001", from, "hex");

/** Profiles whose parameter sets contain chroma format, bit depth and scaling lists. */
const HIGH_PROFILES = new Set([100, 110, 122, 244, 44, 83, 86, 118, 128, 138, 139, 134, 135]);

/** Codec (`avc1.640028`) and cropped size in pixels. `sps` is the whole NAL unit. Throws RangeError when truncated. */
export function describeSps(sps: Buffer): H264Video {
  const bits = readBits(withoutEmulation(sps.subarray(1)));
  const profile = bits.take(8);
  bits.take(16); // constraint flags and level
  bits.takeGolomb();
  const chroma = HIGH_PROFILES.has(profile) ? takeChroma(bits) : 1;
  bits.takeGolomb(); // log2_max_frame_num
  skipOrderCount(bits);
  bits.takeGolomb(); // max_num_ref_frames
  bits.take(1);
  const columns = bits.takeGolomb() + 1;
  const rows = bits.takeGolomb() + 1;
  const isProgressive = bits.take(1) === 1;
  if (!isProgressive) bits.take(1);
  bits.take(1);
  const [left, right, top, bottom] = bits.take(1) ? takeFour(bits) : [0, 0, 0, 0];
  // Crop units: table 6-1 and equations 7-19 to 7-22.
  const unitX = chroma === 1 || chroma === 2 ? 2 : 1;
  const unitY = (chroma === 1 ? 2 : 1) * (isProgressive ? 1 : 2);
  return {
    codec: avcCodec("avc1", sps.subarray(1)),
    width: columns * 16 - (left + right) * unitX,
    height: rows * 16 * (isProgressive ? 1 : 2) - (top + bottom) * unitY,
  };
}

/** The bytes 00 00 03 represent 00 00 (§7.4.1.1). */
function withoutEmulation(unit: Buffer): Buffer {
  return Buffer.from(unit.filter((byte, at) => byte !== 3 || at < 2 || unit[at - 1] !== 0 || unit[at - 2] !== 0));
}

const takeFour = (bits: Bits): [number, number, number, number] => [
  bits.takeGolomb(),
  bits.takeGolomb(),
  bits.takeGolomb(),
  bits.takeGolomb(),
];

/** Returns chroma_format_idc. */
function takeChroma(bits: Bits): number {
  const chroma = bits.takeGolomb();
  if (chroma === 3) bits.take(1);
  bits.takeGolomb();
  bits.takeGolomb(); // bit depths
  bits.take(1);
  if (bits.take(1)) skipScalingLists(bits, chroma === 3 ? 12 : 8);
  return chroma;
}

/** §7.3.2.1.1.1: a list ends where the next scale is 0. */
function skipScalingLists(bits: Bits, count: number): void {
  for (let list = 0; list < count; list += 1) {
    if (!bits.take(1)) continue;
    let scale = 8;
    for (let left = list < 6 ? 16 : 64; left > 0 && scale !== 0; left -= 1) {
      scale = (scale + bits.takeSignedGolomb() + 256) % 256;
    }
  }
}

function skipOrderCount(bits: Bits): void {
  const type = bits.takeGolomb();
  if (type === 0) bits.takeGolomb();
  if (type !== 1) return;
  bits.take(1);
  bits.takeSignedGolomb();
  bits.takeSignedGolomb();
  for (let left = bits.takeGolomb(); left > 0; left -= 1) bits.takeSignedGolomb();
}
