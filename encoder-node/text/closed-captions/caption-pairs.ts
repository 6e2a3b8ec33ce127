// Finds the byte pairs of CEA-608 in the units of a video that may have captions (ATSC A/53 part 4 §6.2.3).
import { AppError } from "#shared/errors.ts";

/** Two bytes of a field at a time. Field 1 has CC1 and CC2, field 2 has CC3 and CC4. */
export type CaptionPair = {
  readonly ms: number;
  readonly field: 1 | 2;
  readonly first: number;
  readonly second: number;
};

/** Ten hours with both fields have as many. */
const MAX_PAIRS = 2_200_000;
/** The identifier, and the type of data that is captions. */
const MARK = Buffer.from("GA94\x03", "latin1");
/** The flags and the reserved byte, and 31 triplets. */
const MAX_BYTES = 2 + 31 * 3;
/** A unit of the bitstream: its time, and its place in the file. */
type Unit = { readonly ms: number; readonly from: number; readonly to: number };

/**
 * Pairs in the order in which viewers see them. `times`: packets with their times and sizes, in ffmpeg's format
 * framecrc. `data`: the content of these packets. Throws AppError `subtitle_failed` if there are too many pairs.
 */
export function captionPairs(data: Buffer, times: string): CaptionPair[] {
  const pairs: CaptionPair[] = [];
  for (const { ms, from, to } of unitsOf(times).toSorted((a, b) => a.ms - b.ms)) {
    for (const pair of pairsIn(data.subarray(from, to), ms)) {
      pairs.push(pair);
      if (pairs.length > MAX_PAIRS) throw new AppError("subtitle_failed", "they have too much data");
    }
  }
  return pairs;
}

/** Reads lines of `stream, dts, pts, duration, size, checksum`. */
function unitsOf(times: string): Unit[] {
  const [, numerator, denominator] = /^#tb 0: (\d+)\/(\d+)$/m.exec(times) ?? [];
  const tickMs = (1000 * Number(numerator ?? 0)) / Number(denominator ?? 1);
  const units: Unit[] = [];
  let from = 0;
  for (const [, dts, pts, size] of times.matchAll(/^0, *(-?\w+), *(-?\w+), *\d+, *(\d+),/gm)) {
    const to = from + Number(size);
    // ffmpeg knows no time of presentation for some packets.
    const ticks = [Number(pts), Number(dts)].find(Number.isSafeInteger) ?? 0;
    units.push({ ms: ticks * tickMs, from, to });
    from = to;
  }
  return units;
}

function* pairsIn(unit: Buffer, ms: number): Generator<CaptionPair> {
  for (let at = unit.indexOf(MARK); at >= 0; at = unit.indexOf(MARK, at + MARK.length)) {
    const bytes = withoutPrevention(unit, at + MARK.length);
    const [flags = 0] = bytes;
    const count = flags & 0x40 ? flags & 0x1f : 0;
    for (let from = 2; from + 2 < Math.min(bytes.length, 2 + count * 3); from += 3) {
      const [mark = 0, first = 0, second = 0] = bytes.slice(from, from + 3);
      const [isValid, type] = [(mark & 4) !== 0, mark & 3];
      const isPadding = ((first | second) & 0x7f) === 0;
      if (isValid && type < 2 && !isPadding) yield { ms, field: type === 0 ? 1 : 2, first, second };
    }
  }
}

/** Removes the bytes that prevent start codes inside units (ITU-T H.264 §7.4.1). MPEG-2 has none there. */
function withoutPrevention(unit: Buffer, from: number): number[] {
  const bytes: number[] = [];
  for (let at = from; at < unit.length && bytes.length < MAX_BYTES; at++) {
    if (unit[at] === 3 && unit[at - 1] === 0 && unit[at - 2] === 0) continue;
    bytes.push(unit[at] ?? 0);
  }
  return bytes;
}
