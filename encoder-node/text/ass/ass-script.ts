// An ASS script as this node writes it. Its fields have been checked, or come from this program.
import type { BurnTransfer } from "#shared/plan/filters/burn-in.ts";
import { type Color, captionColor } from "./caption-colors.ts";
import { assTime } from "./clipped-ass.ts";

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
