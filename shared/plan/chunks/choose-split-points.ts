// Where a film is cut into chunks, and how many bits each gets.

import type { PossibleSplitPoint } from "../../media/frame-index.ts";
import type { ChunkSpan } from "../../protocol/chunks.ts";
import { MIN_CHUNKED_MS } from "../../protocol/chunks.ts";
import { type ChunkLengthOptions, chooseChunkLength } from "./chunk-length.ts";
import { type ChunkableSource, gridLineMs } from "./chunked-source.ts";

/** Whole multiples of segments (see `chunkGridMs`), for so many slots, beside so much sound. */
export type SplitOptions = Pick<ChunkLengthOptions, "segmentMs" | "slots" | "audioMs">;

export type ChosenChunks =
  | { readonly ok: true; readonly chunks: readonly ChunkSpan[] }
  /** Completes "It is not encoded in chunks because …". */
  | { readonly ok: false; readonly why: string };

/**
 * Shorter ones cost more than they bring: each is led in by some seconds that are decoded only, and begins with a rate
 * control that knows nothing (docs/ultrafast.md).
 */
const SHORTEST_MS = 24_000;
/** The last chunk is what all others wait for. */
const LONGEST_MS = 60_000;
/** Eleven hours of the shortest: all that a report's split points can name (MAX_SPLIT_POINTS) when they are two seconds apart. */
export const MAX_CHUNKS = 1_700;
/** A chunk is at least so many times as long as the longest way back to a keyframe. */
const GOPS_PER_CHUNK = 2;
/**
 * Mean bitrates follow the source's own with this power: what is hard for one encoder is hard for another, but a film
 * encoded whole does not spend all of the difference either (docs/ultrafast.md).
 */
const SHARE_POWER = 0.5;

/** Cuts a film into chunks of equal lengths, as far as there are places for that. */
export function chooseSplitPoints(film: ChunkableSource, wish: SplitOptions): ChosenChunks {
  const lengthMs = (film.endUs - film.startUs) / 1000;
  const leastMs = Math.max(SHORTEST_MS, GOPS_PER_CHUNK * film.longestGopMs);
  if (lengthMs <= MIN_CHUNKED_MS) return refused(`the film is no longer than ${MIN_CHUNKED_MS / 1000} s`);
  if (wish.slots < 2) return refused("there are no two nodes or slots to share it");
  if (leastMs > LONGEST_MS) {
    return refused(
      `its keyframes are up to ${(film.longestGopMs / 1000).toFixed(1)} s apart, too far to begin within it`,
    );
  }
  const cuts: PossibleSplitPoint[] = [];
  const wantedMs = chooseChunkLength({ ...wish, lengthMs, leastMs, mostMs: LONGEST_MS });
  let fromMs = 0;
  for (const cut of film.splitPoints) {
    const atMs = gridLineMs(film, cut);
    if (atMs % wish.segmentMs !== 0 || atMs < fromMs + wantedMs) continue;
    // A rest that is too short for a chunk of its own goes along with the one before it.
    if (lengthMs - atMs < leastMs / 2) break;
    cuts.push(cut);
    fromMs = atMs;
  }
  if (cuts.length >= MAX_CHUNKS) return refused(`it is too long: it would have more than ${MAX_CHUNKS} chunks`);
  const longestMs = Math.max(
    ...lengthsMs(
      cuts.map((cut) => gridLineMs(film, cut)),
      lengthMs,
    ),
  );
  if (cuts.length === 0) return refused("there are too few places where it can be cut exactly");
  if (longestMs > 2 * LONGEST_MS) return refused("the places where it can be cut exactly are too far apart");
  return { ok: true, chunks: chunkSpans(film, cuts) };
}

const refused = (why: string): ChosenChunks => ({ ok: false, why });

const lengthsMs = (linesMs: readonly number[], endMs: number): number[] =>
  [...linesMs, endMs].map((line, at) => line - (linesMs[at - 1] ?? 0));

/** The chunks between these cuts. */
export function chunkSpans(film: ChunkableSource, cuts: readonly PossibleSplitPoint[]): ChunkSpan[] {
  const { startUs, longestGopMs } = film;
  const begins = [null, ...cuts];
  const shares = sharesOf(film, cuts);
  return begins.map((from, index) => {
    const to = cuts[index] ?? null;
    const frames = (to?.index ?? film.frames) - (from?.index ?? 0);
    return { index, from, to, frames, startUs, longestGopMs, share: shares[index] ?? 1 };
  });
}

/** By the coded size of each chunk in the source; together they spend the film's mean. */
function sharesOf(film: ChunkableSource, cuts: readonly PossibleSplitPoint[]): number[] {
  const lengths = lengthsMs(
    cuts.map(({ frameUs }) => (frameUs - film.startUs) / 1000),
    (film.endUs - film.startUs) / 1000,
  );
  const sizes = [...cuts.map(({ bytes }) => bytes), film.bytes].map((end, at) => end - (cuts[at - 1]?.bytes ?? 0));
  const weights = sizes.map((size, at) => (size / (lengths[at] ?? 1)) ** SHARE_POWER);
  const whole = lengths.reduce((sum, length) => sum + length, 0);
  const mean = weights.reduce((sum, weight, at) => sum + weight * (lengths[at] ?? 0), 0) / whole;
  return weights.map((weight) => Number((weight / mean).toFixed(4)));
}
