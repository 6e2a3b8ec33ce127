// Codecs of the renditions of streams, and codecs that MPEG-TS segments hold.

/** Codecs of video in the order of playlists: players that choose nothing take the first that they can decode. */
export const STREAM_CODECS = { video: ["h264", "hevc", "vp9", "av1"], audio: ["aac", "opus", "flac", "ac3"] } as const;

/**
 * Apple has HEVC in fragmented MP4 only (HLS authoring specification §1.5), and so have browsers. A `copy` is known
 * only with its source.
 */
const IN_MPEG_TS: readonly string[] = ["h264", "aac", "ac3", "copy"];

type Coded = { readonly codec: string } | null;
type Rendition = { readonly video: Coded; readonly audio: Coded };

/** The codecs of a rendition that MPEG-TS segments do not hold. */
export const notInMpegTs = ({ video, audio }: Rendition): string[] =>
  [video, audio].flatMap((track) => (track && !IN_MPEG_TS.includes(track.codec) ? [track.codec] : []));

export const fitsMpegTs = (rendition: Rendition): boolean => notInMpegTs(rendition).length === 0;
