// Codec strings for players (RFC 6381), from decoder configurations.
import type { TrackDescription } from "./segment.ts";

/** The part of a track's description that is in its bytes. The mean frame rate comes from the plan. */
export type CodecDescription = Pick<TrackDescription, "codec" | "audio"> & {
  /** Null for an audio track. */
  readonly video: { readonly width: number; readonly height: number } | null;
};

const hex = (value: number): string => value.toString(16).toUpperCase();

/**
 * `avc1.640028`. `profile` starts with profile_idc, constraint flags and level_idc, which follow the version in avcC.
 */
export function avcCodec(entry: string, profile: Buffer): string {
  if (profile.length < 3) throw new Error("H.264 configuration has no level");
  return `${entry}.${profile.toString("hex", 0, 3)}`;
}

/** `hvc1.1.6.L93.90`, from the body of hvcC (ISO/IEC 14496-15 annex E.3). */
export function hevcCodec(entry: string, hvcc: Buffer): string {
  const profile = hvcc.readUInt8(1);
  const space = ["", "A", "B", "C"][profile >> 6];
  const tier = profile & 0x20 ? "H" : "L";
  const constraints = [...hvcc.subarray(6, 12)];
  const used = constraints.slice(0, constraints.findLastIndex((byte) => byte !== 0) + 1);
  const compatibility = hex(reversed(hvcc.readUInt32BE(2)));
  return [entry, `${space}${profile & 0x1f}`, compatibility, `${tier}${hvcc.readUInt8(12)}`, ...used.map(hex)].join(
    ".",
  );
}

/** The bits of a 32-bit word in reverse order. */
function reversed(word: number): number {
  let result = 0;
  for (let at = 0; at < 32; at += 1) result = result * 2 + ((word >>> at) & 1);
  return result;
}
