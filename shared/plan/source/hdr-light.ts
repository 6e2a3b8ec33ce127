// HDR10's static metadata: the display on which the source was graded, and the light of its content.
import type { ProbedStream } from "../../media/media-probe.ts";

/** CIE 1931 coordinates, 0 to 1. */
type Chromaticity = readonly [x: number, y: number];

/** SMPTE ST 2086. Luminances in cd/m². */
type MasteringDisplay = {
  readonly red: Chromaticity;
  readonly green: Chromaticity;
  readonly blue: Chromaticity;
  readonly white: Chromaticity;
  readonly least: number;
  readonly most: number;
};

/** CTA-861.3: the brightest pixel, and the brightest mean of a frame, in cd/m². */
type ContentLight = { readonly most: number; readonly mean: number };

export type HdrLight = {
  readonly display: MasteringDisplay | null;
  readonly content: ContentLight | null;
  /**
   * Brightest light of the content, or of the display if the content's light is not stated. Null if neither is stated.
   */
  readonly peakNits: number | null;
};

/** Largest value of PQ, in cd/m² (SMPTE ST 2084). */
const MAX_NITS = 10_000;

/** Light levels that a source states in its header or its first frame. */
export function hdrLight({ side_data_list = [] }: ProbedStream): HdrLight {
  const first = <Value>(read: (data: SideData) => Value | null): Value | null =>
    side_data_list.map(read).find((value) => value !== null) ?? null;
  const content = first(contentOf);
  const brightest = first(({ max_luminance }) => within(max_luminance, MAX_NITS) || null);
  return { display: first(displayOf), content, peakNits: content?.most ?? brightest };
}

type SideData = Readonly<Record<string, unknown>>;

function displayOf(data: SideData): MasteringDisplay | null {
  const point = (name: string): Chromaticity | null => {
    const [x, y] = [within(data[`${name}_x`], 1), within(data[`${name}_y`], 1)];
    return x === null || y === null ? null : [x, y];
  };
  const [red, green, blue, white] = [point("red"), point("green"), point("blue"), point("white_point")];
  const [least, most] = [within(data.min_luminance, MAX_NITS), within(data.max_luminance, MAX_NITS)];
  if (!red || !green || !blue || !white || least === null || !most) return null;
  return { red, green, blue, white, least, most };
}

function contentOf(data: SideData): ContentLight | null {
  const [most, mean] = [within(data.max_content, MAX_NITS), within(data.max_average, MAX_NITS)];
  return most ? { most, mean: mean ?? 0 } : null;
}

/** A number, or a fraction as ffprobe prints it, from 0 to `most`; null for anything else. */
function within(value: unknown, most: number): number | null {
  if (typeof value !== "number" && typeof value !== "string") return null;
  const [numerator, denominator = "1"] = String(value).split("/");
  const number = Number(numerator) / Number(denominator);
  return number >= 0 && number <= most ? number : null;
}

/** Names of an encoder's parameters, and its units per 1 of a coordinate and per cd/m². */
type LightSyntax = {
  readonly display: string;
  readonly content: string;
  readonly coordinate: number;
  readonly nits: number;
  readonly decimals: number;
};
/** x265 counts in 0.00002, and in 0.0001 cd/m². */
export const X265: LightSyntax = {
  display: "master-display",
  content: "max-cll",
  coordinate: 50_000,
  nits: 10_000,
  decimals: 0,
};
export const SVT_AV1: LightSyntax = {
  display: "mastering-display",
  content: "content-light",
  coordinate: 1,
  nits: 1,
  decimals: 5,
};

/** Parameters for an encoder. Explicit, because versions of ffmpeg differ in the values that they take from frames. */
export function lightParams(light: HdrLight | null, syntax: LightSyntax): string[] {
  const text = (value: number): string => String(Number(value.toFixed(syntax.decimals)));
  const pair = (x: number, y: number, unit: number): string => `(${text(x * unit)},${text(y * unit)})`;
  const point = ([x, y]: Chromaticity): string => pair(x, y, syntax.coordinate);
  const params: string[] = [];
  if (light?.display) {
    const { red, green, blue, white, least, most } = light.display;
    const points = `G${point(green)}B${point(blue)}R${point(red)}WP${point(white)}`;
    params.push(`${syntax.display}=${points}L${pair(most, least, syntax.nits)}`);
  }
  if (light?.content) {
    params.push(`${syntax.content}=${Math.round(light.content.most)},${Math.round(light.content.mean)}`);
  }
  return params;
}
