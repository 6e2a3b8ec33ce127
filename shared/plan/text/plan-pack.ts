// Plans the run that puts the text tracks of a file into one file of the same kind. The encode copies them from there,
// because ffmpeg 7.0 does not trim the text that it encodes at the same time as copied text.
import { type TrackContainer, textCodecOf } from "../../format/containers.ts";
import type { SubtitleTraits } from "../../job/subtitles.ts";
import { checkedArguments } from "../command/checked-arguments.ts";
import { openingArguments } from "../command/opening-arguments.ts";
import type { PlannedRun } from "../command/planned-run.ts";
import { sectionOf } from "../outputs/map-audio.ts";

/** `path`: a file in `packedFormat`. */
export type TextToPack = SubtitleTraits & { readonly path: string };

const isIso = (container: TrackContainer): boolean => textCodecOf(container) === "mov_text";

export const packedFile = (container: TrackContainer): string => (isIso(container) ? "texts.mp4" : "texts.mkv");

/** The format of files for the container: WebM copies WebVTT, the others get SubRip. */
export const packedFormat = (container: TrackContainer): "vtt" | "srt" =>
  textCodecOf(container) === "webvtt" ? "vtt" : "srt";

/** `tagsPath`: a file with `packedTags`. */
export function planPack(container: TrackContainer, texts: readonly TextToPack[], tagsPath: string): PlannedRun {
  const inputs = [
    ...texts.map(({ path }) => ({ path, kind: "text" as const })),
    { path: tagsPath, kind: "tags" as const },
  ];
  return {
    argv: checkedArguments([
      ...openingArguments(inputs),
      ...texts.flatMap((_, at) => ["-map", `${at}:0`]),
      ...["-c", isIso(container) ? "mov_text" : "copy", "-map_metadata", "-1"],
      ...texts.flatMap((_, at) => [`-map_metadata:s:${at}`, `${texts.length}:s:${at}`]),
      ...["-f", isIso(container) ? "mp4" : "matroska", packedFile(container)],
    ]),
    reads: inputs.map(({ path }) => path),
    network: "none",
    inHardware: false,
    expectedFrames: null,
    durationMs: null,
  };
}

/** The languages and names, in ffmpeg's text format for tags (ffmetadec.c). */
export const packedTags = (container: TrackContainer, texts: readonly SubtitleTraits[]): string =>
  [";FFMETADATA1", ...texts.flatMap((text) => sectionOf(text, container))].join("\n");
