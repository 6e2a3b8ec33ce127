// The manifest of a DASH package, with a single period: static, or dynamic while the stream is encoded.

import type { PackagedTrack } from "../../codecs/segment.ts";
import { targetSeconds } from "../bandwidth.ts";
import { dashPriority, entryOf, hasSeveralCodecs, isRecent } from "../codec-order.ts";
import { availabilityStart, type Growing } from "../growing.ts";
import { entryFile, type TextFile } from "../package-files.ts";
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
import { element, type Lines, xmlText } from "./xml.ts";

export type DashPackage = {
  /** The stream's folder below the package's folder. */
  readonly folder: string;
  readonly playlistName: string;
  readonly tracks: readonly PackagedTrack[];
  readonly subtitles: readonly StoredSubtitles[];
  readonly thumbnails: StoredThumbnails | null;
  readonly segmentDurationMs: number;
  /** Set while the stream is encoded. The manifest then has no thumbnails. */
  readonly growing?: Growing | null;
};

/** The manifest (ISO 23009-1, live profile: numbered segments of any duration). */
export const dashManifestFile = (dash: DashPackage): TextFile => ({
  file: entryFile(dash.playlistName, "mpd"),
  text: dashManifest(dash),
});

function dashManifest(dash: DashPackage): string {
  const { folder, tracks, subtitles, thumbnails, segmentDurationMs, growing = null } = dash;
  const lastMs = growing?.expectedMs ?? lastEndMs(tracks);
  const measured = growing?.measuredSegments;
  const target = targetSeconds(tracks);
  const common = { folder, target, measured };
  const videos = tracks.filter(hasVideo);
  const codecs = grouped(videos, (track) => [entryOf(track), track.video.hdr?.transfer].join());
  // H.264 beside HEVC only is left to players, as it always was.
  const isRanked = hasSeveralCodecs(tracks) && videos.some(isRecent);
  // Players start with the first of several sets.
  const audios = tracks.filter(hasAudio).toSorted((a, b) => startRank(a) - startRank(b));
  const layouts = grouped(audios, (track) =>
    [track.rendition?.number ?? 0, track.audio.channels, entryOf(track)].join(),
  );
  const sets = [
    ...codecs.map(
      (group) => (id: number) => videoSet(group, { id, ...common, priority: isRanked ? priorityOf(group) : null }),
    ),
    ...layouts.map((group) => (id: number) => audioSet(group, { id, ...common })),
    ...subtitles.map((text, at) => (id: number) => subtitleSet(text, at, lastMs, { id, ...common })),
    ...(thumbnails ? [(id: number) => thumbnailSet(thumbnails, { id, ...common })] : []),
  ];
  return xmlText(
    element(
      "MPD",
      {
        xmlns: "urn:mpeg:dash:schema:mpd:2011",
        profiles: "urn:mpeg:dash:profile:isoff-live:2011",
        ...(growing ? dynamic(growing) : { type: "static", mediaPresentationDuration: duration(lastMs) }),
        // All bits of a segment may be at its start, and `bandwidth` is the rate of whole segments.
        minBufferTime: duration(segmentDurationMs),
      },
      [
        element(
          "Period",
          { id: "1", start: "PT0S" },
          sets.map((set, at) => set(at + 1)),
        ),
        ...(growing ? [clock(growing)] : []),
      ],
    ),
  );
}

const priorityOf = ([track]: readonly PackagedTrack[]): number | null => (track ? dashPriority(track) : null);

const startRank = ({ rendition }: PackagedTrack): number => (rendition?.isDefault === false ? 1 : 0);

/**
 * Players look for new segments after the duration of a segment. They start as far behind the end as they can, at the
 * start of the stream.
 */
const dynamic = (growing: Growing): Readonly<Record<string, string>> => ({
  type: "dynamic",
  availabilityStartTime: new Date(availabilityStart(growing)).toISOString(),
  publishTime: new Date(growing.writtenAt).toISOString(),
  minimumUpdatePeriod: duration(growing.segmentSeconds * 1000),
  suggestedPresentationDelay: duration(LONGEST_DELAY_MS),
});

/** The clock for players. Without it, dash.js would ask another server for the time. */
const clock = ({ writtenAt }: Growing): Lines =>
  element("UTCTiming", { schemeIdUri: "urn:mpeg:dash:utc:direct:2014", value: new Date(writtenAt).toISOString() });

/** Two days: longer than any stream takes to be encoded and played. */
const LONGEST_DELAY_MS = 48 * 3600_000;

const duration = (ms: number): string => `PT${Math.round(ms) / 1000}S`;

function grouped<Item, Key>(items: readonly Item[], keyOf: (item: Item) => Key): Item[][] {
  return [...Map.groupBy(items, keyOf).values()];
}
