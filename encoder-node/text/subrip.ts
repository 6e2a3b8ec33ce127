// Reads and formats SubRip. The format has no standard; players know bold, italics and underlining.
import { clockMs, timeText } from "#shared/media/clock-time.ts";
import { decodedReferences, escapedMarkup, withReadings } from "./escaped-text.ts";
import { type Cue, linesOf, MAX_CUE_MS, type WebVtt } from "./subtitle-cues.ts";

/** Programs write fewer or more digits, another point, no hours or no fraction. Coordinates may follow. */
const TIMES =
  /^[ \t]*(?:(\d{1,9}):)?(\d{1,4}):(\d{1,2})(?:[.,:](\d{1,9}))?[ \t]*-->[ \t]*(?:(\d{1,9}):)?(\d{1,4}):(\d{1,2})(?:[.,:](\d{1,9}))?(?:[ \t]|$)/;
const NUMBER = /^[ \t]*\d{1,9}[ \t]*$/;
/** Lines before the first times: its number, and the name of an author. */
const MAX_LINES_BEFORE = 10;

/** True if a text has the times of a cue near its start. */
export function isSubRip(text: string): boolean {
  let before = 0;
  for (const line of linesOf(text)) {
    if (TIMES.test(line)) return true;
    if (line.trim() !== "" && ++before > MAX_LINES_BEFORE) return false;
  }
  return false;
}

/**
 * Parses SubRip in a single pass; all text is usable. Only a line that starts with times starts a cue, so cues may have
 * blank lines and arrows. `keepsStyle`: colors stay as tags `font`, and alignments become settings.
 */
export function parseSubRip(text: string, keepsStyle = false): WebVtt {
  const cues: Cue[] = [];
  let times: Pick<Cue, "startMs" | "endMs"> | null = null;
  let [count, isAfterBlank] = [0, false];
  let lines: string[] = [];
  const endCue = (): void => {
    const cue = times && cueOf(times, lines, keepsStyle);
    if (cue) cues.push(cue);
    lines = [];
  };
  for (const line of linesOf(text)) {
    const match = TIMES.exec(line);
    if (match) {
      count += 1;
      const last = lines.at(-1) ?? "";
      // The cue's number. After it, a blank line is rare.
      if (NUMBER.test(last) && (!isAfterBlank || Number(last) === count)) lines.pop();
      endCue();
      times = { startMs: timeOf(match.slice(1, 5)), endMs: timeOf(match.slice(5, 9)) };
    } else if (line.trim() !== "") lines.push(line);
    isAfterBlank = line.trim() === "";
  }
  endCue();
  return { definitions: [], cues: cues.toSorted((a, b) => a.startMs - b.startMs) };
}

/** As ffmpeg reads it, a fraction of one or two digits is a number of milliseconds. */
const timeOf = ([hours, minutes, seconds, fraction = "0"]: readonly (string | undefined)[]): number =>
  Math.min(MAX_CUE_MS, clockMs([hours, minutes, seconds, fraction.padStart(3, "0")]));

/** Tags of SubRip, and others that conversions leave. Anything else between angle brackets is text. */
const KNOWN_TAG = /^<(\/?)[ \t]*(b|i|u|s|font|br|c|v|lang|span)(?:[\s./][^<>]*)?>$/i;
const MARKUP = /(<[^<>]*>|\{[^{}]*\})/;
/** Override blocks of ASS, and codes of MicroDVD such as `{y:i}`. */
const BRACES = /^\{(?:\\|[CcFfoPSsYy]:)/;
/** Alignments 1 to 9 of ASS as WebVTT settings. */
const PLACES = ["", "line:50%", "line:0"].flatMap((row) =>
  ["align:left", "", "align:right"].map((column) => `${row} ${column}`.trim()),
);

function cueOf(times: Pick<Cue, "startMs" | "endMs">, lines: readonly string[], keepsStyle: boolean): Cue | null {
  let settings = "";
  const parts = withReadings(lines.join("\n")).split(MARKUP);
  const marked = parts.map((part, at) => {
    if (at % 2 === 0) return escapedMarkup(part);
    if (!BRACES.test(part)) return tagText(part, keepsStyle);
    const [, align] = /\\an([1-9])/.exec(part) ?? [];
    if (keepsStyle && align) settings ||= PLACES[Number(align) - 1] ?? "";
    return "";
  });
  const full = marked
    .join("")
    .split("\n")
    .filter((line) => line.trim() !== "");
  const isEmpty =
    full
      .join("")
      .replaceAll(/<[^<>]*>/g, "")
      .trim() === "";
  return isEmpty || times.endMs <= times.startMs ? null : { ...times, settings, text: full.join("\n") };
}

function tagText(part: string, keepsStyle: boolean): string {
  const [, end, name = ""] = KNOWN_TAG.exec(part)?.map((group) => group.toLowerCase()) ?? [];
  if (name === "") return escapedMarkup(part);
  if (name === "br") return "\n";
  if (/^[biu]$/.test(name)) return `<${end}${name}>`;
  return keepsStyle && name === "font" ? part : "";
}

/** A tag of WebVTT. Classes and annotations follow the name (WebVTT §3.4). */
const TAG = /(<[^<>]*>)/;

/** A text without cues is a blank line, because storages reject empty files. */
export function subRipText({ cues }: WebVtt): string {
  const visible = cues.map((cue) => ({ ...cue, text: plainText(cue.text) })).filter(({ text }) => text !== "");
  const blocks = visible.map(({ startMs, endMs, text }, at) => {
    const times = `${timeText(startMs, ",")} --> ${timeText(endMs, ",")}`;
    return `${at + 1}\n${times}\n${text}\n`;
  });
  return blocks.length === 0 ? "\n" : blocks.join("\n");
}

/**
 * SubRip cannot escape characters: players and ffmpeg take text such as `<you>` for a tag and drop it, and parsers take
 * arrows for times. An invisible word joiner prevents both. A blank line would end the text.
 */
const plainText = (text: string): string =>
  withReadings(text)
    .split(TAG)
    .map((part, at) => (at % 2 === 1 ? knownTag(part) : literal(part)))
    .join("")
    .split("\n")
    .filter((line) => line.trim() !== "")
    .join("\n");

const literal = (text: string): string =>
  decodedReferences(text)
    .replaceAll(/<(?=[\w/]+(?:\s[^<>]*)?>)/g, "<\u2060")
    .replaceAll("-->", "--\u2060>");

function knownTag(tag: string): string {
  const [, name] = /^<(\/?[biu])[.>]/.exec(tag) ?? [];
  return name === undefined ? "" : `<${name}>`;
}
