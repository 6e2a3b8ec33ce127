// What players call codecs (RFC 6381), from the configurations that decoders get.
import type { TrackDescription } from "../segment.ts";

/** What the bytes of a track tell of it: the mean of its frame rate is the planner's to say. */
export type CodecDescription = Pick<TrackDescription, "codec" | "sound"> & {
  /** Null for sound. */
  readonly picture: { readonly width: number; readonly height: number } | null;
};

const hex = (value: number): string => value.toString(16).toUpperCase();

/** `avc1.640028`. `profile` begins with profile_idc, constraint flags and level_idc: in avcC behind the version. */
export function avcCodec(entry: string, profile: Buffer): string {
  if (profile.length < 3) throw new Error("An H.264 configuration without a level");
  return `${entry}.${profile.toString("hex", 0, 3)}`;
}

/** `hvc1.1.6.L93.90`, from the body of hvcC, by ISO/IEC 14496-15 annex E.3. */
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

/** The bits of a 32 bit word, the last one first. */
function reversed(word: number): number {
  let result = 0;
  for (let at = 0; at < 32; at += 1) result = result * 2 + ((word >>> at) & 1);
  return result;
}
