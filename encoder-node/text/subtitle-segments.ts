// Splits text tracks into WebVTT segments for HLS. Text segments and media segments have different durations.
import { STREAM_START_SECONDS } from "#shared/plan/streams/planned-stream.ts";
import { blockOf, type Cue, type WebVtt, webVttText } from "./subtitle-cues.ts";

/** A time span of the stream, in ms. */
export type TextSpan = { readonly startMs: number; readonly endMs: number };

/** The MPEG clock. */
const TICKS_PER_SECOND = 90_000;
/** The media timestamp of the cues' time 0 (RFC 8216 §3.5). */
const TIMESTAMP_MAP = `X-TIMESTAMP-MAP=MPEGTS:${STREAM_START_SECONDS * TICKS_PER_SECOND},LOCAL:00:00:00.000`;

/**
 * Text is small: with the duration of video segments, a text track would be thousands of tiny files. Subtitles may have
 * a different target duration (RFC 8216 §6.2.4).
 */
const SPAN_MS = 60_000;

/** A shorter remainder is part of the last segment, whose duration then still rounds to the target duration. */
const MIN_LAST_MS = 500;

/** The segment spans of a stream of this length. There is at least a single span. */
export function textSpans(endMs: number): TextSpan[] {
  const end = Math.max(1, Math.round(endMs));
  const count = Math.max(1, Math.ceil((end - MIN_LAST_MS) / SPAN_MS));
  return Array.from({ length: count }, (_, at) => ({
    startMs: at * SPAN_MS,
    endMs: at === count - 1 ? end : (at + 1) * SPAN_MS,
  }));
}

/**
 * The segments of a text track, a segment per span. A cue is in every segment during which it is displayed. It always
 * has its full times, because players recognize it by them. Segments with cues also contain the styles and regions.
 */
export function subtitleSegments({ definitions, cues }: WebVtt, spans: readonly TextSpan[]): string[] {
  const texts = spans.map((): Cue[] => []);
  let first = 0;
  for (const cue of cues) {
    while ((spans[first]?.endMs ?? Infinity) <= cue.startMs) first++;
    for (let at = first; (spans[at]?.startMs ?? Infinity) < cue.endMs; at++) texts[at]?.push(cue);
  }
  return texts.map((cues) => webVttText({ definitions: cues.length > 0 ? definitions : [], cues }, [TIMESTAMP_MAP]));
}

/** Keeps the sums finite when cues declare absurd times. No stream has this many spans. */
const MOST_SPANS = 1e9;

/** The maximum number of characters of all segments with cues, whatever the stream's length. Creates no segments. */
export function segmentCharacters({ definitions, cues }: WebVtt): number {
  const fixed = definitions.reduce((sum, { length }) => sum + length, 0);
  let [characters, counted] = [0, 0];
  for (const cue of cues) {
    const { startMs, endMs } = cue;
    const from = Math.min(MOST_SPANS, Math.floor(startMs / SPAN_MS));
    const to = Math.min(MOST_SPANS, Math.ceil(endMs / SPAN_MS));
    characters += (to - from) * blockOf(cue).length + Math.max(0, to - Math.max(from, counted)) * fixed;
    counted = Math.max(counted, to);
  }
  return characters;
}
