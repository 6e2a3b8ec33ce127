// Which loudspeakers a source's sound is for, and the layout of an encoder that keeps them all.

/** Loudspeakers as ffmpeg abbreviates them; the pair beside the listener counts as one behind where there is only one pair. */
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

/** What a file most probably means that has so many channels and does not say for whom. */
const BY_COUNT: readonly SpeakerLayout[] = ["mono", "stereo", "3.0", "4.0", "5.0", "5.1", "6.1", "7.1"];

/** Channels of a layout. */
export const channelsOf = (layout: SpeakerLayout): number => SPEAKERS[layout].split(" ").length;

/** The layout that a probe names, or that its number of channels suggests; null for more than there are layouts. */
export function sourceLayout(name: string | undefined, channels: number | null): SpeakerLayout | null {
  if (name !== undefined && isLayout(name)) return name;
  return (channels && BY_COUNT[channels - 1]) || null;
}

/** Of an encoder's layouts the smallest that has all of the source's loudspeakers, else its largest. */
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
