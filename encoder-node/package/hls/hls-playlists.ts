// All playlists of an HLS package, or of HLS playlists over the segments of a DASH package.
import type { SegmentFormat } from "#shared/job/output-spec.ts";
import type { SubtitleTraits } from "#shared/job/subtitles.ts";
import type { StreamVariant } from "#shared/plan/streams/planned-stream.ts";
import type { PackagedTrack } from "../../codecs/segment.ts";
import { type TextSpan, textSpans } from "../../text/subtitle-segments.ts";
import { targetSeconds, textTargetSeconds } from "../bandwidth.ts";
import { type Growing, growingTarget } from "../growing.ts";
import {
  entryFile,
  initFile,
  inStreamFolder,
  keyframePlaylistFile,
  mediaPlaylistFile,
  segmentFile,
  segmentNumber,
  subtitleSegmentFile,
  subtitlesName,
  type TextFile,
  urlOf,
} from "../package-files.ts";
import { keyframeSpans, lastEndMs, type Span, spanSeconds } from "../spans.ts";
import { masterPlaylist } from "./hls-master-playlist.ts";
import { FROM_START, playlistText, quoted, tag } from "./hls-syntax.ts";

export type HlsPackage = {
  readonly format: SegmentFormat;
  /** The stream's folder below the package's folder. */
  readonly folder: string;
  readonly playlistName: string;
  readonly tracks: readonly PackagedTrack[];
  /** Variants of the package's own tracks. */
  readonly variants: readonly StreamVariant[];
  /** Their segments come from segmentedSubtitle. */
  readonly subtitles: readonly SubtitleTraits[];
  /** The URL of the key that encrypts the segments. Null when they are not encrypted. */
  readonly keyUri: string | null;
  /** True if segments contain video and audio, for players of HLS version 3, which has no keyframe playlists. */
  readonly muxed: boolean;
  /** See MasterPlaylist. */
  readonly ranked?: boolean;
  /** Set while the stream is encoded. The package then has no keyframe playlists. */
  readonly growing?: Growing | null;
};

/** Returns the files in the order of storing: the playlists of tracks first, the master playlist last. */
export function hlsTextFiles(hls: HlsPackage): TextFile[] {
  const { format, folder, tracks, subtitles, keyUri, muxed, growing = null } = hls;
  // All text is stored before the first segments.
  const spans = textSpans(growing?.expectedMs ?? lastEndMs(tracks));
  const measured = targetSeconds(tracks);
  const target = growing ? growingTarget(growing, measured) : measured;
  // A range of an encrypted file cannot be decrypted on its own.
  const keyframes = keyUri === null && !muxed && !growing;
  const traits = { format, target, keyUri, isGrowing: growing !== null };
  const below = (file: string, text: string): TextFile => ({ file: inStreamFolder(folder, file), text });
  const texts = subtitles.map((_, at) => subtitlesName(segmentNumber(at)));
  const videos = keyframes ? tracks.filter(({ video }) => video !== null) : [];
  return [
    ...texts.map((name) => below(mediaPlaylistFile(name), subtitlePlaylist(name, spans, textTargetSeconds(spans)))),
    ...tracks.map((track) => below(mediaPlaylistFile(track.name), mediaPlaylist(track, traits))),
    ...videos.map((track) => below(keyframePlaylistFile(track.name), keyframePlaylist(track, { format, target }))),
    { file: entryFile(hls.playlistName, "m3u8"), text: masterPlaylist({ ...hls, target, keyframes, growing }) },
  ];
}

// The playlists of single tracks: segments, keyframes and subtitles.

/** The common properties of a package's playlists. */
type PlaylistTraits = {
  readonly format: SegmentFormat;
  /** The target duration of all video and audio playlists of the package. */
  readonly target: number;
  /** The URL of the AES-128 key. Null when nothing is encrypted. */
  readonly keyUri: string | null;
  /** True if more segments follow. */
  readonly isGrowing: boolean;
};

/**
 * The playlist of a track, complete or growing. EXT-X-KEY has no IV attribute, so the IV of an encrypted segment is its
 * media sequence number (RFC 8216 §5.2); see segmentNumber.
 */
function mediaPlaylist({ name, timescale, segments }: PackagedTrack, traits: PlaylistTraits): string {
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
 * The playlist of a track's keyframes: byte ranges of its segments, each up to the next keyframe (RFC 8216 §4.3.3.6).
 */
function keyframePlaylist(
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
function subtitlePlaylist(name: string, spans: readonly TextSpan[], target: number): string {
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
