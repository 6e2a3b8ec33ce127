// Colors of captions, for frames of each dynamic range.
import type { BurnTransfer } from "#shared/plan/filters/burn-in.ts";
import { WHITE_NITS } from "#shared/plan/filters/tone-map.ts";

/** sRGB, 0 to 255. `alpha` as in ASS: 0 is opaque. */
export type Color = { readonly red: number; readonly green: number; readonly blue: number; readonly alpha: number };

/** A color of a request: `#rrggbb` or `#rrggbbaa`, whose last byte is 255 if opaque. */
export function requestedColor(text: string): Color {
  const [red = 0, green = 0, blue = 0, opacity = 255] = [1, 3, 5, 7].flatMap((at) => {
    const digits = text.slice(at, at + 2);
    return digits === "" ? [] : [Number.parseInt(digits, 16)];
  });
  return { red, green, blue, alpha: 255 - opacity };
}

/** The color for libass. In HDR, white has the light of white paper, and other colors keep their relation to it. */
export function captionColor(color: Color, transfer: BurnTransfer): Color {
  if (transfer === "sdr") return color;
  const linear = [color.red, color.green, color.blue].map((value) => fromSrgb(value / 255));
  const [red = 0, green = 0, blue = 0] = TO_BT2020.map((row) => {
    const light = row.reduce((sum, weight, at) => sum + weight * (linear[at] ?? 0), 0);
    return Math.round(255 * (transfer === "pq" ? toPq(light * WHITE_NITS) : toHlg(light)));
  });
  return { red, green, blue, alpha: color.alpha };
}

/** IEC 61966-2-1. */
const fromSrgb = (value: number): number => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);

/** From the primaries of BT.709 to those of BT.2020 (ITU-R BT.2087-0, §2). */
const TO_BT2020 = [
  [0.6274, 0.3293, 0.0433],
  [0.0691, 0.9195, 0.0114],
  [0.0164, 0.088, 0.8956],
] as const;

/** Light in cd/m² as a signal (SMPTE ST 2084). */
function toPq(nits: number): number {
  const powered = (nits / 10_000) ** 0.1593017578125;
  return ((0.8359375 + 18.8515625 * powered) / (1 + 18.6875 * powered)) ** 78.84375;
}

/** The signal of white paper in HLG is 0.75 (ITU-R BT.2408). */
const HLG_WHITE_LIGHT = 0.265;

/** Scene light as a signal, with white paper at 1 (ITU-R BT.2100, table 5). */
function toHlg(light: number): number {
  const scene = light * HLG_WHITE_LIGHT;
  if (scene <= 1 / 12) return Math.sqrt(3 * scene);
  return 0.17883277 * Math.log(12 * scene - 0.28466892) + 0.55991073;
}
