// The subtitle tracks of a source.
import type { Failure } from "../../errors.ts";
import { SPEECH_CHANNELS, type SpeechMetadata } from "../../job/speech.ts";
import { CAPTION_CHANNELS, type TextChannel } from "../../job/subtitles.ts";
import { preference } from "../../media/choose-streams.ts";
import { languageTag, UNDETERMINED } from "../../media/languages.ts";
import type { MediaProbe, ProbedStream } from "../../media/media-probe.ts";
import { BITMAP_CODECS } from "../command/capabilities.ts";

/** A subtitle track of a source. */
export type TextTrack = {
  /** Index of the stream in the file. */
  readonly streamIndex: number;
  /** ffmpeg's name of the codec; empty if unknown. */
  readonly codec: string;
  /** Text can be read. Images cannot become text. */
  readonly content: "text" | "images" | "unknown";
  /** A BCP 47 tag; `und` if the track states none. */
  readonly language: string;
  readonly title: string | null;
  readonly isDefault: boolean;
  /** Scores among tracks of its language (`bestInLanguage`). */
  readonly preference: readonly number[];
  readonly isForced: boolean;
  readonly isCaptions: boolean;
};

/** Closed captions of the video, or recognized speech. `path`: the file of the node, in WebVTT. */
export type ChannelTrack = TextTrack & {
  readonly channel: TextChannel;
  readonly path: string;
  readonly speech?: SpeechMetadata;
  /** Set if the speech could not be recognized. */
  readonly failure?: Failure;
};

/** The channel as a track; it is in no stream of the file. */
export const channelTrack = (channel: TextChannel, path: string): ChannelTrack => ({
  channel,
  path,
  streamIndex: -1,
  codec: "webvtt",
  content: "text",
  language: UNDETERMINED,
  title: channel.toUpperCase(),
  isDefault: false,
  preference: [],
  isForced: false,
  isCaptions: true,
});

/** A channel that cannot be read. */
export const failedChannel = (channel: TextChannel, failure: Failure): ChannelTrack => ({
  ...channelTrack(channel, ""),
  failure,
});

/** Recognized speech as a track, in the language of its text. */
export const speechTrack = (channel: TextChannel, path: string, speech: SpeechMetadata): ChannelTrack => ({
  ...channelTrack(channel, path),
  language: languageTag(speech.language),
  title: null,
  speech,
});

/** The name of the file with a channel. */
export const channelFile = (channel: TextChannel): string => `${channel}.vtt`;

/** All channels, while it is not known which of them the input has. */
export const ALL_CHANNELS: readonly ChannelTrack[] = [...CAPTION_CHANNELS, ...SPEECH_CHANNELS].map((channel) =>
  channelTrack(channel, ""),
);

/** The file of a track that was read already; null for tracks of the source's file. */
export const readPath = (track: TextTrack | ChannelTrack): string | null => ("path" in track ? track.path : null);

/** Codecs of text by ffmpeg's names. ffmpeg decodes each of them. */
const TEXT_CODECS: ReadonlySet<string> = new Set(["ass", "ssa", "subrip", "srt", "mov_text", "text", "webvtt"]);

/** All subtitle tracks, in the order of the file. */
export const textTracks = ({ streams }: Pick<MediaProbe, "streams">): TextTrack[] =>
  streams.filter(({ codec_type }) => codec_type === "subtitle").map(textTrack);

function textTrack(stream: ProbedStream): TextTrack {
  const { index, codec_name: codec = "", tags, disposition } = stream;
  const has = (name: string): boolean => disposition?.[name] === 1;
  return {
    streamIndex: index,
    codec,
    content: TEXT_CODECS.has(codec) ? "text" : BITMAP_CODECS.has(codec) ? "images" : "unknown",
    language: languageTag(tags?.language ?? UNDETERMINED),
    title: trackName(tags?.title ?? tags?.handler_name ?? ""),
    isDefault: has("default"),
    preference: preference(stream),
    isForced: has("forced"),
    isCaptions: has("hearing_impaired") || has("captions"),
  };
}

/** Parts of names that muxers write for tracks without a name: ffmpeg's, Apple's and GPAC's. */
const GENERATED_NAMES = ["subtitlehandler", "texthandler", "media handler", "@gpac"];
const MAX_NAME_CHARS = 100;

/** A track's name in the form that playlists can contain; null without a usable name. HLS cannot escape quotes. */
function trackName(title: string): string | null {
  const name = title
    .normalize("NFC")
    .replaceAll('"', "'")
    .replaceAll(/[\p{Cc}\s]+/gu, " ")
    .trim();
  const isGenerated = GENERATED_NAMES.some((part) => name.toLowerCase().includes(part));
  return name === "" || isGenerated ? null : [...name].slice(0, MAX_NAME_CHARS).join("").trim();
}
