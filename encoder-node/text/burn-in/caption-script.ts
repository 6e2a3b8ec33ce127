// Writes cues of WebVTT and other formats as an ASS script in the requested style.
import { type CaptionStyle, DEFAULT_STYLE as DEFAULT_LOOK } from "#shared/job/burn.ts";
import type { TextOverlay } from "#shared/job/overlays.ts";
import { textPlace } from "#shared/plan/filters/overlays/text-files.ts";
import { type AssEvent, type AssScript, type AssStyle, literalText, toHundredths } from "../ass/ass-script.ts";
import { type Color, requestedColor } from "../ass/caption-colors.ts";
import { decodedReferences, withReadings } from "../escaped-text.ts";
import { CUE_COLORS, type Cue } from "../subtitle-cues.ts";
import type { Font } from "./font-file.ts";

/** Height and width of the script: lengths are thousandths of the frame's sides. */
const UNITS = 1000;
const SIDE_MARGIN = 50;
/** Space between the text and the edge of its box, as a share of the size. */
const BOX_PADDING = 0.12;
export const DEFAULT_STYLE = "Default";

type Place = { readonly alignment: number; readonly margins: AssEvent["margins"] };

/** The script of cues. Without `keepsStyle`, their positions and colors do not count. */
export function captionScript(cues: readonly Cue[], style: CaptionStyle, font: Font, keepsStyle: boolean): AssScript {
  return {
    width: UNITS,
    height: UNITS,
    wrapStyle: 0,
    scalesBorders: true,
    styles: [captionStyle(style, font)],
    events: cues.flatMap((cue): AssEvent[] => {
      const place = keepsStyle ? placeOf(cue.settings, style, font.lineHeight) : null;
      const text = assText(cue.text, keepsStyle);
      const [startMs, endMs] = [toHundredths(cue.startMs), toHundredths(cue.endMs)];
      if (text === "" || endMs <= startMs) return [];
      const placed = place ? `{\\an${place.alignment}}${text}` : text;
      return [{ layer: 0, startMs, endMs, style: DEFAULT_STYLE, margins: place?.margins ?? [0, 0, 0], text: placed }];
    }),
  };
}

/** The script of an overlaid text. Its event gets the times of the frames when a run starts. */
export function overlayScript(overlay: TextOverlay, font: Font): AssScript {
  const { size, color, background, endMs, fadeMs, opacity } = overlay;
  const look = { ...DEFAULT_LOOK, size, color, background };
  const { colors, ...style } = captionStyle(look, font);
  const faded = (of: Color): Color => ({ ...of, alpha: Math.round(255 - (255 - of.alpha) * opacity) });
  const [primary, secondary, outline, box] = colors;
  // The box is larger than the text.
  const { alignment, x, y } = textPlace(overlay, background === null ? 0 : (size * UNITS * BOX_PADDING) / 100);
  const fade = fadeMs > 0 ? `\\fad(${fadeMs},${endMs === null ? 0 : fadeMs})` : "";
  const lines = overlay.text.split("\n").map((line) => literalText(line) || "\u00A0");
  const text = `{\\an${alignment}\\pos(${x},${y})${fade}}${lines.join(LINE_BREAK)}`;
  return {
    ...captionScript([], look, font, false),
    styles: [{ ...style, colors: [faded(primary), faded(secondary), faded(outline), faded(box)] }],
    events: [{ layer: 0, startMs: 0, endMs: 0, style: DEFAULT_STYLE, margins: [0, 0, 0], text }],
  };
}

function captionStyle(style: CaptionStyle, { family, lineHeight }: Font): AssStyle {
  const length = (percent: number): number => Number(((percent * UNITS) / 100).toFixed(3));
  const size = length(style.size);
  const color = requestedColor(style.color);
  const outline = requestedColor(style.outlineColor);
  const hasBox = style.background !== null;
  return {
    name: DEFAULT_STYLE,
    font: family,
    // libass takes the height of a line as the size.
    size: Number((size * lineHeight).toFixed(3)),
    colors: [color, color, outline, style.background === null ? outline : requestedColor(style.background)],
    numbers: [
      ...[0, 0, 0, 0, 100, 100, 0, 0],
      // 4: libass draws a box of the background's color, larger than the text by the shadow.
      ...[hasBox ? 4 : 1, length(style.outline), hasBox ? Number((size * BOX_PADDING).toFixed(3)) : 0],
      ...[style.position === "top" ? 8 : 2, SIDE_MARGIN, SIDE_MARGIN, Math.round(length(style.margin)), 1],
    ],
  };
}

/** The place of a cue with WebVTT settings (WebVTT §4.4); null if they state none. */
function placeOf(settings: string, style: CaptionStyle, lineHeight: number): Place | null {
  const values = new Map(settings.split(/\s+/).map((setting) => [setting.slice(0, setting.indexOf(":")), setting]));
  const value = (name: string): string | null => values.get(name)?.slice(name.length + 1) ?? null;
  const align = value("align");
  const across = percentOf(value("position"));
  const line = value("line")?.split(",")[0] ?? null;
  if (align === null && across === null && line === null) return null;
  const column = align === "left" || align === "start" ? 1 : align === "right" || align === "end" ? 3 : 2;
  const { row, margin } = rowOf(line, style, style.size * lineHeight);
  return { alignment: column + row, margins: [...sideMargins(column, across), margin] };
}

/** Margins that put the text at a position across the frame, in %. */
function sideMargins(column: number, across: number | null): [number, number] {
  if (across === null) return [0, 0];
  const at = Math.round((across * UNITS) / 100);
  if (column === 1) return [Math.max(1, at), 0];
  if (column === 3) return [0, Math.max(1, UNITS - at)];
  return at < UNITS / 2 ? [1, Math.max(1, UNITS - 2 * at)] : [Math.max(1, 2 * at - UNITS), 1];
}

/** Top (6) or bottom (0), and the margin from there; 0: the margin of the style. */
function rowOf(
  line: string | null,
  { position, margin }: CaptionStyle,
  height: number,
): { row: 0 | 6; margin: number } {
  const percent = percentOf(line);
  if (percent !== null) {
    return percent <= 50
      ? { row: 6, margin: Math.max(1, Math.round(percent * 10)) }
      : { row: 0, margin: Math.round(Math.max(margin, 100 - percent - height) * 10) };
  }
  if (line === null || !/^-?\d{1,4}$/.test(line)) return { row: position === "top" ? 6 : 0, margin: 0 };
  const number = Number(line);
  const lines = number < 0 ? -number - 1 : number;
  const from = Math.min(90, margin + lines * height);
  return { row: number < 0 ? 0 : 6, margin: Math.round(from * 10) };
}

function percentOf(text: string | null): number | null {
  const [, number] = /^(\d{1,3}(?:\.\d{1,9})?)%/.exec(text ?? "") ?? [];
  return number === undefined ? null : Math.min(100, Number(number));
}

const LINE_BREAK = "\\N";

/** WebVTT cue text as ASS text: bold, italic, underlined and colored text; other tags are dropped. */
function assText(text: string, keepsStyle: boolean): string {
  const colors: string[] = [];
  const tokens = withReadings(text).split(/(<[^<>]*>|\n)/);
  const parts = tokens.map((token) => {
    if (token === "\n") return LINE_BREAK;
    if (/^<.*>$/s.test(token)) return keepsStyle ? tagOf(token, colors) : "";
    return literalText(decodedReferences(token));
  });
  const lines = parts.join("").split(LINE_BREAK);
  const isFull = (line: string): boolean => line !== "";
  return lines.slice(Math.max(0, lines.findIndex(isFull)), lines.findLastIndex(isFull) + 1).join(LINE_BREAK);
}

function tagOf(token: string, colors: string[]): string {
  const [, end, name = "", rest = ""] = /^<(\/?)(b|i|u|c|font)\b([^>]*)>$/i.exec(token) ?? [];
  const isEnd = end === "/";
  if (name === "") return "";
  if (name.length === 1 && name.toLowerCase() !== "c") return `{\\${name.toLowerCase()}${isEnd ? 0 : 1}}`;
  if (isEnd) colors.pop();
  else {
    const words = rest.toLowerCase().match(/[a-z]+/g) ?? [];
    const named = words.find((word) => Object.hasOwn(CUE_COLORS, word));
    const [, exact] = /#([0-9a-f]{6})\b/i.exec(rest) ?? [];
    const rgb = exact ?? (named === undefined ? undefined : CUE_COLORS[named]);
    // ASS has the bytes of colors in the other order.
    colors.push(rgb?.toUpperCase().replace(/(..)(..)(..)/, "$3$2$1") ?? colors.at(-1) ?? "");
  }
  const color = colors.at(-1) ?? "";
  return color === "" ? "{\\c}" : `{\\c&H${color}&}`;
}
