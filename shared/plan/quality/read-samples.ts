// Reads the results of a measurement: libvmaf's log, and the times of the compared frames.
import * as z from "zod";

/** A measured frame. */
export type QualitySample = {
  /** Time since the first frame of the measured video, in ms. */
  readonly timeMs: number;
  /** 0 to 100. */
  readonly vmaf: number;
  /** PSNR of luma, in dB; at most 60 with 8 bits and 72 with 10, also for equal frames. */
  readonly psnr: number;
  /** SSIM of luma; 1 for equal frames. */
  readonly ssim: number;
};

/** Texts of the files that a run wrote. `plan-quality.ts` defines their names. */
export type QualityFiles = { readonly log: string; readonly madeTimes: string; readonly referenceTimes: string };

const Log = z.object({
  frames: z.array(
    z.object({
      /** Number of the frame among the compared frames, including frames that libvmaf skipped. */
      frameNum: z.int().min(0),
      metrics: z.object({ vmaf: z.number(), psnr_y: z.number(), float_ssim: z.number() }),
    }),
  ),
});

/** Smallest share of the measured frames with a partner at their time. */
const MIN_PAIRED = 0.9;

/**
 * Returns the samples of a measurement, without the first frame if there are others. VMAF counts motion since the frame
 * before. At the start of each sample or chunk, a frame has no motion, and VMAF rates it lower. Frames without a
 * partner within half a frame were compared with a neighbor, and are left out. Null if too many frames are left out, or
 * if nothing was measured: the video cannot be compared. `fps` is the video's rate.
 */
export function readSamples({ log, madeTimes, referenceTimes }: QualityFiles, fps: number): QualitySample[] | null {
  const parsed = Log.safeParse(parseJson(log));
  if (!parsed.success || parsed.data.frames.length === 0) return null;
  const encoded = timesIn(madeTimes);
  const reference = timesIn(referenceTimes);
  const toleranceMs = 500 / fps + 1;
  let near = 0;
  const samples = parsed.data.frames.flatMap(({ frameNum, metrics }): QualitySample[] => {
    const timeMs = encoded[frameNum];
    if (timeMs === undefined) return [];
    const distance = (at: number): number => Math.abs((reference[at] ?? Number.POSITIVE_INFINITY) - timeMs);
    while (distance(near + 1) <= distance(near) && near + 1 < reference.length) near += 1;
    const { vmaf, psnr_y: psnr, float_ssim: ssim } = metrics;
    return distance(near) <= toleranceMs ? [{ timeMs, vmaf, psnr, ssim }] : [];
  });
  if (samples.length < parsed.data.frames.length * MIN_PAIRED) return null;
  return samples.length > 1 ? samples.slice(1) : samples;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** The times that ffmpeg's filter `metadata` printed, in ms: lines such as `frame:3 pts:3003 pts_time:0.1001`. */
const timesIn = (text: string): number[] =>
  [...text.matchAll(/^frame:\d+ .*pts_time:(-?[\d.]+)/gm)].map(([, seconds]) => Number(seconds) * 1000);
