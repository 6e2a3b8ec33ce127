// Converts the captions of MediaConvert's outputs: text tracks of streams, text files, and captions in frames.
import type { Draft } from "../draft.ts";
import type { Json } from "../note.ts";
import type { Reader } from "../reader.ts";
import { languageOf, nameOf, type TrackOptions } from "./audio.ts";

/** Formats of files that this service reads. */
const FILES: ReadonlySet<string> = new Set(["SCC", "TTML", "SRT", "WEBVTT", "IMSC", "SMPTE_TT"]);
const TEXT_FILES: ReadonlyMap<string, string> = new Map([
  ["WEBVTT", "vtt"],
  ["SRT", "srt"],
]);
const STREAM_TEXTS: ReadonlySet<string> = new Set(["WEBVTT", "IMSC", "TTML"]);
const COLORS = new Map(
  Object.entries({
    BLACK: "000000",
    WHITE: "ffffff",
    RED: "ff0000",
    GREEN: "00ff00",
    BLUE: "0000ff",
    YELLOW: "ffff00",
  }),
);

/** `params`: `burn` and `subtitles`. `files`: text files, by format. */
type CaptionParams = {
  readonly params: { burn?: Json; subtitles?: Json[] };
  readonly files: { readonly format: string; readonly params: Json }[];
};

export function captionParams(outputs: readonly Reader[], { draft, input, container }: TrackOptions): CaptionParams {
  const texts: CaptionParams = { params: {}, files: [] };
  for (const description of outputs.flatMap((output) => output.at("CaptionDescriptions").list())) {
    const selector = input.at("CaptionSelectors").at(description.at("CaptionSelectorName").text() ?? "");
    const settings = description.at("DestinationSettings");
    const type = settings.at("DestinationType").text() ?? "EMBEDDED";
    const source = sourceOf(draft, selector, type);
    const languages = [languageOf(description), languageOf(selector), source && "url" in source ? "und" : undefined];
    if (source === null) continue;
    const format = TEXT_FILES.get(type);
    if (type === "BURN_IN") texts.params.burn ??= { ...source, ...styleOf(settings.at("BurninDestinationSettings")) };
    else if (container === null && STREAM_TEXTS.has(type)) {
      const language = languages.find((candidate) => candidate !== undefined);
      const name = nameOf(description.at("LanguageDescription"));
      const track = { ...source, ...(language ? { language } : {}), ...(name ? { name } : {}) };
      texts.params.subtitles = [...(texts.params.subtitles ?? []), track];
    } else if (container !== null && format !== undefined) texts.files.push({ format, params: source });
    else draft.lost(description.path, "captions become WebVTT, SubRip, or part of the frames");
  }
  return texts;
}

/** The source of text; null if it cannot be converted, or remains inside of the video. */
function sourceOf(draft: Draft, selector: Reader, to: string): Json | null {
  const settings = selector.at("SourceSettings");
  const type = settings.at("SourceType").text() ?? "";
  const track = settings.at("TrackSourceSettings").at("TrackNumber").number();
  if (track !== undefined) return { from: track };
  if (type === "EMBEDDED") {
    const channel = settings.at("EmbeddedSourceSettings").at("Source608ChannelNumber").number() ?? 1;
    return /EMBEDDED/.test(to) ? null : { from: `cc${channel}` };
  }
  if (type === "DVB_SUB" && to === "BURN_IN") return { from: languageOf(selector) ?? 1 };
  const file = settings.at("FileSourceSettings");
  const url = file.at("SourceFile").text() ?? "";
  const shift = (file.at("TimeDelta").number() ?? 0) / (file.at("TimeDeltaUnits").text() === "MILLISECONDS" ? 1000 : 1);
  if (FILES.has(type) && /^https?:/i.test(url)) return { url, ...(shift === 0 ? {} : { shift }) };
  draft.lost(selector.path, "captions are read from SCC, TTML, SubRip and WebVTT files at http(s) URLs, or as CEA-608");
  return null;
}

function styleOf(settings: Reader): Json {
  const [color, outline] = ["FontColor", "OutlineColor"].map((name) => COLORS.get(settings.at(name).text() ?? ""));
  return { ...(color ? { color: `#${color}` } : {}), ...(outline ? { outline_color: `#${outline}` } : {}) };
}
