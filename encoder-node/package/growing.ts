// Values that the playlists of a stream declare while it is still encoded. Pure.

/** Absent from complete playlists. */
export type Growing = {
  /** The duration of most segments. Playlists announce it before other segments exist. */
  readonly segmentSeconds: number;
  /** The length of the complete stream, in ms; null if unknown. */
  readonly expectedMs: number | null;
  /** Times in ms since 1970: when the first playlists were written, and when the current playlists are written. */
  readonly startedAt: number;
  readonly writtenAt: number;
  /** The number of first segments that bit rates are measured from. Values that playlists declare must not change. */
  readonly measuredSegments: number;
};

/** The target duration while a stream grows. It must not change, unless a longer segment requires it. */
export const growingTarget = ({ segmentSeconds }: Growing, measured: number): number =>
  Math.max(Math.ceil(segmentSeconds), measured);

/** A day: longer than sources of unknown length. */
const UNKNOWN_MS = 24 * 3600_000;

/**
 * The time that a manifest declares as the start of the stream. On this clock, a segment is available one duration
 * after its start, and an encoder may be faster than that. So the stream starts in the past, by its whole length.
 */
export const availabilityStart = ({ startedAt, expectedMs }: Growing): number =>
  Math.floor((startedAt - (expectedMs ?? UNKNOWN_MS)) / 1000) * 1000;
