// The manifest of a DASH package: one period, complete from the beginning.
import { targetSeconds } from "../bandwidth.ts";
import type { PackagedTrack } from "../segment.ts";
import { lastEndMs } from "../spans.ts";
import {
  audioSet,
  hasPicture,
  hasSound,
  type StoredSubtitles,
  type StoredThumbnails,
  subtitleSet,
  thumbnailSet,
  videoSet,
} from "./dash-adaptation-sets.ts";
import { element, xmlText } from "./xml.ts";

export type DashManifest = {
  /** The stream's folder, below that of the package. */
  readonly folder: string;
  readonly tracks: readonly PackagedTrack[];
  readonly subtitles: readonly StoredSubtitles[];
  readonly thumbnails: StoredThumbnails | null;
  readonly segmentDurationMs: number;
};

/** The text of the manifest (ISO 23009-1, live profile: segments by number, of any length). */
export function dashManifest({ folder, tracks, subtitles, thumbnails, segmentDurationMs }: DashManifest): string {
  const lastMs = lastEndMs(tracks);
  const target = targetSeconds(tracks);
  const codecs = grouped(tracks.filter(hasPicture), ({ codec }) => codec.split(".")[0]);
  const layouts = grouped(tracks.filter(hasSound), ({ sound }) => sound.channels);
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
        // The bits of a segment may all be at its beginning, and `bandwidth` is that of whole segments.
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
