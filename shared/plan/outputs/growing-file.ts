// Finds files that can be uploaded while ffmpeg writes them, because it only appends to them.
import type { VideoOutput } from "../../job/output-spec.ts";
import type { FrameTiming } from "../filters/frame-timing.ts";
import { longestEnd, type PlannedTrack } from "../source/output-length.ts";
import type { OutputAudio } from "../source/output-tracks.ts";

/**
 * A file to which ffmpeg only appends, except for its first bytes. `indexAtEnd`: an ISO file whose index we move to the
 * front. `reservedBytes`: upper bound for that index; 0 for other files.
 */
export type GrowingFile = { readonly indexAtEnd: boolean; readonly reservedBytes: number };

/** Planned content of the file. `timing` is null for a copy, `frames` if unknown. */
type WrittenFile = {
  readonly frames: number | null;
  readonly timing: FrameTiming | null;
  readonly audios: readonly OutputAudio[];
  readonly tracks: readonly PlannedTrack[];
};

/** A shorter encode has nearly ended when the first part of its upload is written. */
const LEAST_MS = 10_000;
/**
 * Limit for the index, which is in memory until the upload ends. Some ten hours of video have an index of this size.
 */
const MAX_RESERVED_BYTES = 64 * 2 ** 20;

/**
 * Null for files that ffmpeg rewrites at their end: WebM with its cues in front, and the older containers. A Matroska
 * file keeps its cues at its end; ffmpeg then completes the fields before the first cluster.
 */
export function growingFile(spec: VideoOutput, file: WrittenFile): GrowingFile | null {
  const { container, fragmented } = spec;
  const { frames, timing } = file;
  const endMs = longestEnd(file.tracks);
  if (!timing || frames === null || endMs === null || endMs < LEAST_MS) return null;
  const isIso = container === "mp4" || container === "mov" || container === "3gp";
  if (container === "mkv" || container === "mpegts" || (isIso && fragmented)) {
    return { indexAtEnd: false, reservedBytes: 0 };
  }
  if (!isIso) return null;
  const rates = file.audios.map((audio) => audio.spec.sampleRateHz ?? audio.track.sampleRateHz ?? 48_000);
  const samplesHz = rates.reduce((sum, hz) => sum + hz, 0);
  const reservedBytes = indexBytes({ frames, timing, samplesHz, seconds: endMs / 1000 });
  return reservedBytes > MAX_RESERVED_BYTES ? null : { indexAtEnd: true, reservedBytes };
}

/** Headers of the file and its tracks take 1.5 kB. The rest is for tags. */
const FIXED_BYTES = 16 * 1024;
/** Samples per packet of Opus at 48 kHz. AAC has 1024, other codecs more. */
const LEAST_PACKET_SAMPLES = 960;
/** Bytes per sample (ISO/IEC 14496-12 §8.7.3, §8.6.1): its size, the offset of a frame, and its own length. */
const SIZE_BYTES = 4;
const OFFSET_BYTES = 8;
const LENGTH_BYTES = 8;
/** Bytes per frame for keyframes (§8.6.2), if a quarter of all frames are keyframes. */
const KEYFRAME_BYTES = 1;
/** A chunk ends where the track changes: two 64-bit offsets (§8.7.5), and a row of samples per chunk (§8.7.4). */
const CHANGE_BYTES = 2 * 8 + 12;

type Samples = {
  readonly frames: number;
  readonly timing: FrameTiming;
  /** Sum of the sample rates of all audio tracks. */
  readonly samplesHz: number;
  readonly seconds: number;
};

/**
 * Upper bound for the index of a file: 1.4 kB per second at 30 frames with AAC of 48 kHz. The measured size was 1.05
 * kB, with 32-bit offsets.
 */
function indexBytes({ frames, timing, samplesHz, seconds }: Samples): number {
  const ofFrame = SIZE_BYTES + OFFSET_BYTES + KEYFRAME_BYTES + (timing.isVariable ? LENGTH_BYTES : 0);
  const packets = Math.ceil((seconds * samplesHz) / LEAST_PACKET_SAMPLES);
  return FIXED_BYTES + frames * ofFrame + packets * SIZE_BYTES + Math.min(frames, packets) * CHANGE_BYTES;
}
