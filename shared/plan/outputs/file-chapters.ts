// The chapters of a file: its source has them, and ffmpeg copies them from a file of tags.
import type { TrackContainer } from "../../format/containers.ts";
import type { VideoOutput } from "../../job/output-spec.ts";
import { chaptersBetween } from "../../media/chapters.ts";
import type { NamedInput } from "../command/planned-run.ts";
import type { SourceTracks } from "../source/source-tracks.ts";
import type { Trim } from "../source/trim.ts";
import { escapedTag } from "./map-audio.ts";

const CONTAINERS: ReadonlySet<TrackContainer> = new Set(["mp4", "mov", "m4a", "mkv", "webm"]);

/**
 * The input with the chapters of an output; null if it has none. ffmpeg moves them by `-ss` of the output, unless the
 * output `isJoined` of tracks that are trimmed already.
 */
export function chapterInput(
  { index, container, fragmented, keepsMetadata }: VideoOutput,
  { chapters: all }: SourceTracks,
  { seekMs, startMs, endMs }: Trim,
  isJoined = false,
): NamedInput | null {
  const chapters = chaptersBetween(all, startMs, endMs);
  // The header of a fragmented file is written before its chapters.
  if (chapters.length === 0 || !keepsMetadata || fragmented || !CONTAINERS.has(container)) return null;
  const leadMs = isJoined ? 0 : Math.round(startMs - seekMs);
  const sections = chapters.flatMap((chapter) => [
    ...["[CHAPTER]", "TIMEBASE=1/1000", `START=${chapter.startMs + leadMs}`, `END=${chapter.endMs + leadMs}`],
    ...(chapter.title === "" ? [] : [`title=${escapedTag(chapter.title)}`]),
  ]);
  const name = `chapters-${index}`;
  const text = [";FFMETADATA1", ...sections, ""].join("\n");
  return { name, path: `${index}-chapters.txt`, kind: "tags", text };
}
