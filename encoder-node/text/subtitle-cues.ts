// Parses WebVTT from clients and formats it again. The data is untrusted: unparsable parts are skipped.
import { AppError } from "#shared/errors.ts";
import type { SubtitleTraits } from "#shared/job/subtitles.ts";
import { clockMs, timeText } from "#shared/media/clock-time.ts";
import { MAX_PACKET_SECONDS } from "#shared/media/media-probe.ts";
import { readText } from "../run-files/open-file.ts";

/** A text that is displayed for a time. */
export type Cue = {
  readonly startMs: number;
  readonly endMs: number;
  /** The identifier, a single line; absent: none. */
  readonly id?: string;
  /** WebVTT cue settings, such as `line:0 position:20%`; empty: none. */
  readonly settings: string;
  /** WebVTT cue text with tags and character references. Has no blank lines and no `-->`. */
  readonly text: string;
};

export type WebVtt = {
  /** Blocks of styles and regions that cues refer to. */
  readonly definitions: readonly string[];
  /** Sorted by start time. */
  readonly cues: readonly Cue[];
};

/** Only these characters may follow the name (WebVTT §4.1). */
const SIGNATURE = /^WEBVTT(?:[ \t\n\r]|$)/;
const DEFINITION = /^(?:STYLE|REGION)[ \t]*$/;
const ARROW = "-->";
/** A century. Later times are limited to it, because no media is longer. */
export const MAX_CUE_MS = MAX_PACKET_SECONDS * 1000;
/**
 * WebVTT §4.1, also with a comma instead of the point, as in SubRip. No two repetitions may match the same character,
 * and the last repetition matches everything. Otherwise a line with a million spaces would take minutes.
 */
const TIMING =
  /^[ \t]*(?:(\d+):)?([0-5]\d):([0-5]\d)[.,](\d{3})[ \t]*-->[ \t]*(?:(\d+):)?([0-5]\d):([0-5]\d)[.,](\d{3})(?:[ \t](.*))?$/s;

/** The classes of WebVTT that color text (WebVTT §5), with their colors in sRGB. */
export const CUE_COLORS: Readonly<Record<string, string>> = {
  white: "FFFFFF",
  lime: "00FF00",
  cyan: "00FFFF",
  red: "FF0000",
  yellow: "FFFF00",
  magenta: "FF00FF",
  blue: "0000FF",
  black: "000000",
};

/** True if a text without byte order mark has the signature of WebVTT. */
export const isWebVtt = (text: string): boolean => SIGNATURE.test(text);

/**
 * Parses the text of a WebVTT file (WebVTT §6.1). Null if it is not WebVTT. Drops comments and cues without a duration.
 * Drops the header's metadata, because the times are the source's times.
 */
export function parseWebVtt(text: string): WebVtt | null {
  const plain = plainLines(text.replace(/^\uFEFF/, ""));
  if (!isWebVtt(plain)) return null;
  const definitions: string[] = [];
  const cues: Cue[] = [];
  for (const block of blocksOf(plain)) {
    const ofBlock = cuesOf(block);
    // Styles and regions after the first cue have no effect.
    if (ofBlock.length === 0 && cues.length === 0 && DEFINITION.test(block[0] ?? "")) {
      definitions.push(block.join("\n"));
    }
    for (const cue of ofBlock) cues.push(cue);
  }
  return { definitions, cues: cues.toSorted((a, b) => a.startMs - b.startMs) };
}

/** Formats a file with these definitions and cues. `header`: further lines of the first block. */
export function webVttText({ definitions, cues }: WebVtt, header: readonly string[] = []): string {
  const blocks = [["WEBVTT", ...header].join("\n"), ...definitions, ...cues.map(blockOf)];
  return `${blocks.join("\n\n")}\n`;
}

/** A cue as a block of a WebVTT file. */
export function blockOf({ startMs, endMs, id, settings, text }: Cue): string {
  const times = `${timeText(startMs)} ${ARROW} ${timeText(endMs)}${settings === "" ? "" : ` ${settings}`}`;
  return [...(id === undefined ? [] : [id]), times, text].join("\n");
}

/** The text with line feeds as line ends. */
export const plainLines = (text: string): string => text.replace(/\r\n/g, "\n").replace(/\r/g, "\n");

/** Yields the lines step by step, because millions of tiny lines would take too much memory. */
export function* linesOf(text: string): Generator<string> {
  for (let from = 0; from <= text.length; ) {
    const end = text.indexOf("\n", from);
    yield text.slice(from, end === -1 ? text.length : end);
    from = end === -1 ? text.length + 1 : end + 1;
  }
}

/** Yields the blocks between blank lines. */
function* blocksOf(text: string): Generator<string[]> {
  let block: string[] = [];
  for (const line of linesOf(text)) {
    if (line !== "") block.push(line);
    else if (block.length > 0) {
      yield block;
      block = [];
    }
  }
  if (block.length > 0) yield block;
}

/** A line with times always starts a cue, even without a blank line before it. */
function cuesOf(block: readonly string[]): Cue[] {
  const starts = block.flatMap((line, at) => (line.includes(ARROW) ? [at] : []));
  return starts.flatMap((start, at) => {
    const match = TIMING.exec(block[start] ?? "");
    const text = block.slice(start + 1, starts[at + 1]);
    if (!match || text.length === 0) return [];
    const [startMs = 0, endMs = 0] = [1, 5].map((from) => Math.min(MAX_CUE_MS, clockMs(match.slice(from, from + 4))));
    if (endMs <= startMs) return [];
    const id = at === 0 && start > 0 && !isWebVtt(block[start - 1] ?? "") ? block[start - 1] : undefined;
    const settings = match[9]?.trim() ?? "";
    return [{ startMs, endMs, ...(id === undefined ? {} : { id }), settings, text: text.join("\n") }];
  });
}

// Moves cues in time.

/** A time inside the text of a cue, from which the following text counts as spoken (WebVTT §3.4). */
const INNER_TIME = /<(?:(\d+):)?([0-5]\d):([0-5]\d)\.(\d{3})>/g;

/** Cues with `byMs` added to their times. Drops cues that end before time 0. */
export function movedCues({ definitions, cues }: WebVtt, byMs: number): WebVtt {
  const by = Math.round(byMs);
  const inside = (ms: number): number => Math.min(MAX_CUE_MS, Math.max(0, ms + by));
  const moved = cues.map((cue) => ({
    ...cue,
    startMs: inside(cue.startMs),
    endMs: inside(cue.endMs),
    text:
      by === 0 ? cue.text : cue.text.replaceAll(INNER_TIME, (_, ...parts) => `<${timeText(inside(clockMs(parts)))}>`),
  }));
  return { definitions, cues: moved.filter(({ startMs, endMs }) => startMs < endMs) };
}

/** A part of the source's timeline, in ms, and the time at which the part starts in the result. */
export type ShownPart = { readonly fromMs: number; readonly toMs: number; readonly leadMs: number };

/** The cues of a part of the source. */
export function clippedCues({ definitions, cues }: WebVtt, { fromMs, toMs, leadMs }: ShownPart): WebVtt {
  const inside = cues
    .filter(({ startMs }) => startMs < toMs)
    .map((cue) => ({ ...cue, endMs: Math.min(cue.endMs, toMs) }));
  return movedCues(movedCues({ definitions, cues: inside }, -fromMs), leadMs);
}

// Files with text of outputs.

/** A WebVTT file on this node's disk. */
export type SubtitleFile = SubtitleTraits & {
  readonly path: string;
  /** The input's track as it is, and the time to add, if the track is ASS. */
  readonly ass?: { readonly path: string; readonly shiftMs: number };
};

/** The text tracks of each output. */
export type SubtitleFiles = ReadonlyMap<number, readonly SubtitleFile[]>;

/** Larger than any accepted file. */
export const MAX_TEXT_BYTES = 64e6;

/** Throws AppError `node_failed` if the file is no longer the WebVTT that the node wrote. */
export async function textIn(vtt: string): Promise<WebVtt> {
  const text = parseWebVtt(await readText(vtt, MAX_TEXT_BYTES));
  if (!text) throw new AppError("node_failed", "A text has changed on the node's disk");
  return text;
}
