// Chooses the tracks of text of an output, with their traits.
import type { Failure } from "../../errors.ts";
import { type BurnSpec, isStyled } from "../../job/burn.ts";
import { burnOf, type OutputSpec } from "../../job/output-spec.ts";
import { SPEECH, type SpeechMetadata } from "../../job/speech.ts";
import {
  channelOf,
  type SubtitleSpec,
  type Subtitles,
  type SubtitleTraits,
  type TextChannel,
} from "../../job/subtitles.ts";
import { bestInLanguage } from "../../media/choose-streams.ts";
import { languageName, UNDETERMINED } from "../../media/languages.ts";
import { err, ok, type Result } from "../../result.ts";
import type { ChannelTrack, TextTrack } from "./text-tracks.ts";

/** A track of text with its source: the URL of a file, or a track of the input. */
export type ChosenText = SubtitleTraits & {
  readonly source: { readonly url: string } | { readonly track: TextTrack };
  /** Added to all times. */
  readonly shiftMs: number;
};

/** `notes`: sentences for the client about tracks that the output lacks. */
export type ChosenTexts = { readonly texts: readonly ChosenText[]; readonly notes: readonly string[] };

/** The closed captions of the video, and the recognized speech. */
export type Channels = readonly ChannelTrack[];

/** The text that an output shows: its tracks, and the captions in its frames. */
export const outputTexts = (spec: OutputSpec, tracks: readonly TextTrack[], channels?: Channels) => ({
  shown: chooseTexts(requestedTexts(spec), tracks, channels),
  burnt: chooseBurnt(burnOf(spec), tracks, channels),
});

/** The channels that an output has text of: they are read, or recognized, before the others are chosen. */
export function requestedChannels(spec: OutputSpec): TextChannel[] {
  const requested = requestedTexts(spec);
  const burn = burnOf(spec);
  const all: SubtitleSpec[] = [...(requested === "all" ? [] : requested), ...(burn ? [burn] : [])];
  return all.flatMap((text) => channelOf(text) ?? []);
}

function requestedTexts(spec: OutputSpec): Subtitles {
  if (spec.type === "text") {
    // Without its track, the whole output is skipped.
    const { optional: _, ...text } = spec.text;
    return [{ language: UNDETERMINED, name: "text", ...text }];
  }
  return "subtitles" in spec ? (spec.subtitles ?? []) : [];
}

/** The track of the input, of text or images, that is drawn into frames, if there is one. */
export function chooseBurnt(
  burn: BurnSpec | undefined,
  tracks: readonly TextTrack[],
  channels?: Channels,
): Result<ChosenTexts> {
  if (burn?.from === undefined) return ok({ texts: [], notes: [] });
  const { from, language, optional } = burn;
  const wanted = { from, ...(language === undefined ? {} : { language }), ...(optional ? { optional } : {}) };
  const chosen = chooseTexts([wanted], tracks, channels, true);
  const hasNote = chosen.ok && burntImages(chosen) && isStyled(burn);
  return hasNote ? ok({ ...chosen.value, notes: ["The captions are images, so their style has no effect."] }) : chosen;
}

/** The track that `chooseBurnt` has chosen, if it is made of images; otherwise null. */
export function burntImages(chosen: Result<ChosenTexts>): TextTrack | null {
  const [text] = chosen.ok ? chosen.value.texts : [];
  return text && "track" in text.source && text.source.track.content === "images" ? text.source.track : null;
}

/**
 * Chooses the tracks, with unique names and at most one default. Fails for a track that is missing or has no text.
 * `takesImages`: tracks of images can be used, too.
 */
export function chooseTexts(
  requested: Subtitles,
  tracks: readonly TextTrack[],
  channels: Channels = [],
  takesImages = false,
): Result<ChosenTexts> {
  if (requested === "all") return ok(allTexts(tracks));
  const chosen: { spec: SubtitleSpec; source: ChosenText["source"] }[] = [];
  const notes: string[] = [];
  for (const spec of requested) {
    const source = sourceOf(spec, tracks, channels, takesImages);
    if (source.ok) chosen.push({ spec, source: source.value });
    else if (spec.optional && source.error.code === "input_track_not_found") notes.push(leftOut(source.error.message));
    else return source;
  }
  return ok({ texts: described(chosen), notes });
}

function allTexts(tracks: readonly TextTrack[]): ChosenTexts {
  const readable = tracks.filter(({ content }) => content === "text");
  const notes = tracks.flatMap((track, at) => {
    const reason = unreadableReason(track);
    return reason === null ? [] : [`This output lacks subtitle track ${at + 1} of the input, because it ${reason}.`];
  });
  return { texts: described(readable.map((track) => ({ spec: {}, source: { track } }))), notes };
}

const leftOut = (message: string): string => `${message.replace(/\.$/, "")}, so this output lacks it.`;

function sourceOf(
  spec: SubtitleSpec,
  tracks: readonly TextTrack[],
  channels: Channels,
  takesImages: boolean,
): Result<ChosenText["source"]> {
  const { url, from } = spec;
  if (url !== undefined) return ok({ url });
  const wanted = channelOf(spec);
  if (wanted !== null) {
    const track = channels.find(({ channel }) => channel === wanted);
    if (track) return track.failure ? err(track.failure) : ok({ track });
    return err({ code: "input_track_not_found", message: missingChannel(wanted) });
  }
  const track =
    typeof from === "number"
      ? tracks[from - 1]
      : bestInLanguage(from ?? UNDETERMINED, tracks, ({ content }) => content === "text");
  if (!track) return err(missing(from ?? UNDETERMINED, tracks));
  const reason = takesImages && track.content === "images" ? null : unreadableReason(track);
  if (reason === null) return ok({ track });
  return err({
    code: "subtitle_failed",
    message: `Subtitle track ${tracks.indexOf(track) + 1} of the input ${reason}.`,
  });
}

const missingChannel = (channel: string): string =>
  channel.startsWith(SPEECH)
    ? "The input has no audio, and so no captions from speech."
    : `The input's video has no closed captions in ${channel.toUpperCase()}.`;

const missing = (from: string | number, tracks: readonly TextTrack[]): Failure => {
  const wanted = typeof from === "number" ? `subtitle track ${from}` : `subtitle track in the language ${from}`;
  const languages = tracks.map(({ language }) => language).join(", ");
  const present =
    tracks.length === 0 ? "it has no subtitle tracks" : `the languages of its subtitle tracks are ${languages}`;
  return { code: "input_track_not_found", message: `The input has no ${wanted}; ${present}.` };
};

/** Completes a sentence about a track that cannot become text; null for other tracks. */
function unreadableReason({ content, codec }: TextTrack): string | null {
  if (content === "text") return null;
  if (content === "images") return "is made of images; burn it in";
  return codec === "" ? "has an unknown codec" : `has the codec ${codec}, which cannot be read as text`;
}

type Chosen = { readonly spec: SubtitleSpec; readonly source: ChosenText["source"] };

/** Players choose by name, so names are unique (RFC 8216 §4.3.4.1.1). Requested names are unique already. */
function described(chosen: readonly Chosen[]): ChosenText[] {
  const names = new Set(chosen.flatMap(({ spec }) => spec.name ?? []));
  const requestedDefault = chosen.findIndex(({ spec }) => spec.default === true);
  const ownDefault = chosen.findIndex(({ spec, source }) => spec.default === undefined && trackIn(source)?.isDefault);
  const defaultAt = requestedDefault >= 0 ? requestedDefault : ownDefault;
  return chosen.map(({ spec, source }, at) => {
    const track = trackIn(source);
    const language = spec.language ?? track?.language ?? UNDETERMINED;
    const isForced = spec.forced ?? track?.isForced ?? false;
    const isCaptions = spec.kind === undefined ? (track?.isCaptions ?? false) : spec.kind === "captions";
    return {
      source,
      language,
      name: spec.name ?? unique(track?.title ?? languageName(language) ?? `Subtitles ${at + 1}`, names),
      default: at === defaultAt,
      ...(isForced ? { isForced } : {}),
      ...(isCaptions ? { isCaptions } : {}),
      ...(track && speechIn(track) ? { isAutomatic: true } : {}),
      shiftMs: spec.shiftMs ?? 0,
    };
  });
}

const speechIn = (track: TextTrack | ChannelTrack): SpeechMetadata | undefined =>
  "speech" in track ? track.speech : undefined;

/** The recognized speech in the text of an output, each language once. */
export function speechOf(texts: ReturnType<typeof outputTexts>): SpeechMetadata[] {
  const chosen = [texts.shown, texts.burnt].flatMap((result) => (result.ok ? result.value.texts : []));
  return [...new Set(chosen.flatMap(({ source }) => ("track" in source ? (speechIn(source.track) ?? []) : [])))];
}

const trackIn = (source: ChosenText["source"]): TextTrack | null => ("track" in source ? source.track : null);

/** Numbers further tracks of the same name: `English`, `English 2`. Adds the name to `names`. */
function unique(name: string, names: Set<string>): string {
  const candidates = [name, ...Array.from({ length: names.size + 1 }, (_, at) => `${name} ${at + 2}`)];
  const free = candidates.find((candidate) => !names.has(candidate)) ?? name;
  names.add(free);
  return free;
}
