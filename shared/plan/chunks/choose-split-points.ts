// Chooses where a video is split into chunks, and how many bits each chunk gets.
import type { PossibleSplitPoint } from "../../media/frame-index.ts";
import { type ChunkSpan, MIN_CHUNKED_MS } from "../../protocol/chunks.ts";
import { err, ok, type Result } from "../../result.ts";
import { type ChunkLengthOptions, chooseChunkLength } from "./chunk-length.ts";
import { type ChunkableSource, gridLineMs } from "./chunkable-source.ts";

/** Chunks are whole multiples of `segmentMs` (see `chunkGridMs`). */
export type SplitOptions = Pick<ChunkLengthOptions, "segmentMs" | "slots" | "audioMs" | "isPlayedEarly"> & {
  /** Defaults to the lengths for chunks on several nodes. */
  readonly lengths?: SplitLengths;
};

/** Limits for the length of a video that is split, and for the length of its chunks. */
export type SplitLengths = {
  /** Only longer videos are split. */
  readonly longerThanMs: number;
  readonly shortestMs: number;
};

/**
 * Shorter chunks cost more than they save. Each chunk decodes some seconds of preroll, and its rate control starts
 * without any knowledge (docs/ultrafast.md).
 */
const ON_NODES: SplitLengths = { longerThanMs: MIN_CHUNKED_MS, shortestMs: 24_000 };
/** Upper bound of the chosen length, because all other chunks wait for the last chunk. */
const LONGEST_MS = 60_000;
/**
 * Eleven hours of the shortest chunks. A report can hold this many split points at a distance of two seconds
 * (MAX_SPLIT_POINTS).
 */
export const MAX_CHUNKS = 1_700;
/** A chunk is at least this many times as long as the longest distance between keyframes. */
const GOPS_PER_CHUNK = 2;
/**
 * Exponent that maps the source's bitrate in a chunk to the chunk's mean bitrate. A scene that is hard for one encoder
 * is hard for another encoder. An encoder of the whole video does not spend all of the difference either
 * (docs/ultrafast.md).
 */
const SHARE_POWER = 0.5;
/**
 * Part of the encoding time that does not depend on the bitrate share. Measured with x264 on twelve clips of equal size
 * and rate (docs/benchmarks.md).
 */
const FIXED_COST = 1 / 3;

/**
 * Splits a video into chunks that take equally long to encode, as far as its split points allow. The error completes
 * "It is not encoded in chunks because …".
 */
export function chooseSplitPoints(source: ChunkableSource, options: SplitOptions): Result<ChunkSpan[], string> {
  const { longerThanMs, shortestMs } = options.lengths ?? ON_NODES;
  const lengthMs = (source.endUs - source.startUs) / 1000;
  const leastMs = Math.max(shortestMs, GOPS_PER_CHUNK * source.longestGopMs);
  if (lengthMs <= longerThanMs) return err(`the video is no longer than ${longerThanMs / 1000} s`);
  if (options.slots < 2) return err("there are no two nodes or slots to share it");
  if (leastMs > LONGEST_MS) {
    return err(
      `its keyframes are up to ${(source.longestGopMs / 1000).toFixed(1)} s apart, too far to start within it`,
    );
  }
  const chunkMs = chooseChunkLength({ ...options, lengthMs, leastMs, mostMs: LONGEST_MS });
  const points = pointsEvery(chunkMs, source, { segmentMs: options.segmentMs, lengthMs, leastMs });
  if (points.length >= MAX_CHUNKS) return err(`it is too long: it would have more than ${MAX_CHUNKS} chunks`);
  const linesMs = points.map((point) => gridLineMs(source, point));
  if (points.length === 0) return err("it has too few exact split points");
  if (Math.max(...differences(linesMs, lengthMs)) > 2 * LONGEST_MS)
    return err("its exact split points are too far apart");
  return ok(chunkSpans(source, points));
}

type Lengths = { readonly segmentMs: number; readonly lengthMs: number; readonly leastMs: number };

/**
 * The split points nearest to each multiple of `chunkMs`, at multiples of the segment length. Time counts as encoding
 * time: frames of the source's mean bitrate count as long as they are shown. No chunk is much longer than LONGEST_MS.
 */
function pointsEvery(
  chunkMs: number,
  source: ChunkableSource,
  { segmentMs, lengthMs, leastMs }: Lengths,
): PossibleSplitPoint[] {
  const shares = sharesOf(source, source.splitPoints);
  const points: PossibleSplitPoint[] = [];
  let from = { atMs: 0, costMs: 0 };
  let here = from;
  for (const [index, point] of source.splitPoints.entries()) {
    const atMs = gridLineMs(source, point);
    const share = FIXED_COST + (1 - FIXED_COST) * (shares[index] ?? 1);
    here = { atMs, costMs: here.costMs + share * (atMs - here.atMs) };
    const isEnd = here.costMs >= from.costMs + chunkMs - segmentMs / 2 || atMs >= from.atMs + LONGEST_MS;
    if (atMs % segmentMs !== 0 || !isEnd) continue;
    // A remainder that is too short becomes part of the chunk before it.
    if (lengthMs - here.costMs < leastMs / 2) break;
    points.push(point);
    from = here;
  }
  return points;
}

/** Differences between neighboring values. The first difference starts at 0, the last ends at `end`. */
const differences = (values: readonly number[], end: number): number[] =>
  [...values, end].map((value, at) => value - (values[at - 1] ?? 0));

/** The chunks between the split points. */
export function chunkSpans(source: ChunkableSource, points: readonly PossibleSplitPoint[]): ChunkSpan[] {
  const { startUs, longestGopMs } = source;
  const shares = sharesOf(source, points);
  return [null, ...points].map((from, index) => {
    const to = points[index] ?? null;
    const frames = (to?.index ?? source.frames) - (from?.index ?? 0);
    return { index, from, to, frames, startUs, longestGopMs, share: shares[index] ?? 1 };
  });
}

/**
 * Bitrate shares of the chunks, by their coded size in the source. Together the chunks have the video's mean bitrate.
 */
function sharesOf(source: ChunkableSource, points: readonly PossibleSplitPoint[]): number[] {
  const lengths = differences(
    points.map(({ frameUs }) => (frameUs - source.startUs) / 1000),
    (source.endUs - source.startUs) / 1000,
  );
  const sizes = differences(
    points.map(({ bytes }) => bytes),
    source.bytes,
  );
  const weights = sizes.map((size, at) => (size / (lengths[at] ?? 1)) ** SHARE_POWER);
  const total = lengths.reduce((sum, length) => sum + length, 0);
  const mean = weights.reduce((sum, weight, at) => sum + weight * (lengths[at] ?? 0), 0) / total;
  return weights.map((weight) => Number((weight / mean).toFixed(4)));
}
