// The manifest of a DASH package: static, with one period.
import { targetSeconds } from "../bandwidth.ts";
import { entryFile, type TextFile } from "../package-files.ts";
import type { PackagedTrack } from "../segment.ts";
import { lastEndMs } from "../spans.ts";
import {
  audioSet,
  hasAudio,
  hasVideo,
  type StoredSubtitles,
  type StoredThumbnails,
  subtitleSet,
  thumbnailSet,
  videoSet,
} from "./dash-adaptation-sets.ts";
import { element, xmlText } from "./xml.ts";

export type DashPackage = {
  /** The stream's folder below the package's folder. */
  readonly folder: string;
  readonly playlistName: string;
  readonly tracks: readonly PackagedTrack[];
  readonly subtitles: readonly StoredSubtitles[];
  readonly thumbnails: StoredThumbnails | null;
  readonly segmentDurationMs: number;
};

/** The manifest (ISO 23009-1, live profile: numbered segments of any duration). */
export const dashManifestFile = (dash: DashPackage): TextFile => ({
  file: entryFile(dash.playlistName, "mpd"),
  text: dashManifest(dash),
});

function dashManifest({ folder, tracks, subtitles, thumbnails, segmentDurationMs }: DashPackage): string {
  const lastMs = lastEndMs(tracks);
  const target = targetSeconds(tracks);
  const codecs = grouped(tracks.filter(hasVideo), ({ codec }) => codec.split(".")[0]);
  const layouts = grouped(tracks.filter(hasAudio), ({ audio }) => audio.channels);
  const sets = [
    ...codecs.map((group) => (id: number) => videoSet(group, { id, folder, target })),
    ...layouts.map((group) => (id: number) => audioSet(group, { id, folder, target })),
    ...subtitles.map((text, at) => (id: number) => subtitleSet(text, at, lastMs, { id, folder, target })),
    ...(thumbnails ? [(id: number) => thumbnailSet(thumbnails, { id, folder, target })] : []),
  ];
  return xmlText(
    element(
      "MPD",
      {
        xmlns: "urn:mpeg:dash:schema:mpd:2011",
        profiles: "urn:mpeg:dash:profile:isoff-live:2011",
        type: "static",
        mediaPresentationDuration: duration(lastMs),
        // All bits of a segment may be at its beginning, and `bandwidth` is the rate of whole segments.
        minBufferTime: duration(segmentDurationMs),
      },
      [
        element(
          "Period",
          { id: "1", start: "PT0S" },
          sets.map((set, at) => set(at + 1)),
        ),
      ],
    ),
  );
}

const duration = (ms: number): string => `PT${Math.round(ms) / 1000}S`;

function grouped<Item, Key>(items: readonly Item[], keyOf: (item: Item) => Key): Item[][] {
  return [...Map.groupBy(items, keyOf).values()];
}
