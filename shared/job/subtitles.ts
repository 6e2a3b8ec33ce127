// Tracks of text in outputs: subtitles and captions.
import * as z from "zod";
import type { BurnSpec } from "./burn.ts";
import { SPEECH, type SpeechChannel, speechChannel } from "./speech.ts";

/** Captions are subtitles for viewers who cannot hear: they also describe music and noises. */
export const SUBTITLE_KINDS = ["subtitles", "captions"] as const;

/** Channels of closed captions inside of video (CEA-608). */
export const CAPTION_CHANNELS = ["cc1", "cc2", "cc3", "cc4"] as const;
export type CaptionChannel = (typeof CAPTION_CHANNELS)[number];

/** Text of the input that is in none of its text tracks: closed captions, or recognized speech. */
export type TextChannel = CaptionChannel | SpeechChannel;

export const isChannel = (from: string | number | undefined): from is CaptionChannel =>
  CAPTION_CHANNELS.some((channel) => channel === from);

/** The channel that a track comes from; null for other tracks. */
export function channelOf({ from, language }: Pick<SubtitleSpec, "from" | "language">): TextChannel | null {
  if (from === SPEECH) return speechChannel(language);
  return isChannel(from) ? from : null;
}

/** A track of text. It has either `url` or `from`. Absent fields are those of the input's track. */
export const SubtitleSpec = z.object({
  url: z.string().exactOptional(),
  /** Number of a subtitle track of the input, from 1, its language, a channel of closed captions, or `speech`. */
  from: z.union([z.int(), z.string()]).exactOptional(),
  /** A BCP 47 tag. */
  language: z.string().exactOptional(),
  name: z.string().exactOptional(),
  default: z.boolean().exactOptional(),
  kind: z.enum(SUBTITLE_KINDS).exactOptional(),
  /** True for text that all viewers need, such as translations of signs. */
  forced: z.boolean().exactOptional(),
  /** Set if the output lacks the track when the input lacks it. */
  optional: z.literal(true).exactOptional(),
  /** Added to all times. */
  shiftMs: z.number().exactOptional(),
});
export type SubtitleSpec = z.infer<typeof SubtitleSpec>;

/** `all`: each text track of the input. */
export const Subtitles = z.union([z.array(SubtitleSpec), z.literal("all")]);
export type Subtitles = z.infer<typeof Subtitles>;

/** The traits of a track of text by which viewers choose. `language` is a BCP 47 tag. */
export type SubtitleTraits = {
  readonly language: string;
  readonly name: string;
  readonly default: boolean;
  readonly isForced?: boolean;
  readonly isCaptions?: boolean;
  /** True if a machine wrote the text. */
  readonly isAutomatic?: boolean;
};

const NEW_FIELDS = ["from", "kind", "forced", "optional", "shiftMs"] as const;

/** True if nodes of releases before 0.3.0 can read the subtitles of the output, and know what they mean. */
export const areFilesOnly = ({ type, subtitles = [] }: WithSubtitles & { readonly type: string }): boolean =>
  subtitles !== "all" &&
  (type === "httpstream" || subtitles.length === 0) &&
  subtitles.every((subtitle) => NEW_FIELDS.every((field) => subtitle[field] === undefined));

type WithSubtitles = { readonly subtitles?: Subtitles };

type WithTexts = WithSubtitles & { readonly burn?: BurnSpec };

/** True if an output has text from the input. */
export const readsTexts = ({ subtitles = [], burn }: WithTexts): boolean =>
  subtitles === "all" || subtitles.some(({ from }) => from !== undefined) || burn?.from !== undefined;
