// Decodes CEA-608 into cues (ANSI/CTA-608-E).
import { type CaptionScreen, Cta608Parser, type CueHandler, type Row, type StyledUnicodeChar } from "@svta/cml-608";
import { CAPTION_CHANNELS, type CaptionChannel } from "#shared/job/subtitles.ts";
import { escapedText } from "../escaped-text.ts";
import { textBudget } from "../separate-cues.ts";
import { CUE_COLORS, type Cue, MAX_CUE_MS } from "../subtitle-cues.ts";
import type { CaptionPair } from "./caption-pairs.ts";

/**
 * Cues of each channel, sorted. `endMs`: the time at which captions disappear that nothing erases. Throws AppError
 * `subtitle_failed` if there are too many cues.
 */
export function decodePairs(pairs: readonly CaptionPair[], endMs: number): ReadonlyMap<CaptionChannel, readonly Cue[]> {
  const collectors = CAPTION_CHANNELS.map((channel) => ({ channel, cues: new CueCollector() }));
  const [cc1, cc2, cc3, cc4] = collectors.map(({ cues }) => cues);
  const fields = { 1: new Field(new Cta608Parser(1, cc1, cc2)), 2: new Field(new Cta608Parser(3, cc3, cc4)) };
  for (const pair of pairs) fields[pair.field].add(pair);
  for (const field of Object.values(fields)) field.end(Math.max(endMs, pairs.at(-1)?.ms ?? 0));
  return new Map(collectors.map(({ channel, cues }) => [channel, cues.finish()]));
}

/** Feeds the decoder of a field, and makes up for its gaps. */
class Field {
  readonly #parser: Cta608Parser;
  /** The last code, which counts once if it comes twice in sequence; 0: none. */
  #lastCode = 0;
  /** The bit of codes by which the two channels of the field differ, of the last code. */
  #channel = 0;
  /** True inside of data about programs, which is not captions (CTA-608-E). */
  #inProgramData = false;

  constructor(parser: Cta608Parser) {
    this.#parser = parser;
  }

  add({ ms, field, first, second }: CaptionPair): void {
    const [a, b] = [first & 0x7f, second & 0x7f];
    if (a === 0 && b === 0) return;
    const isCode = a >= 0x10 && a < 0x20;
    if (isCode) this.#inProgramData = false;
    else if (a > 0 && a < 0x10) this.#inProgramData = field === 2 && a !== 0x0f;
    if ((a > 0 && a < 0x10) || this.#inProgramData) return;
    const code = isCode ? a * 256 + b : 0;
    // Commands and addresses of rows choose the channel. Other codes are for the chosen channel.
    if (isCode && (b >= 0x40 || (a & 7) >= 4)) this.#channel = a & 8;
    if (isStyle(code)) this.#addStyle(ms, a, b, code);
    else this.#feed(ms, a, b);
    this.#lastCode = code === this.#lastCode ? 0 : code;
  }

  /** A code for the style inside of a row takes a cell, which is displayed as a space (CTA-608-E). */
  #addStyle(ms: number, a: number, b: number, code: number): void {
    if (code === this.#lastCode || (a & 8) !== this.#channel) return;
    this.#feed(ms, 0x20, 0);
    this.#feed(ms, a, b);
  }

  #feed(ms: number, a: number, b: number): void {
    try {
      this.#parser.addData(ms, [a, b]);
    } catch (error) {
      // The decoder fails for styles after the last column. Such styles have no effect.
      if (!(error instanceof TypeError)) throw error;
    }
  }

  end(ms: number): void {
    this.#parser.cueSplitAtTime(ms);
  }
}

const isStyle = (code: number): boolean => (code & 0xf7f0) === 0x1120;

// Makes cues of WebVTT from the screens that the decoder reports.

/** Text that grows after shorter pauses is a single cue, which appears with its first characters. */
const MAX_PAUSE_MS = 500;
const [ROWS, COLUMNS] = [15, 32];
/** Captions are in the inner 80 % of the frame (CTA-608-E). */
const MARGIN = 10;

/** A row with text. `first`, `last`: columns. `text`: with tags. */
type ShownRow = {
  readonly row: number;
  readonly first: number;
  readonly last: number;
  readonly plain: string;
  readonly text: string;
};

type Shown = {
  readonly startMs: number;
  /** The time of the last change. */
  readonly changedMs: number;
  readonly endMs: number;
  readonly rows: readonly ShownRow[];
};

/** Receives each screen of a channel as soon as another screen replaces it. */
class CueCollector implements CueHandler {
  readonly #cues: Cue[] = [];
  readonly #spend = textBudget("they have too much text");
  #last: Shown | null = null;

  newCue(startMs: number, endMs: number, screen: CaptionScreen): void {
    const rows = screen.rows.flatMap(shownRow);
    const last = this.#last;
    const grew =
      last !== null && last.endMs === startMs && startMs - last.changedMs < MAX_PAUSE_MS && grows(last, rows);
    if (!grew) this.#keep();
    this.#last = { startMs: grew ? last.startMs : startMs, changedMs: startMs, endMs, rows };
  }

  finish(): readonly Cue[] {
    this.#keep();
    return this.#cues;
  }

  #keep(): void {
    for (const cue of this.#last ? cuesOf(this.#last) : []) {
      this.#spend(cue.settings, cue.text);
      this.#cues.push(cue);
    }
    this.#last = null;
  }
}

/** True if all rows are still there, with the same start. The last character may have been replaced. */
const grows = ({ rows }: Shown, next: readonly ShownRow[]): boolean =>
  rows.every(({ row, plain }) => next.some((other) => other.row === row && other.plain.startsWith(plain.slice(0, -1))));

function shownRow({ chars }: Row, row: number): ShownRow[] {
  const first = chars.findIndex(({ uchar }) => uchar.trim() !== "");
  if (first < 0) return [];
  const last = chars.findLastIndex(({ uchar }) => uchar.trim() !== "");
  const cells = chars.slice(first, last + 1);
  return [{ row, first, last, plain: cells.map(({ uchar }) => uchar).join(""), text: styledText(cells) }];
}

function styledText(cells: readonly StyledUnicodeChar[]): string {
  const spans: { readonly tags: readonly string[]; text: string }[] = [];
  for (const { uchar, penState } of cells) {
    // WebVTT has another name for green. White is the color of text without a class.
    const color = penState.foreground.replace("green", "lime");
    const tags = [
      ...(color !== "white" && Object.hasOwn(CUE_COLORS, color) ? [`c.${color}`] : []),
      ...(penState.italics ? ["i"] : []),
      ...(penState.underline ? ["u"] : []),
    ];
    const span = spans.at(-1);
    if (span && (uchar === " " || span.tags.join() === tags.join())) span.text += uchar;
    else spans.push({ tags, text: uchar });
  }
  return spans.map(({ tags, text }) => tagged(text.replaceAll(/ {2,}/g, " "), tags)).join("");
}

function tagged(text: string, tags: readonly string[]): string {
  const ends = tags.toReversed().map((tag) => `</${tag.slice(0, 1)}>`);
  return [...tags.map((tag) => `<${tag}>`), escapedText(text), ...ends].join("");
}

/** A cue for each group of adjacent rows. */
function cuesOf({ startMs, endMs, rows }: Shown): Cue[] {
  const times = { startMs: inTime(startMs), endMs: inTime(endMs) };
  if (times.startMs >= times.endMs) return [];
  const groups: ShownRow[][] = [];
  for (const row of rows) {
    const group = groups.at(-1);
    if (group && group.at(-1)?.row === row.row - 1) group.push(row);
    else groups.push([row]);
  }
  return groups.map((group) => ({
    ...times,
    settings: settingsOf(group),
    text: group.map(({ text }) => text).join("\n"),
  }));
}

const inTime = (ms: number): number => Math.min(MAX_CUE_MS, Math.max(0, Math.round(ms)));

/** The place of the first row. Rows that are centered need no column. */
function settingsOf(rows: readonly ShownRow[]): string {
  const line = `line:${percent(rows[0]?.row ?? 0, ROWS)}%`;
  if (rows.every(({ first, last }) => Math.abs(first + last + 1 - COLUMNS) <= 4)) return line;
  return `${line} position:${percent(Math.min(...rows.map(({ first }) => first)), COLUMNS)}% align:start`;
}

const percent = (cell: number, cells: number): number =>
  Number((MARGIN + (cell * (100 - 2 * MARGIN)) / cells).toFixed(2));
