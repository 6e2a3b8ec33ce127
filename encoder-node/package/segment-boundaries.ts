// Puts pieces of a track together to segments: where these begin, how long they are, and what becomes of the last.
import type { TrackKind } from "#shared/plan/command/output-plan.ts";
import { STREAM_START_SECONDS } from "#shared/plan/streams/planned-stream.ts";
import type { Keyframe, Segment } from "./segment.ts";

/** What a segment is made of, and cannot be cut further; times in ticks. */
export type Piece = {
  /** When its first frame is shown. */
  readonly start: number;
  /** When its last frame ends. */
  readonly end: number;
  readonly sizeBytes: number;
  /** Their offsets are the piece's own. */
  readonly keyframes: readonly Keyframe[];
};

export type CutRule = {
  /** Shorter segments are not made, unless the whole track is shorter; in ticks. */
  readonly shortest: number;
  /** Whether a new segment begins with a piece, when the last one began at `segmentStart`. */
  readonly startsNew: (segmentStart: number, pieceStart: number) => boolean;
};

export type CutSegment<P extends Piece> = { readonly segment: Segment; readonly pieces: readonly [P, ...P[]] };
export type Cut<P extends Piece> = { readonly segments: readonly CutSegment<P>[]; readonly waiting: readonly P[] };

/**
 * Takes the pieces that are in no segment yet, in their order, and answers the segments that are sure and the pieces that
 * must wait for more. The last segment is sure at the end only, and joined to the one before when it is very short:
 * hls.js stalls at the end of a stream whose last segment is a few frames of sound. Throws when pieces are out of order.
 */
export function cutSegments<P extends Piece>(pieces: readonly P[], rule: CutRule, ended: boolean): Cut<P> {
  const groups = groupPieces(pieces, rule);
  const tail = groups.at(-1);
  const isTailShort = tail !== undefined && endOf(tail) - tail[0].start < rule.shortest;
  const joined = ended && isTailShort && groups.length > 1 ? joinTail(groups) : groups;
  const sure = ended ? joined.length : Math.max(0, joined.length - (isTailShort ? 2 : 1));
  return {
    segments: joined.slice(0, sure).map((group, at) => ({
      pieces: group,
      segment: segmentOf(group, joined[at + 1]?.[0].start ?? endOf(group)),
    })),
    waiting: joined.slice(sure).flat(),
  };
}

/** How far from a line of the grid a segment may begin, in seconds: half a millisecond of rounding, half a fragment of sound. */
const TOLERANCE_SECONDS = { video: 0.0005, audio: 0.25 } as const satisfies Record<TrackKind, number>;

const SHORTEST_SECONDS = 0.5;

export type Grid = { readonly timescale: number; readonly segmentSeconds: number; readonly kind: TrackKind };

/**
 * Segments begin at the first piece behind each line of a grid, which begins at the output's time 0, and of sound at the
 * piece that is nearest to it. Where many lines are passed at once, there is one long segment; one that begins only just
 * before a line, as after a gap, goes on to the next line.
 */
export function gridRule({ timescale, segmentSeconds, kind }: Grid): CutRule {
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

function groupPieces<P extends Piece>(pieces: readonly P[], rule: CutRule): Group<P>[] {
  const groups: Group<P>[] = [];
  let before = Number.NEGATIVE_INFINITY;
  for (const piece of pieces) {
    if (piece.start <= before) throw new Error(`A piece of a track at ${piece.start} behind one at ${before}`);
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
