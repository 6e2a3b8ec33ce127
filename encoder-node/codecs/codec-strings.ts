// Codec strings for players (RFC 6381), from decoder configurations.
import type { TrackDescription } from "./segment.ts";

/** The part of a track's description that is in its bytes. The mean frame rate comes from the plan. */
export type CodecDescription = Pick<TrackDescription, "codec" | "audio"> & {
  /** Null for an audio track. */
  readonly video: { readonly width: number; readonly height: number } | null;
};

/** A codec of audio, with its channels and its rate. */
export type CodecAudio = { readonly codec: string; readonly channels: number; readonly sampleRateHz: number };

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

const twoDigits = (value: number): string => String(value).padStart(2, "0");

/**
 * `av01.0.08M.10`, from the body of av1C (AV1 Codec ISO Media File Format Binding §2.3 and §5). If the entry has the
 * body of a `colr`: `av01.0.08M.10.0.110.09.16.09.0`.
 */
export function av1Codec(av1c: Buffer, colr: Buffer | null): string {
  const [levels, flags] = [av1c.readUInt8(1), av1c.readUInt8(2)];
  const profile = levels >> 5;
  const isDeep = (flags & 0x40) > 0;
  const depth = isDeep ? (profile === 2 && flags & 0x20 ? 12 : 10) : 8;
  const codec = `av01.${profile}.${twoDigits(levels & 0x1f)}${flags & 0x80 ? "H" : "M"}.${twoDigits(depth)}`;
  if (colr?.toString("latin1", 0, 4) !== "nclx") return codec;
  const colors = [4, 6, 8].map((at) => twoDigits(colr.readUInt16BE(at)));
  const chroma = `${(flags >> 3) & 1}${(flags >> 2) & 1}${flags & 3}`;
  return [codec, (flags >> 4) & 1, chroma, ...colors, colr.readUInt8(10) >> 7].join(".");
}

/**
 * `vp09.00.31.08.01.01.01.01.00`, from the body of vpcC (VP Codec ISO Media File Format Binding): profile, level, bit
 * depth, chroma, primaries, transfer, matrix, range.
 */
export function vp9Codec(vpcc: Buffer): string {
  const at = (byte: number): number => vpcc.readUInt8(byte);
  const values = [at(4), at(5), at(6) >> 4, (at(6) >> 1) & 7, at(7), at(8), at(9), at(6) & 1];
  return ["vp09", ...values.map(twoDigits)].join(".");
}

/** OutputChannelCount is the second byte of dOps. The clock of Opus is 48 kHz, whatever its input was. */
export const opusAudio = (dops: Buffer): CodecAudio => ({
  codec: "opus",
  channels: dops.readUInt8(1),
  sampleRateHz: 48_000,
});

/** Reads the STREAMINFO block of dfLa, after version, flags and the block's header (RFC 9639 §8.2). */
export function flacAudio(dfla: Buffer): CodecAudio {
  const rateAndChannels = dfla.readUIntBE(4 + 4 + 10, 3);
  return { codec: "fLaC", channels: ((rateAndChannels >> 1) & 7) + 1, sampleRateHz: rateAndChannels >> 4 };
}

/** The bits of a 32-bit word in reverse order. */
function reversed(word: number): number {
  let result = 0;
  for (let at = 0; at < 32; at += 1) result = result * 2 + ((word >>> at) & 1);
  return result;
}
