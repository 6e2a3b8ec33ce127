// An ASS script as this node writes it. Its fields have been checked, or come from this program.

import { clockMs } from "#shared/media/clock-time.ts";
import type { BurnTransfer } from "#shared/plan/filters/burn-in.ts";
import type { ShownPart } from "../subtitle-cues.ts";
import { type Color, captionColor } from "./caption-colors.ts";

export type AssStyle = {
  readonly name: string;
  /** Family of a font in the run's folder. */
  readonly font: string;
  readonly size: number;
  /** Primary, secondary, outline and background. */
  readonly colors: readonly [Color, Color, Color, Color];
  /** All fields from Bold to Encoding, in the order of `FORMAT`. */
  readonly numbers: readonly number[];
};

export type AssEvent = {
  readonly layer: number;
  /** Whole hundredths of a second, in ms. */
  readonly startMs: number;
  readonly endMs: number;
  readonly style: string;
  /** Left, right, vertical; 0: the margin of the style. */
  readonly margins: readonly [number, number, number];
  /** Text with override blocks. Colors in the blocks are `&HBBGGRR&`. */
  readonly text: string;
};

export type AssScript = {
  readonly width: number;
  readonly height: number;
  readonly wrapStyle: number;
  readonly scalesBorders: boolean;
  readonly styles: readonly AssStyle[];
  readonly events: readonly AssEvent[];
};

/** The fields of a style after its colors. */
export const STYLE_NUMBERS = [
  ...["Bold", "Italic", "Underline", "StrikeOut", "ScaleX", "ScaleY", "Spacing", "Angle", "BorderStyle"],
  ...["Outline", "Shadow", "Alignment", "MarginL", "MarginR", "MarginV", "Encoding"],
] as const;
const COLORS = ["PrimaryColour", "SecondaryColour", "OutlineColour", "BackColour"];

/** Writes the script for frames with these colors. */
export function assText(script: AssScript, transfer: BurnTransfer): string {
  const color = (value: Color): string => {
    const { red, green, blue, alpha } = captionColor(value, transfer);
    return `&H${[alpha, blue, green, red].map(hex).join("")}`;
  };
  return [
    "[Script Info]",
    "ScriptType: v4.00+",
    `PlayResX: ${script.width}`,
    `PlayResY: ${script.height}`,
    `WrapStyle: ${script.wrapStyle}`,
    `ScaledBorderAndShadow: ${script.scalesBorders ? "yes" : "no"}`,
    "YCbCr Matrix: None",
    "",
    "[V4+ Styles]",
    `Format: Name, Fontname, Fontsize, ${[...COLORS, ...STYLE_NUMBERS].join(", ")}`,
    ...script.styles.map(
      ({ name, font, size, colors, numbers }) =>
        `Style: ${[name, font, size, ...colors.map(color), ...numbers].join(",")}`,
    ),
    "",
    "[Events]",
    "Format: Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text",
    ...script.events.map(({ layer, startMs, endMs, style, margins, text }) =>
      [
        `Dialogue: ${layer}`,
        assTime(startMs),
        assTime(endMs),
        style,
        "",
        ...margins,
        "",
        colored(text, transfer),
      ].join(),
    ),
    "",
  ].join("\n");
}

const hex = (value: number): string => value.toString(16).toUpperCase().padStart(2, "0");

/** Colors in override blocks. */
function colored(text: string, transfer: BurnTransfer): string {
  if (transfer === "sdr") return text;
  return text.replace(/\{[^{}]*\}/g, (block) =>
    block.replace(/&H([0-9A-F]{2})([0-9A-F]{2})([0-9A-F]{2})&/g, (_, blue: string, green: string, red: string) => {
      const [r = 0, g = 0, b = 0] = [red, green, blue].map((part) => Number.parseInt(part, 16));
      const mapped = captionColor({ red: r, green: g, blue: b, alpha: 0 }, transfer);
      return `&H${[mapped.blue, mapped.green, mapped.red].map(hex).join("")}&`;
    }),
  );
}

/** The nearest time that a script can state. */
export const toHundredths = (ms: number): number => Math.round(ms / 10) * 10;

// The text of ASS events: override blocks in braces, and text between them.

/** A block without an end is text. */
export function* splitBlocks(text: string): Generator<{ readonly isBlock: boolean; readonly text: string }> {
  for (let at = 0; at < text.length; ) {
    const open = text.indexOf("{", at);
    const close = open === -1 ? -1 : text.indexOf("}", open);
    if (close === -1) {
      yield { isBlock: false, text: text.slice(at) };
      return;
    }
    if (open > at) yield { isBlock: false, text: text.slice(at, open) };
    yield { isBlock: true, text: text.slice(open + 1, close) };
    at = close + 1;
  }
}

/** Keeps line breaks and hard spaces. A brace would start a block. */
export const cleanPlain = (text: string): string =>
  text
    .replace(/[\p{Cc}\p{Cs}]/gu, "")
    .replace(/\\(?![Nnh])/g, "\\\u2060")
    .replaceAll("{", "\\{");

/** Text of other formats: a backslash is only a character. */
export const literalText = (text: string): string =>
  text
    .replace(/[\p{Cc}\p{Cs}]/gu, "")
    .replaceAll("\\", "\\\u2060")
    .replaceAll("{", "\\{");

// Moves and clips the events of an ASS script, and keeps everything else.

/** True if a text has the first section of ASS or SSA. */
export const isAss = (text: string): boolean => /^\s*\[Script Info\]/i.test(text);

/** An event as ffmpeg writes it: its layer, its times in hundredths of a second, and the rest. */
const EVENT = /^(Dialogue: [^,]*,)(\d+):(\d\d):(\d\d)\.(\d\d),(\d+):(\d\d):(\d\d)\.(\d\d)(,.*)$/;

/** The script with `shiftMs` added to its times, for the part of the source. Drops events outside of the part. */
export function clippedAss(script: string, shiftMs: number, { fromMs, toMs, leadMs }: ShownPart): string {
  const clip = (ms: number): number => Math.min(toMs, Math.max(fromMs, ms + shiftMs)) - fromMs;
  return script
    .split(/\r?\n/)
    .flatMap((line) => {
      const match = EVENT.exec(line);
      if (!match) return [line];
      const [start, end] = [clip(clockMs(match.slice(2, 6))), clip(clockMs(match.slice(6, 10)))];
      return start < end ? [`${match[1]}${assTime(start + leadMs)},${assTime(end + leadMs)}${match[10]}`] : [];
    })
    .join("\n");
}

/** A time as `0:00:01.00`, rounded up to hundredths of a second. */
export function assTime(ms: number): string {
  const hundredths = Math.ceil(ms / 10);
  const two = (value: number): string => String(Math.floor(value)).padStart(2, "0");
  const [hours, minutes, seconds] = [hundredths / 360_000, (hundredths / 6000) % 60, (hundredths / 100) % 60];
  return `${Math.floor(hours)}:${two(minutes)}:${two(seconds)}.${two(hundredths % 100)}`;
}
