// Frame indexes with frames at given times, and matching probes, for tests of chunks.
import type { FrameIndex } from "../media/frame-index.ts";
import type { MediaProbe } from "../media/media-probe.ts";
import { audioStream, BT709, probed, videoStream } from "./probes.ts";

/**
 * Returns frames at these times, in seconds, with ticks of 1/90000 s. `bytes` returns the size of a frame. Every 50th
 * frame is a keyframe.
 */
export function frameIndexOf(times: readonly number[], bytes: (index: number) => number = () => 100): FrameIndex {
  const ticks = Float64Array.from(times, (time) => Math.round(time * 90_000));
  return {
    timeBase: { num: 1, den: 90_000 },
    ticks,
    startUs: 0,
    endTicks: (ticks.at(-1) ?? 0) + (ticks.at(-1) ?? 0) - (ticks.at(-2) ?? 0),
    bytes: Uint32Array.from(times, (_, index) => bytes(index)),
    keyframes: Uint32Array.from(times.keys()).filter((index) => index % 50 === 0),
  };
}

/** Returns the times of frames at a constant rate. */
export const evenly = (fps: number, seconds: number, startSeconds = 0): number[] =>
  Array.from({ length: Math.round(fps * seconds) }, (_, index) => startSeconds + index / fps);

/** Returns the probe of a source with audio, and video of this rate, which is `varying` for a variable rate. */
export function probeOf(rate: string, format: Partial<MediaProbe["format"]> = {}): MediaProbe {
  const rates = rate === "varying" ? { r_frame_rate: "90000/1", avg_frame_rate: "30/1" } : {};
  const whole = { format_name: "mov,mp4,m4a,3gp,3g2,mj2", duration: "130.000000", start_time: "0.000000", ...format };
  return probed([videoStream(640, 360, rate, { ...BT709, ...rates }), audioStream()], whole);
}
