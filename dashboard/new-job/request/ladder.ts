// The renditions of a stream as rows of formats, and ready ladders.
import { DEFAULT_LADDER } from "../../../shared/format/presets.ts";
import { slotOf, withSlot } from "./slots.ts";

/** Average bitrates of H.264 in 16:9, in kbit/s (Apple, HLS Authoring Specification, table of bit rates for video). */
const APPLE = [
  "x234_145k",
  "360p_365k",
  "x432_730k",
  "x432_1100k",
  "540p_2000k",
  "720p_3000k",
  "720p_4500k",
  "1080p_6000k",
  "1080p_7800k",
].map((video) => `mp4:${video}:128k:vprofile=high`);
/** Players start with the first variant. For Wi-Fi, that specification recommends the one with 2000 kbit/s. */
const START = APPLE[4] ?? "";

/**
 * Ladders by name. `web` is the ladder of the service: requests leave it out, and it ends at the size of the source.
 */
export const LADDERS = {
  web: { label: "Web", formats: DEFAULT_LADDER, help: "240p to 2160p, without sizes above the source's" },
  apple: {
    label: "Apple",
    formats: [START, ...APPLE.filter((format) => format !== START), "mp4:x:64k"],
    help: "The bitrates of Apple's HLS Authoring Specification, for sources of 1080p and more",
  },
  small: {
    label: "Small",
    formats: ["mp4:360p:64k:quality=vmaf85,maxrate=700k", "mp4:720p:96k:quality=vmaf88,maxrate=2000k", "mp4:x:48k"],
    help: "Few bits: two sizes for a VMAF, with a cap",
  },
} as const;
export type LadderName = keyof typeof LADDERS;
export const LADDER_NAMES: readonly LadderName[] = ["web", "apple", "small"];

/** The formats of a stream; the service's ladder if the request has none. */
export const formatsOf = (variants: unknown): readonly string[] =>
  Array.isArray(variants) ? variants.map(String) : DEFAULT_LADDER;

/** The value of `variants` for these formats. */
export const variantsOf = (formats: readonly string[]): readonly string[] | undefined =>
  ladderOf(formats) === "web" ? undefined : formats;

/** The ready ladder with these formats; undefined for other formats. */
export const ladderOf = (formats: readonly string[]): LadderName | undefined =>
  LADDER_NAMES.find((name) => LADDERS[name].formats.join(" ") === formats.join(" "));

/** The list with an item at another place. */
export const moved = <Item>(list: readonly Item[], from: number, to: number): Item[] => {
  const item = list[from];
  return item === undefined ? [...list] : list.toSpliced(from, 1).toSpliced(to, 0, item);
};

/** A format that the list lacks: the largest usual size. */
export const newFormat = (formats: readonly string[]): string => {
  const sizes = new Set(formats.map((format) => slotOf(format, "size")));
  const size = ["1080p", "720p", "480p", "360p", "240p", "1440p"].find((candidate) => !sizes.has(candidate)) ?? "2160p";
  return `mp4:${size}::quality=4`;
};

/** Codec and bitrate of the audio, such as `128k` or `opus_96k`; `x` without audio, empty for the default. */
export const audioOf = (format: string): string =>
  [slotOf(format, "audio"), slotOf(format, "audioRate")].filter((token) => token !== "").join("_");
export const withAudio = (format: string, audio: string): string => {
  const [codec = "", rate = ""] = /^\d/.test(audio) ? ["", audio] : audio.split("_");
  return withSlot(withSlot(format, "audioRate", rate), "audio", codec);
};
