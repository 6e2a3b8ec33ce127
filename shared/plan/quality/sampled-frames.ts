// Which frames are measured.
import { quoted } from "../command/filter-text.ts";
import type { FrameTiming } from "../filters/frame-timing.ts";

export type SampledFrames = {
  /** Filters that keep the frames that are measured and the ones before them. Times begin at 0. */
  readonly filters: readonly string[];
  /** libvmaf measures one of this many frames that it gets. */
  readonly subsample: number;
  /** One of this many frames of the video is measured. */
  readonly every: number;
};

/** From here on it saves time to drop the frames in between before they are scaled. */
const MIN_DROPPING = 3;

/**
 * Samples about `perSecond` frames of each second; null: all frames.
 *
 * VMAF compares a frame with its neighbors in time, and takes the smaller difference. So the frame before each sample
 * is kept, too, and the others are dropped. Frames are numbered by their time, so that the same ones are chosen of
 * source and result even if one of them lacks a frame. That needs a constant rate: times that differ by a rounding
 * error could otherwise be on both sides of a limit.
 */
export function sampledFrames(timing: FrameTiming, perSecond: number | null): SampledFrames {
  const every = perSecond === null ? 1 : Math.max(1, Math.round(timing.fps / perSecond));
  const fromZero = "setpts=PTS-STARTPTS";
  if (timing.isVariable || every < MIN_DROPPING) return { filters: [fromZero], subsample: every, every };
  const kept = `lte(mod(round(t*${timing.fps})+1,${every}),1)`;
  return { filters: [fromZero, `select=${quoted(kept)}`], subsample: 2, every };
}
