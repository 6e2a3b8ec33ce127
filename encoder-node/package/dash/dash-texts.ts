// All texts of a DASH package.

import type { Subtitles } from "../hls/hls-playlists.ts";
import {
  entryFile,
  inStreamFolder,
  type PackageText,
  segmentNumber,
  subtitleFile,
  subtitlesName,
} from "../package-files.ts";
import type { PackagedTrack } from "../segment.ts";
import { webVttText } from "../text/subtitle-cues.ts";
import type { StoredThumbnails } from "./dash-adaptation-sets.ts";
import { dashManifest } from "./dash-manifest.ts";

export type DashPackage = {
  /** The stream's folder, below that of the package. */
  readonly folder: string;
  readonly playlistName: string;
  readonly tracks: readonly PackagedTrack[];
  readonly subtitles: readonly Subtitles[];
  readonly thumbnails: StoredThumbnails | null;
  readonly segmentDurationMs: number;
};

/** In the order in which they can be stored: text tracks, and the manifest last. */
export function dashTexts(dash: DashPackage): PackageText[] {
  const stored = dash.subtitles.map((subtitles, at) => {
    const text = webVttText(subtitles.text);
    return {
      ...subtitles,
      text,
      file: subtitleFile(subtitlesName(segmentNumber(at))),
      sizeBytes: Buffer.byteLength(text),
    };
  });
  return [
    ...stored.map(({ file, text }) => ({ file: inStreamFolder(dash.folder, file), text })),
    { file: entryFile(dash.playlistName, "mpd"), text: dashManifest({ ...dash, subtitles: stored }) },
  ];
}
