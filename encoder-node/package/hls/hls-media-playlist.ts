// The playlists of single tracks: segments, keyframes and subtitles.
import type { SegmentFormat } from "#shared/job/output-spec.ts";
import { initFile, segmentFile, segmentNumber, subtitleSegmentFile, urlOf } from "../package-files.ts";
import type { PackagedTrack } from "../segment.ts";
import { keyframeSpans, type Span, spanSeconds } from "../spans.ts";
import type { TextSpan } from "../text/subtitle-segments.ts";
import { FROM_START, playlistText, quoted, tag } from "./hls-syntax.ts";

/** The common properties of a package's playlists. */
export type PlaylistTraits = {
  readonly format: SegmentFormat;
  /** The target duration of all video and audio playlists of the package. */
  readonly target: number;
  /** The URL of the AES-128 key. Null when nothing is encrypted. */
  readonly keyUri: string | null;
  /** Whether more segments follow. */
  readonly isGrowing: boolean;
};

/**
 * The playlist of a track, complete or with what there is of it so far. EXT-X-KEY has no IV attribute, so the IV of an
 * encrypted segment is its media sequence number (RFC 8216 §5.2); see segmentNumber.
 */
export function mediaPlaylist({ name, timescale, segments }: PackagedTrack, traits: PlaylistTraits): string {
  const { format, target, keyUri, isGrowing } = traits;
  return playlistText([
    ...head(target, isGrowing ? "EVENT" : "VOD"),
    "#EXT-X-INDEPENDENT-SEGMENTS",
    ...(isGrowing ? [FROM_START] : []),
    ...(keyUri === null ? [] : [tag("EXT-X-KEY", { METHOD: "AES-128", URI: quoted(keyUri) })]),
    ...map(name, format),
    ...segmentLines(segments, timescale, (number) => segmentFile(name, number, format)),
    ...(isGrowing ? [] : [END]),
  ]);
}

/**
 * The playlist of a track's keyframes: byte ranges of its segments, each until the next keyframe (RFC 8216 §4.3.3.6).
 */
export function keyframePlaylist(
  { name, timescale, segments }: PackagedTrack,
  { format, target }: Pick<PlaylistTraits, "format" | "target">,
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

/** The playlist of the text track `name`, with its own target duration. */
export function subtitlePlaylist(name: string, spans: readonly TextSpan[], target: number): string {
  const segments = spans.map(({ startMs, endMs }) => ({ start: startMs, duration: endMs - startMs }));
  return playlistText([
    ...head(target),
    ...segmentLines(segments, 1000, (number) => subtitleSegmentFile(name, number)),
    END,
  ]);
}

const END = "#EXT-X-ENDLIST";

const head = (target: number, type: "EVENT" | "VOD" = "VOD"): string[] => [
  `#EXT-X-TARGETDURATION:${target}`,
  `#EXT-X-MEDIA-SEQUENCE:${segmentNumber(0)}`,
  `#EXT-X-PLAYLIST-TYPE:${type}`,
];

const map = (name: string, format: SegmentFormat): string[] =>
  format === "fmp4" ? [tag("EXT-X-MAP", { URI: quoted(urlOf(initFile(name))) })] : [];

type Times = Pick<Span, "start" | "duration">;

const segmentLines = (segments: readonly Times[], timescale: number, fileOf: (number: number) => string): string[] =>
  segments.flatMap((segment, at) => [duration(segment, timescale), urlOf(fileOf(segmentNumber(at)))]);

const duration = (times: Times, timescale: number): string => `#EXTINF:${spanSeconds(times, timescale).toFixed(6)},`;
