// The playlists of single tracks: their segments, their keyframes, and text.

import type { SegmentFormat } from "#shared/job/output-spec.ts";
import { initFile, segmentFile, segmentNumber, subtitleSegmentFile, urlOf } from "../package-files.ts";
import type { PackagedTrack } from "../segment.ts";
import { keyframeSpans, type Span, spanSeconds } from "../spans.ts";
import type { TextSpan } from "../text/subtitle-segments.ts";
import { playlistText, quoted, tag } from "./hls-syntax.ts";

/** What the playlists of a package have in common. */
export type PlaylistTraits = {
  readonly format: SegmentFormat;
  /** The target duration of all the package's pictures and sound. */
  readonly target: number;
  /** Where players get the key of AES-128; null when nothing is encrypted. */
  readonly keyUri: string | null;
};

/**
 * The playlist of a track, complete. Without an IV of its own, an encrypted segment has its media sequence number for one
 * (RFC 8216 §5.2): see segmentNumber.
 */
export function mediaPlaylist({ name, timescale, segments }: PackagedTrack, traits: PlaylistTraits): string {
  const { format, target, keyUri } = traits;
  return playlistText([
    ...head(target),
    "#EXT-X-INDEPENDENT-SEGMENTS",
    ...(keyUri === null ? [] : [tag("EXT-X-KEY", { METHOD: "AES-128", URI: quoted(keyUri) })]),
    ...map(name, format),
    ...segmentLines(segments, timescale, (number) => segmentFile(name, number, format)),
    END,
  ]);
}

/** The playlist of a track's keyframes: byte ranges of its segments, each until the next keyframe (RFC 8216 §4.3.3.6). */
export function keyframePlaylist(
  { name, timescale, segments }: PackagedTrack,
  { format, target }: Omit<PlaylistTraits, "keyUri">,
): string {
  return playlistText([
    `#EXT-X-TARGETDURATION:${target}`,
    "#EXT-X-PLAYLIST-TYPE:VOD",
    "#EXT-X-I-FRAMES-ONLY",
    "#EXT-X-INDEPENDENT-SEGMENTS",
    ...map(name, format),
    ...keyframeSpans(segments).flatMap((span) => [
      duration(span, timescale),
      `#EXT-X-BYTERANGE:${span.sizeBytes}@${span.offset}`,
      urlOf(segmentFile(name, span.segment, format)),
    ]),
    END,
  ]);
}

/** The playlist of a text track, which is called `name`, with a target duration of its own. */
export function subtitlePlaylist(name: string, spans: readonly TextSpan[], target: number): string {
  const segments = spans.map(({ startMs, endMs }) => ({ start: startMs, duration: endMs - startMs }));
  return playlistText([
    ...head(target),
    ...segmentLines(segments, 1000, (number) => subtitleSegmentFile(name, number)),
    END,
  ]);
}

const END = "#EXT-X-ENDLIST";

const head = (target: number): string[] => [
  `#EXT-X-TARGETDURATION:${target}`,
  `#EXT-X-MEDIA-SEQUENCE:${segmentNumber(0)}`,
  "#EXT-X-PLAYLIST-TYPE:VOD",
];

const map = (name: string, format: SegmentFormat): string[] =>
  format === "fmp4" ? [tag("EXT-X-MAP", { URI: quoted(urlOf(initFile(name))) })] : [];

type Times = Pick<Span, "start" | "duration">;

const segmentLines = (segments: readonly Times[], timescale: number, fileOf: (number: number) => string): string[] =>
  segments.flatMap((segment, at) => [duration(segment, timescale), urlOf(fileOf(segmentNumber(at)))]);

const duration = (times: Times, timescale: number): string => `#EXTINF:${spanSeconds(times, timescale).toFixed(6)},`;
