// All texts of an HLS package, or of HLS playlists over the segments of a DASH package.
import type { SegmentFormat } from "#shared/job/output-spec.ts";
import type { StreamVariant } from "#shared/plan/streams/planned-stream.ts";
import { targetSeconds, textTargetSeconds } from "../bandwidth.ts";
import {
  entryFile,
  inStreamFolder,
  keyframePlaylistFile,
  mediaPlaylistFile,
  type PackageText,
  segmentNumber,
  subtitlesName,
} from "../package-files.ts";
import type { PackagedTrack } from "../segment.ts";
import { lastEndMs } from "../spans.ts";
import { textSpans } from "../text/subtitle-segments.ts";
import { masterPlaylist, type SubtitleTraits } from "./hls-master-playlist.ts";
import { keyframePlaylist, mediaPlaylist, subtitlePlaylist } from "./hls-media-playlist.ts";

export type HlsPackage = {
  readonly format: SegmentFormat;
  /** The stream's folder, below that of the package. */
  readonly folder: string;
  readonly playlistName: string;
  readonly tracks: readonly PackagedTrack[];
  /** Those that need a track which the package does not have are left out. */
  readonly variants: readonly StreamVariant[];
  /** Their segments are those that segmentedSubtitle makes. */
  readonly subtitles: readonly SubtitleTraits[];
  /** Where players get the key of the segments, which are encrypted as wholes; null when they are not. */
  readonly keyUri: string | null;
  /** Whether segments hold video and audio together, for players of HLS version 3, which has no keyframe playlists. */
  readonly muxed: boolean;
};

/** In the order in which they can be stored: playlists of tracks, and the entry playlist last. */
export function hlsTexts(hls: HlsPackage): PackageText[] {
  const { format, folder, tracks, subtitles, keyUri, muxed } = hls;
  const spans = textSpans(lastEndMs(tracks));
  const target = targetSeconds(tracks);
  // A range of a file that is encrypted as a whole cannot be decrypted by itself.
  const keyframes = keyUri === null && !muxed;
  const below = (file: string, text: string): PackageText => ({ file: inStreamFolder(folder, file), text });
  const texts = subtitles.map((_, at) => subtitlesName(segmentNumber(at)));
  const pictures = keyframes ? tracks.filter(({ picture }) => picture !== null) : [];
  return [
    ...texts.map((name) => below(mediaPlaylistFile(name), subtitlePlaylist(name, spans, textTargetSeconds(spans)))),
    ...tracks.map((track) => below(mediaPlaylistFile(track.name), mediaPlaylist(track, { format, target, keyUri }))),
    ...pictures.map((track) => below(keyframePlaylistFile(track.name), keyframePlaylist(track, { format, target }))),
    { file: entryFile(hls.playlistName, "m3u8"), text: masterPlaylist({ ...hls, target, keyframes }) },
  ];
}
