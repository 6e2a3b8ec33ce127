// Small tracks for tests of playlists and manifests, with sizes that are easy to calculate by hand.
import type { ColorTags } from "#shared/plan/source/source-color.ts";
import { STREAM_START_SECONDS } from "#shared/plan/streams/planned-stream.ts";
import type { PackagedTrack, Segment } from "../../codecs/segment.ts";

/** 1000 bytes per second, and a keyframe of 100 bytes every two seconds. */
const BYTES_PER_SECOND = 1000;
const KEYFRAME_SECONDS = 2;

type Sample = { readonly timescale: number; readonly seconds: readonly number[]; readonly startSeconds?: number };

/** Video of 640x360 in segments of these durations. */
export function videoTrack(
  name: string,
  { timescale, ...sample }: Sample,
  codec = "avc1.64001e",
  hdr: ColorTags | null = null,
): PackagedTrack {
  const segments = segmentsOf({ timescale, ...sample }).map((segment): Segment => {
    const step = KEYFRAME_SECONDS * timescale;
    const count = Math.ceil(segment.duration / step);
    const keyframes = Array.from({ length: count }, (_, at) => ({
      offset: at * KEYFRAME_SECONDS * BYTES_PER_SECOND,
      sizeBytes: 100,
      start: segment.start + at * step,
    }));
    return { ...segment, keyframes };
  });
  return {
    name,
    codec,
    video: { width: 640, height: 360, fps: 29.97, hdr, captions: false },
    audio: null,
    timescale,
    segments,
  };
}

/** Audio at 48 kHz, which starts with the encoder's priming. */
export function audioTrack(name: string, seconds: readonly number[], channels = 2): PackagedTrack {
  const timescale = 48_000;
  const segments = segmentsOf({ timescale, seconds, startSeconds: -1024 / timescale });
  return { name, codec: "mp4a.40.2", video: null, audio: { channels, sampleRateHz: 48_000 }, timescale, segments };
}

function segmentsOf({ timescale, seconds, startSeconds = 0 }: Sample): Segment[] {
  let start = Math.round((STREAM_START_SECONDS + startSeconds) * timescale);
  return seconds.map((length) => {
    const segment = {
      start,
      duration: Math.round(length * timescale),
      sizeBytes: length * BYTES_PER_SECOND,
      keyframes: [],
    };
    start += segment.duration;
    return segment;
  });
}
