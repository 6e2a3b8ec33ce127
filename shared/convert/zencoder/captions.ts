// Converts the captions of Zencoder: files at URLs, which become text tracks or text files.
import { type TrackContainer, textCodecOf } from "../../format/containers.ts";
import type { Draft } from "../draft.ts";
import type { Json } from "../note.ts";
import type { Reader } from "../reader.ts";

const TEXT_FORMATS: Readonly<Record<string, string>> = { vtt: "vtt", webvtt: "vtt", srt: "srt" };

/** The source of text: a file, or CEA-608 in the video of the input. Null if it cannot be read. */
function sourceOf(draft: Draft, output: Reader): Json | null {
  const url = output.at("caption_url").text();
  if (url === undefined) return { from: "cc1" };
  if (/^https?:/i.test(url) && !/\.sa?mi(?:\?|$)/i.test(url)) return { url, language: "und" };
  draft.lost(`${output.path}.caption_url`, "captions are WebVTT, SubRip, TTML or SCC files at http(s) URLs");
  return null;
}

/** `subtitles` of a video or stream with `caption_url`. `container`: null for a stream. */
export function subtitlesOf(draft: Draft, outputs: readonly Reader[], container: string | null): Json {
  const output = outputs.find((candidate) => candidate.at("caption_url").exists);
  if (!output || (container !== null && !textCodecOf(container as TrackContainer))) return {};
  const source = sourceOf(draft, output);
  draft.note("changed", output.path, "captions are text tracks, and not CEA-608 inside of the video");
  return source ? { subtitles: [source] } : {};
}

/** Adds a text file for an output of the type `captions`. */
export function convertCaptions(draft: Draft, output: Reader, path: string): void {
  const format = TEXT_FORMATS[(output.at("format").text() ?? path.split(".").at(-1) ?? "").toLowerCase()];
  const source = sourceOf(draft, output);
  if (format === undefined) draft.lost(output.path, "text files are WebVTT or SubRip");
  else if (source) draft.output(format, { key: output.at("label").text(), path, ...source }, output.path);
}

/** `subtitles` of a playlist that names segmented outputs of the type `captions`. */
export function playlistSubtitles(draft: Draft, playlist: Reader, captions: readonly Reader[]): Json {
  const subtitles = playlist
    .at("captions")
    .list()
    .flatMap((entry): Json[] => {
      const path = entry.at("path").text() ?? "";
      const file = captions.find((item) => path.endsWith(item.any("filename", "url").text()?.split("/").at(-1) ?? "?"));
      const source = file ? sourceOf(draft, file) : null;
      if (!file) draft.lost(entry.path, "names no segmented output of the type `captions`");
      const [language, name] = [entry.at("language").text(), entry.at("name").text()?.replaceAll('"', "'")];
      return source ? [{ ...source, ...(language ? { language } : {}), ...(name ? { name } : {}) }] : [];
    });
  return subtitles.length === 0 ? {} : { subtitles };
}
