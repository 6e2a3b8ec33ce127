// The order of video codecs in playlists and manifests, for packages with several of them.
import type { PackagedTrack } from "../codecs/segment.ts";

/** Sample entries in HLS: players that choose nothing take the first that they can decode. */
const IN_HLS: readonly string[] = ["avc1", "hvc1", "vp09", "av01"];
/** In DASH: `selectionPriority` counts from 1. HEVC is decoded by hardware more often than VP9. */
const IN_DASH: readonly string[] = ["avc1", "vp09", "hvc1", "av01"];

type Coded = Pick<PackagedTrack, "codec">;

/** The type of the sample entry, without the parameters. */
export const entryOf = ({ codec }: Coded): string => codec.split(".")[0] ?? codec;

export const hlsOrder = (track: Coded): number => IN_HLS.indexOf(entryOf(track)) + 1;
export const dashPriority = (track: Coded): number => IN_DASH.indexOf(entryOf(track)) + 1;

/** True for codecs that only streams in several codecs have. */
export const isRecent = (track: Coded): boolean => ["vp09", "av01"].includes(entryOf(track));

/** True if the video tracks have several codecs. */
export const hasSeveralCodecs = (tracks: readonly PackagedTrack[]): boolean =>
  new Set(tracks.flatMap((track) => (track.video ? entryOf(track) : []))).size > 1;
