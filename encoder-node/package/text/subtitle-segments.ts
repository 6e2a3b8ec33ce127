// Text tracks for HLS: WebVTT in segments of their own length.
import { STREAM_START_SECONDS } from "#shared/plan/streams/planned-stream.ts";
import { type Cue, type WebVtt, webVttText } from "./subtitle-cues.ts";

/** A part of the film, in ms. */
export type TextSpan = { readonly startMs: number; readonly endMs: number };

/** MPEG's clock. */
const TICKS_PER_SECOND = 90_000;
/** Where the cues' time 0 lies on the line of the media's own time stamps (RFC 8216 §3.5). */
const TIMESTAMP_MAP = `X-TIMESTAMP-MAP=MPEGTS:${STREAM_START_SECONDS * TICKS_PER_SECOND},LOCAL:00:00:00.000`;

/**
 * Text is small: segments as long as those of pictures would be thousands of tiny files. Subtitles may have a target
 * duration of their own (RFC 8216 §6.2.4).
 */
const SPAN_MS = 60_000;

/** A rest that is shorter belongs to the segment before it, which then still rounds to the target duration. */
const MIN_LAST_MS = 500;

/** The parts of a film of this length that segments are made of: at least one. */
export function textSpans(endMs: number): TextSpan[] {
  const end = Math.max(1, Math.round(endMs));
  const count = Math.max(1, Math.ceil((end - MIN_LAST_MS) / SPAN_MS));
  return Array.from({ length: count }, (_, at) => ({
    startMs: at * SPAN_MS,
    endMs: at === count - 1 ? end : (at + 1) * SPAN_MS,
  }));
}

/**
 * The segments of a text, one for each span. A cue is in each of those during which it is shown, with the whole of its time,
 * by which players know it again. Styles and regions are where cues are.
 */
export function subtitleSegments({ definitions, cues }: WebVtt, spans: readonly TextSpan[]): string[] {
  const shown = spans.map((): Cue[] => []);
  let first = 0;
  for (const cue of cues) {
    while ((spans[first]?.endMs ?? Infinity) <= cue.startMs) first++;
    for (let at = first; (spans[at]?.startMs ?? Infinity) < cue.endMs; at++) shown[at]?.push(cue);
  }
  return shown.map((cues) => webVttText({ definitions: cues.length > 0 ? definitions : [], cues }, [TIMESTAMP_MAP]));
}

/** Keeps sums of spans finite when cues are said to last for ever: no film has so many. */
const MOST_SPANS = 1e9;

/** The most characters that the segments with cues can have, however long the film is; found without making them. */
export function segmentCharacters({ definitions, cues }: WebVtt): number {
  const fixed = definitions.reduce((sum, { length }) => sum + length, 0);
  let [characters, counted] = [0, 0];
  for (const { startMs, endMs, block } of cues) {
    const from = Math.min(MOST_SPANS, Math.floor(startMs / SPAN_MS));
    const to = Math.min(MOST_SPANS, Math.ceil(endMs / SPAN_MS));
    characters += (to - from) * block.length + Math.max(0, to - Math.max(from, counted)) * fixed;
    counted = Math.max(counted, to);
  }
  return characters;
}
