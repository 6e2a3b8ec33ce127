// Assembles segments from the pieces of a track: chooses the boundaries and handles the last segment.
import type { TrackKind } from "#shared/plan/source/source-tracks.ts";
import { STREAM_START_SECONDS } from "#shared/plan/streams/planned-stream.ts";
import type { Keyframe, Piece, Segment } from "../codecs/segment.ts";

export type BoundaryRule = {
  /** The minimum duration of a segment, in ticks, unless the whole track is shorter. */
  readonly shortest: number;
  /** True if a piece starts a new segment after a segment that started at `segmentStart`. */
  readonly startsNew: (segmentStart: number, pieceStart: number) => boolean;
};

export type AssembledSegment<P extends Piece> = { readonly segment: Segment; readonly pieces: readonly [P, ...P[]] };
export type Assembly<P extends Piece> = {
  readonly segments: readonly AssembledSegment<P>[];
  readonly waiting: readonly P[];
};

/**
 * Takes the pieces that are not in a segment yet, in order. Returns the final segments, and the pieces that must wait
 * for more. The last segment is final only at the end of the track. A very short last segment becomes part of the
 * segment before it: hls.js stalls at the end of a stream whose last segment is a few frames of audio. Throws when
 * pieces are out of order.
 */
export function assembleSegments<P extends Piece>(
  pieces: readonly P[],
  rule: BoundaryRule,
  ended: boolean,
): Assembly<P> {
  const groups = groupPieces(pieces, rule);
  const tail = groups.at(-1);
  const isTailShort = tail !== undefined && endOf(tail) - tail[0].start < rule.shortest;
  const joined = ended && isTailShort && groups.length > 1 ? joinTail(groups) : groups;
  const final = ended ? joined.length : Math.max(0, joined.length - (isTailShort ? 2 : 1));
  return {
    segments: joined
      .slice(0, final)
      .map((group, at) => ({ pieces: group, segment: segmentOf(group, joined[at + 1]?.[0].start ?? endOf(group)) })),
    waiting: joined.slice(final).flat(),
  };
}

/**
 * Tolerance in seconds: a segment may start this long before a grid time. Half a millisecond of rounding for video,
 * half a fragment for audio.
 */
const TOLERANCE_SECONDS = { video: 0.0005, audio: 0.25 } as const satisfies Record<TrackKind, number>;

const SHORTEST_SECONDS = 0.5;

export type Grid = { readonly timescale: number; readonly segmentSeconds: number; readonly kind: TrackKind };

/**
 * The grid has a time every `segmentSeconds`, starting at the output's time 0. A video segment starts at the first
 * piece at or after a grid time, an audio segment at the nearest piece. A gap over several grid times results in a
 * single long segment. A segment that starts just before a grid time, as after a gap, extends to the next grid time.
 */
export function gridRule({ timescale, segmentSeconds, kind }: Grid): BoundaryRule {
  const shortest = SHORTEST_SECONDS * timescale;
  const tolerance = TOLERANCE_SECONDS[kind] * timescale;
  const cellOf = (ticks: number): number =>
    Math.max(0, Math.floor((ticks / timescale - STREAM_START_SECONDS) / segmentSeconds));
  return {
    shortest,
    startsNew: (segmentStart, pieceStart) => cellOf(pieceStart + tolerance) > cellOf(segmentStart + shortest),
  };
}

type Group<P> = [P, ...P[]];

function groupPieces<P extends Piece>(pieces: readonly P[], rule: BoundaryRule): Group<P>[] {
  const groups: Group<P>[] = [];
  let before = Number.NEGATIVE_INFINITY;
  for (const piece of pieces) {
    if (piece.start <= before) throw new Error(`Track piece at ${piece.start} follows one at ${before}`);
    before = piece.start;
    const group = groups.at(-1);
    if (!group || rule.startsNew(group[0].start, piece.start)) groups.push([piece]);
    else group.push(piece);
  }
  return groups;
}

function joinTail<P>(groups: readonly Group<P>[]): Group<P>[] {
  const [first, ...rest] = groups.slice(-2).flat();
  return first === undefined ? [] : [...groups.slice(0, -2), [first, ...rest]];
}

const endOf = (group: Group<Piece>): number => group.reduce((end, piece) => Math.max(end, piece.end), group[0].end);

function segmentOf(group: Group<Piece>, end: number): Segment {
  const keyframes: Keyframe[] = [];
  let sizeBytes = 0;
  for (const piece of group) {
    const from = sizeBytes;
    keyframes.push(...piece.keyframes.map((keyframe) => ({ ...keyframe, offset: from + keyframe.offset })));
    sizeBytes += piece.sizeBytes;
  }
  return { start: group[0].start, duration: end - group[0].start, sizeBytes, keyframes };
}
