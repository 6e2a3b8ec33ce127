// Makes cues of WebVTT from the screens that a decoder of CEA-608 reports.
import type { CaptionScreen, CueHandler, Row, StyledUnicodeChar } from "@svta/cml-608";
import { escapedText } from "../escaped-text.ts";
import { textBudget } from "../separate-cues.ts";
import { CUE_COLORS, type Cue, MAX_CUE_MS } from "../subtitle-cues.ts";

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
export class CueCollector implements CueHandler {
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
