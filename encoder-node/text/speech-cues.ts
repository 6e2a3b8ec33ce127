// Makes cues of recognized speech. Models put a sentence or half a minute into a segment; viewers read two lines.
import { escapedText } from "./escaped-text.ts";
import type { Cue } from "./subtitle-cues.ts";

/** Times are in ms. */
export type SpeechSegment = { readonly text: string; readonly t0: number; readonly t1: number };

/** The width of two lines; letters of Chinese, Japanese and Korean count twice. */
const LINE = 42;
const MIN_MS = 1000;
const MAX_MS = 7000;
/** A longer pause starts a new cue. */
const PAUSE_MS = 500;
/** Above the longest text of a segment, which has at most 224 tokens. */
const MAX_SEGMENT_CHARS = 4000;

/** Text about something other than speech, such as `[BLANK_AUDIO]`, `(music)` and notes. */
const NOT_SPOKEN = /\[[^[\]]*\]|\([^()]*\)|[♩♪♫♬*.\s]/gu;
const WIDE = /[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Hang}]/u;
const SENTENCE_END = /[.!?…。！？]["'”’»)]*$/u;
const GRAPHEMES = new Intl.Segmenter(undefined, { granularity: "grapheme" });

/** A word, or a letter of a script without spaces or of a very long word. */
type Piece = { readonly text: string; readonly width: number; readonly startMs: number; readonly endMs: number };

/** Sorted cues that do not overlap, of two lines at most, and of 1 to 7 seconds. */
export function speechCues(segments: readonly SpeechSegment[]): Cue[] {
  const cues: Cue[] = [];
  let pieces: Piece[] = [];
  const close = (): void => {
    const [first, last, before] = [pieces[0], pieces.at(-1), cues.at(-1)];
    pieces = [];
    if (!first || !last) return;
    const startMs = Math.max(first.startMs, before?.endMs ?? 0);
    const endMs = Math.min(Math.max(last.endMs, startMs + MIN_MS), startMs + MAX_MS);
    cues.push({ startMs, endMs, settings: "", text: escapedText(lines.join("\n").trim()) });
  };
  let lines: string[] = [];
  for (const segment of segments.toSorted((a, b) => a.t0 - b.t0)) {
    const spoken = piecesOf(segment);
    const isNext = isApart(pieces, spoken, lines);
    if (isNext) close();
    for (const piece of spoken) {
      const more = [...pieces, piece];
      const broken = linesOf(more);
      const isTooLong = piece.endMs - (more[0]?.startMs ?? 0) > MAX_MS;
      if (pieces.length > 0 && (broken.length > 2 || isTooLong)) close();
      pieces.push(piece);
      lines = linesOf(pieces);
    }
  }
  close();
  return cues;
}

/** True if a new segment must not continue the cue: after a pause or a sentence, unless the cue is very short. */
function isApart(pieces: readonly Piece[], spoken: readonly Piece[], lines: readonly string[]): boolean {
  const [first, last, next] = [pieces[0], pieces.at(-1), spoken[0]];
  if (!first || !last || !next) return false;
  if (next.startMs - last.endMs > PAUSE_MS) return true;
  const isShort = last.endMs - first.startMs < MIN_MS;
  return !isShort && SENTENCE_END.test(lines.at(-1) ?? "");
}

/** The words of a segment. Each gets a part of the segment's time by its width. None if nothing is spoken. */
function piecesOf({ text, t0, t1 }: SpeechSegment): Piece[] {
  const plain = text
    .slice(0, MAX_SEGMENT_CHARS)
    .replaceAll(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, " ")
    .trim();
  if (plain.replaceAll(NOT_SPOKEN, "") === "") return [];
  const texts = plain.split(" ").flatMap((word) => {
    const letters = WIDE.test(word) || widthOf(word) > LINE ? [...GRAPHEMES.segment(word)] : [{ segment: word }];
    return letters.map(({ segment }, at) => (at === 0 ? ` ${segment}` : segment));
  });
  const total = texts.reduce((sum, each) => sum + widthOf(each), 0);
  const startMs = Math.max(0, t0);
  // Models include the pause after a sentence: text that fits into a single cue stays in one.
  const endMs = total <= 2 * LINE ? Math.min(t1, startMs + MAX_MS) : t1;
  const perWidth = Math.max(0, endMs - startMs) / total;
  let done = 0;
  return texts.map((each) => {
    const width = widthOf(each);
    const from = startMs + done * perWidth;
    done += width;
    return { text: each, width, startMs: Math.round(from), endMs: Math.round(startMs + done * perWidth) };
  });
}

const widthOf = (text: string): number => [...text].reduce((sum, letter) => sum + (WIDE.test(letter) ? 2 : 1), 0);

/** Breaks text into lines: into two of about the same width if it does not fit into a single line. */
function linesOf(pieces: readonly Piece[]): string[] {
  const total = pieces.reduce((sum, { width }) => sum + width, -1);
  const half = total <= LINE || total > 2 * LINE ? LINE : Math.ceil(total / 2);
  const even = brokenAt(half, pieces);
  return even.length <= 2 ? even : brokenAt(LINE, pieces);
}

/** Lines of at most `LINE`, the first of them no wider than needed to reach `most`. */
function brokenAt(most: number, pieces: readonly Piece[]): string[] {
  const lines: string[] = [];
  let width = Number.POSITIVE_INFINITY;
  for (const piece of pieces) {
    const isFull = width + piece.width > LINE + 1 || (lines.length === 1 && width > most);
    if (isFull) lines.push(piece.text.trimStart());
    else lines[lines.length - 1] += piece.text;
    width = isFull ? piece.width : width + piece.width;
  }
  return lines;
}
