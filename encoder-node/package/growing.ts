// What the playlists of a stream declare while it is still encoded. Pure.

/** Absent from playlists that are complete. */
export type Growing = {
  /** The duration of most segments, which playlists announce before there are others. */
  readonly segmentSeconds: number;
  /** The length of the complete stream, in ms; null: not known. */
  readonly expectedMs: number | null;
  /** When the first playlists were written, and when these are, in ms since 1970. */
  readonly startedAt: number;
  readonly writtenAt: number;
  /** The first segments, from which bit rates are measured: what playlists have declared must not change. */
  readonly measuredSegments: number;
};

/** The target duration while a stream grows: it must not change, unless a longer segment requires it. */
export const growingTarget = ({ segmentSeconds }: Growing, measured: number): number =>
  Math.max(Math.ceil(segmentSeconds), measured);

/** A day: longer than sources of unknown length. */
const UNKNOWN_MS = 24 * 3600_000;

/**
 * The time that a manifest declares as that of the stream's beginning. Segments are available one duration after their
 * start on this clock, and an encoder may be faster than that: so the stream begins in the past, by its whole length.
 */
export const availabilityStart = ({ startedAt, expectedMs }: Growing): number =>
  Math.floor((startedAt - (expectedMs ?? UNKNOWN_MS)) / 1000) * 1000;
