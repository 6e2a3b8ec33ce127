// All playlists of an HLS package, or of HLS playlists over the segments of a DASH package.
import type { SegmentFormat } from "#shared/job/output-spec.ts";
import type { StreamVariant } from "#shared/plan/streams/planned-stream.ts";
import { targetSeconds, textTargetSeconds } from "../bandwidth.ts";
import { type Growing, growingTarget } from "../growing.ts";
import {
  entryFile,
  inStreamFolder,
  keyframePlaylistFile,
  mediaPlaylistFile,
  segmentNumber,
  subtitlesName,
  type TextFile,
} from "../package-files.ts";
import type { PackagedTrack } from "../segment.ts";
import { lastEndMs } from "../spans.ts";
import { textSpans } from "../text/subtitle-segments.ts";
import type { SubtitleTraits } from "../text/text-files.ts";
import { masterPlaylist } from "./hls-master-playlist.ts";
import { keyframePlaylist, mediaPlaylist, subtitlePlaylist } from "./hls-media-playlist.ts";

export type HlsPackage = {
  readonly format: SegmentFormat;
  /** The stream's folder below the package's folder. */
  readonly folder: string;
  readonly playlistName: string;
  readonly tracks: readonly PackagedTrack[];
  /** Variants of the package's own tracks. */
  readonly variants: readonly StreamVariant[];
  /** Their segments are those of segmentedSubtitle. */
  readonly subtitles: readonly SubtitleTraits[];
  /** The URL of the key that encrypts the segments. Null when they are not encrypted. */
  readonly keyUri: string | null;
  /** Whether segments contain video and audio, for players of HLS version 3, which has no keyframe playlists. */
  readonly muxed: boolean;
  /** While the stream is encoded. Its playlists have no keyframe playlists then. */
  readonly growing?: Growing | null;
};

/** In the order of storing: playlists of tracks first, the master playlist last. */
export function hlsTextFiles(hls: HlsPackage): TextFile[] {
  const { format, folder, tracks, subtitles, keyUri, muxed, growing = null } = hls;
  // Text is stored as a whole before the first segments are.
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
