// Converts the audio tracks of MediaConvert's outputs, and the normalization of their loudness.
import { singleTrackReason, type TrackContainer } from "../../format/containers.ts";
import { languageTag } from "../../media/languages.ts";
import type { Draft } from "../draft.ts";
import { audioText } from "../format-key.ts";
import type { Json } from "../note.ts";
import type { Reader } from "../reader.ts";
import { audioOf } from "./tracks.ts";

/** `AudioType` of ISO/IEC 13818-1. */
const ROLES: Readonly<Record<number, string>> = { 2: "clear", 3: "description" };

/** `input`: has the selectors. `container`: null for a stream, whose tracks have the audio of each variant. */
export type TrackOptions = { readonly draft: Draft; readonly input: Reader; readonly container: string | null };

/** Returns `audio` and `loudness`; nothing for the track that outputs have anyway. */
export function audioParams(outputs: readonly Reader[], options: TrackOptions): Json {
  const { draft, container } = options;
  const all = outputs.flatMap((output) => output.at("AudioDescriptions").list());
  const single = container === null ? null : singleTrackReason(container as TrackContainer);
  if (single && all[1]) draft.lost(all[1].path, single);
  const tracks = (single ? all.slice(0, 1) : all).map((track, at) => trackOf(track, at, options));
  const audio = [...new Map(tracks.map((track) => [JSON.stringify(track), track])).values()];
  const isPlain = audio.every((track) => Object.keys(track).length === 0);
  const normalization = all[0]?.at("AudioNormalizationSettings");
  return { ...(isPlain ? {} : { audio }), ...(normalization?.exists ? { loudness: loudnessOf(normalization) } : {}) };
}

function trackOf(description: Reader, at: number, { draft, input, container }: TrackOptions): Json {
  const selector = input.at("AudioSelectors").at(description.at("AudioSourceName").text() ?? "Audio Selector 1");
  const language = languageOf(description);
  const name = nameOf(description.at("StreamName"));
  const role = ROLES[description.at("AudioType").number() ?? 0];
  const offset = (selector.at("Offset").number() ?? 0) / 1000;
  const format =
    at === 0 || container === null ? "" : audioText(container as TrackContainer, null, audioOf(description));
  return {
    ...sourceOf(draft, selector),
    ...(offset === 0 ? {} : { offset }),
    ...(language && description.at("LanguageCodeControl").text() === "USE_CONFIGURED" ? { language } : {}),
    ...(name ? { name } : {}),
    ...(role ? { role } : {}),
    ...(format ? { format } : {}),
  };
}

/** MediaConvert's outputs lack a track that the input lacks. */
function sourceOf(draft: Draft, selector: Reader): Json {
  selector.at("DefaultSelection").use();
  const language = languageOf(selector);
  const url = selector.at("ExternalAudioFileInput").text();
  if (url && /^https?:/i.test(url)) return { url };
  if (url) draft.lost(`${selector.path}.ExternalAudioFileInput`, "use a signed URL in `url` of the track");
  const numbers = selector
    .at("Tracks")
    .list()
    .flatMap((track) => track.number() ?? []);
  const from = numbers.length > 1 ? numbers : (numbers[0] ?? language);
  return from === undefined ? {} : { from, optional: true };
}

function loudnessOf(settings: Reader): Json | number | string {
  const isUngated = settings.at("Algorithm").text() === "ITU_BS_1770_1";
  const target = settings.at("TargetLkfs").number() ?? (isUngated ? -24 : -23);
  const peak = settings.at("TruePeakLimiterThreshold").number();
  if (settings.at("AlgorithmControl").text() === "MEASURE_ONLY") return "measure";
  return peak === undefined ? target : { target, true_peak: peak };
}

/** Returns the language of a selector or description as a BCP 47 tag. */
export function languageOf(from: Reader): string | undefined {
  const code = from.any("CustomLanguageCode", "LanguageCode").text();
  return code && languageTag(code);
}

/** Returns a name without characters that playlists cannot hold. */
export const nameOf = (label: Reader): string | undefined =>
  label
    .text()
    ?.replaceAll(/["\p{Cc}]/gu, "'")
    .slice(0, 100);
