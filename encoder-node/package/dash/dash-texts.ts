// All texts of a DASH package.
import { entryFile, type PackageText } from "../package-files.ts";
import type { PackagedTrack } from "../segment.ts";
import type { StoredSubtitles, StoredThumbnails } from "./dash-adaptation-sets.ts";
import { dashManifest } from "./dash-manifest.ts";

export type DashPackage = {
  /** The stream's folder, below that of the package. */
  readonly folder: string;
  readonly playlistName: string;
  readonly tracks: readonly PackagedTrack[];
  readonly subtitles: readonly StoredSubtitles[];
  readonly thumbnails: StoredThumbnails | null;
  readonly segmentDurationMs: number;
};

/** In the order in which they can be stored: the manifest last, and alone. */
export const dashTexts = (dash: DashPackage): PackageText[] => [
  { file: entryFile(dash.playlistName, "mpd"), text: dashManifest(dash) },
];
