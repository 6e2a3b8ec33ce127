// Builds variants of an HTTP stream from the renditions of other services.

import { STREAM_CODECS } from "../format/stream-codecs.ts";
import { type AudioParts, formatKey, type Lost, type VideoParts } from "./format-key.ts";

export type Rendition = { readonly video: VideoParts | null; readonly audio: AudioParts | null };

/** Segments may be 2 to 10 s long. */
export const segmentSeconds = (seconds: number): number => Math.min(10, Math.max(2, seconds));

/**
 * Returns the formats without duplicates. Streams of other services have separate video and audio outputs. Here each
 * variant has both, and Copra separates the segments anyway.
 */
export function streamVariants(renditions: readonly Rendition[], lost: Lost): string[] {
  const isSeparate = renditions.every(({ video, audio }) => video === null || audio === null);
  const audios = renditions.flatMap(({ video, audio }) => (video === null && audio !== null ? [audio] : []));
  const best = audios.toSorted((a, b) => (b.kbps ?? 0) - (a.kbps ?? 0))[0];
  const whole = renditions.map((rendition) =>
    isSeparate && rendition.video !== null && best !== undefined ? { ...rendition, audio: best } : rendition,
  );
  return [...new Set(whole.map((rendition) => formatKey({ container: "mp4", ...streamable(rendition, lost) }, lost)))];
}

/** Limits a rendition to codecs of streams with aac, in a single pass. */
function streamable({ video, audio }: Rendition, lost: Lost): Rendition {
  const codec = video?.codec?.toLowerCase().replaceAll(/[^a-z0-9]/g, "");
  const isKnown = codec === undefined || ["avc", "h265", ...STREAM_CODECS.video].includes(codec);
  if (!isKnown) lost("video codec", `streams have ${STREAM_CODECS.video.join(", ")}; h264 is used`);
  const isAac = audio?.codec === undefined || /^aac$/i.test(audio.codec);
  if (!isAac) lost("audio codec", "aac is used in streams");
  return {
    video: video && { ...video, twoPass: false, ...(isKnown ? {} : { codec: undefined }) },
    audio: audio && { ...audio, ...(isAac ? {} : { codec: undefined }) },
  };
}

/** Returns the folder and the playlist name of a path such as `video/hls/master.m3u8`. The folder defaults to `hls`. */
export function playlistPlace(path: string): { readonly folder: string; readonly playlist_name: string } {
  const clean = path.split("/").filter((part) => part !== "");
  const file = clean.pop() ?? "";
  const name = file.replace(/\.(?:m3u8|mpd|ism[cl]?)$/i, "").replaceAll("%", "-");
  return { folder: clean.join("/") || "hls", playlist_name: name === "" ? "master" : name };
}
