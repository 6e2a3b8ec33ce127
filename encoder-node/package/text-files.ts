// The WebVTT files of a package: text tracks as a single file for DASH and as segments for HLS, and thumbnail cues.

import type { Chapter } from "#shared/media/chapters.ts";
import { escapedText } from "../text/escaped-text.ts";
import { type WebVtt, webVttText } from "../text/subtitle-cues.ts";
import { subtitleSegments, textSpans } from "../text/subtitle-segments.ts";
import {
  inStreamFolder,
  segmentNumber,
  subtitleFile,
  subtitleSegmentFile,
  subtitlesName,
  type TextFile,
  THUMBNAIL_FOLDER,
  urlOf,
} from "./package-files.ts";

export type SubtitlePlace = {
  /** The stream's folder below the package's folder. */
  readonly folder: string;
  /** The index among the text tracks, from 0. */
  readonly at: number;
};

export const wholeSubtitle = (text: WebVtt, { folder, at }: SubtitlePlace): TextFile => ({
  file: inStreamFolder(folder, subtitleFile(subtitlesName(segmentNumber(at)))),
  text: webVttText(text),
});

/** The segments of a text track in a stream that ends at `endMs`. */
export function segmentedSubtitle(text: WebVtt, endMs: number, { folder, at }: SubtitlePlace): TextFile[] {
  const name = subtitlesName(segmentNumber(at));
  return subtitleSegments(text, textSpans(endMs)).map((segment, number) => ({
    file: inStreamFolder(folder, subtitleSegmentFile(name, segmentNumber(number))),
    text: segment,
  }));
}

/**
 * The thumbnails' entry file. Its cues point to the stream's folder, while the cues of `vtt` point to their own folder.
 */
export function thumbnailVtt(vtt: string, folder: string): string {
  return vtt.replaceAll(new RegExp(`^(?=${THUMBNAIL_FOLDER}/)`, "gm"), urlOf(inStreamFolder(folder, "")));
}

/** The chapters of a stream as a track of chapters (WebVTT §2.4). Chapters without a title get their number. */
export const chapterVtt = (chapters: readonly Chapter[]): string =>
  webVttText({
    definitions: [],
    cues: chapters.map(({ title, ...times }, at) => ({
      ...times,
      settings: "",
      text: escapedText(title || `Chapter ${at + 1}`),
    })),
  });
