// Text tracks for HLS: WebVTT in segments on the same grid as the film's.
import { STREAM_START_SECONDS } from "#shared/plan/planned-stream.ts";
import { type Cue, type WebVtt, webVttText } from "./subtitle-cues.ts";

/** A part of the film, in ms. */
export type TextSpan = { readonly startMs: number; readonly endMs: number };

/** MPEG's clock. */
const TICKS_PER_SECOND = 90_000;
/** Where the cues' time 0 lies on the line of the media's own time stamps (RFC 8216 §3.5). */
const TIMESTAMP_MAP = `X-TIMESTAMP-MAP=MPEGTS:${STREAM_START_SECONDS * TICKS_PER_SECOND},LOCAL:00:00:00.000`;

/** A text of two hours has a tenth of a million characters; this is for texts whose every cue lasts all the film. */
const MAX_CHARACTERS = 50_000_000;

/** A rest that is shorter belongs to the segment before it, as with pictures and sound. */
const MIN_LAST_MS = 500;

/** What lies between the lines of the grid from 0 to the film's end: at least one span. */
export function textSpans(endMs: number, segmentMs: number): TextSpan[] {
  const end = Math.max(1, Math.round(endMs));
  const count = Math.max(1, Math.ceil((end - MIN_LAST_MS) / segmentMs));
  return Array.from({ length: count }, (_, at) => ({
    startMs: at * segmentMs,
    endMs: at === count - 1 ? end : (at + 1) * segmentMs,
  }));
}

/**
 * The segments of a text, one for each span. A cue is in each of those during which it is shown, with the whole of its time,
 * by which players know it again.
 * @throws Error when cues are repeated so often that the text would not be worth storing
 */
export function subtitleSegments(text: WebVtt, spans: readonly TextSpan[]): string[] {
  const { definitions } = text;
  const cues = spans.map((): Cue[] => []);
  let characters = definitions.reduce((sum, { length }) => sum + length, 0) * spans.length;
  let first = 0;
  for (const cue of text.cues) {
    while ((spans[first]?.endMs ?? Infinity) <= cue.startMs) first++;
    for (let at = first; (spans[at]?.startMs ?? Infinity) < cue.endMs; at++) {
      cues[at]?.push(cue);
      characters += cue.block.length;
    }
    if (characters > MAX_CHARACTERS) throw new Error("The subtitles have too many cues that last too long");
  }
  return cues.map((shown) => webVttText({ definitions, cues: shown }, [TIMESTAMP_MAP]));
}
