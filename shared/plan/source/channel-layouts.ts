// Channel layouts: the loudspeakers of each, and the choice of a layout that keeps all of the source's loudspeakers.

/** Loudspeakers by ffmpeg's abbreviations. A layout's only side or back pair is written as the back pair. */
const SPEAKERS = {
  mono: "FC",
  stereo: "FL FR",
  "2.1": "FL FR LFE",
  "3.0": "FL FR FC",
  "3.0(back)": "FL FR BC",
  "4.0": "FL FR FC BC",
  quad: "FL FR BL BR",
  "quad(side)": "FL FR BL BR",
  "3.1": "FL FR FC LFE",
  "4.1": "FL FR FC LFE BC",
  "5.0": "FL FR FC BL BR",
  "5.0(side)": "FL FR FC BL BR",
  "5.1": "FL FR FC LFE BL BR",
  "5.1(side)": "FL FR FC LFE BL BR",
  "6.0": "FL FR FC BC SL SR",
  "6.1": "FL FR FC LFE BC SL SR",
  "7.0": "FL FR FC BL BR SL SR",
  "7.1": "FL FR FC LFE BL BR SL SR",
} as const;

/** By ffmpeg's name. */
export type SpeakerLayout = keyof typeof SPEAKERS;

/** Most likely layout of a file that has this number of channels and names no layout. */
const BY_COUNT: readonly SpeakerLayout[] = ["mono", "stereo", "3.0", "4.0", "5.0", "5.1", "6.1", "7.1"];

/** The most likely layout of this number of channels; null for more than eight. */
export const layoutOf = (channels: number): SpeakerLayout | null => BY_COUNT[channels - 1] ?? null;

/** Number of channels of a layout. */
export const channelsOf = (layout: SpeakerLayout): number => SPEAKERS[layout].split(" ").length;

/**
 * The layout that a probe names, or that the number of channels suggests. Null if no layout has that number, or if the
 * name excludes it.
 */
export function sourceLayout(name: string | undefined, channels: number | null): SpeakerLayout | null {
  if (name !== undefined && isLayout(name)) return name;
  return isMixable(name) ? (channels && BY_COUNT[channels - 1]) || null : null;
}

/** Speakers that ffmpeg mixes in pairs: both or neither (`sane_layout` in libswresample/rematrix.c). */
const PAIRS = ["FL FR", "SL SR", "BL BR", "FLC FRC"].map((pair) => pair.split(" "));

/**
 * True if ffmpeg mixes a layout to other layouts. It mixes layouts with their own name. It also mixes lists with a
 * front speaker and without half of a pair. Ambisonic components are no speakers.
 */
export function isMixable(name = ""): boolean {
  if (name.startsWith("ambisonic")) return false;
  const speakers = speakersOf(name);
  const isWhole = PAIRS.every((pair) => pair.filter((speaker) => speakers.includes(speaker)).length !== 1);
  return speakers.length === 0 || (isWhole && ["FL", "FC"].some((speaker) => speakers.includes(speaker)));
}

/** Speakers that a name lists (`3 channels (FL+FR+BL)`). ffprobe prints a layout without a name in this form. */
export const speakersOf = (name: string): string[] =>
  /\(([A-Z\d]+(?:[+|][A-Z\d]+)*)\)$/.exec(name)?.[1]?.split(/[+|]/) ?? [];

/** Smallest layout of an encoder that has all loudspeakers of the source, or else its largest layout. */
export function layoutFor(source: SpeakerLayout, offered: readonly SpeakerLayout[]): SpeakerLayout {
  if (offered.includes(source)) return source;
  const wanted = SPEAKERS[source].split(" ");
  const bySize = offered.toSorted((a, b) => channelsOf(a) - channelsOf(b));
  const fits = bySize.find((layout) => {
    const has = SPEAKERS[layout].split(" ");
    return wanted.every((speaker) => has.includes(speaker));
  });
  return fits ?? bySize.at(-1) ?? "stereo";
}

const isLayout = (name: string): name is SpeakerLayout => Object.hasOwn(SPEAKERS, name);
