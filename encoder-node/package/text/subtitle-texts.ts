// The files of one text track in a package: a whole one for DASH, segments for HLS.
import {
  inStreamFolder,
  type PackageText,
  segmentNumber,
  subtitleFile,
  subtitleSegmentFile,
  subtitlesName,
} from "../package-files.ts";
import { type WebVtt, webVttText } from "./subtitle-cues.ts";
import { subtitleSegments, textSpans } from "./subtitle-segments.ts";

export type SubtitlePlace = {
  /** The stream's folder, below that of the package. */
  readonly folder: string;
  /** Its place among the text tracks, from 0. */
  readonly at: number;
};

export const wholeSubtitle = (text: WebVtt, { folder, at }: SubtitlePlace): PackageText => ({
  file: inStreamFolder(folder, subtitleFile(subtitlesName(segmentNumber(at)))),
  text: webVttText(text),
});

/** For a film that ends at `endMs`. */
export function segmentedSubtitle(text: WebVtt, endMs: number, { folder, at }: SubtitlePlace): PackageText[] {
  const name = subtitlesName(segmentNumber(at));
  return subtitleSegments(text, textSpans(endMs)).map((segment, number) => ({
    file: inStreamFolder(folder, subtitleSegmentFile(name, segmentNumber(number))),
    text: segment,
  }));
}
