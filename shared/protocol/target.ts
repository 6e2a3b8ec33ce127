// A node's report about the search for a requested VMAF.
import * as z from "zod";
import { MAX_FILE_BYTES, MAX_LENGTH_MS } from "../report-limits.ts";
import { Line } from "./reported-text.ts";
import { OutputIndex } from "./uploads.ts";

const Vmaf = z.number().min(-1).max(110);
const Kbps = z.number().min(0).max(MAX_FILE_BYTES);
const RateFactor = z.number().min(0).max(100);

/**
 * Reason why a search ended (plan/vmaf/search.ts). `failed`: nothing could be measured, and the rate factor is the
 * value for usual video. Nodes may report others.
 */
const Stopped = Line(40);

/** Result of the search for a video track's rate factor. All figures are measured on the samples. */
export const TargetReport = z.object({
  /** The requested VMAF. */
  vmaf: Vmaf,
  /** Size in pixels, as `1280x720`. */
  size: Line(20),
  rateFactor: RateFactor,
  stopped: Stopped,
  /** Result of the samples with this rate factor; null: not measured. */
  measured: z
    .object({ mean: Vmaf, harmonicMean: Vmaf, percentile1: Vmaf, kbps: Kbps, frames: z.int().min(0) })
    .nullable(),
  samples: z.int().min(0).max(1000),
  sampledMs: z.number().min(0).max(MAX_LENGTH_MS),
  /** Tried rate factors, in the order of the search. */
  tried: z.array(z.object({ rateFactor: RateFactor, score: Vmaf, kbps: Kbps })).max(20),
});
export type TargetReport = z.infer<typeof TargetReport>;

/** Result for a video track of a chunk, without the tried rate factors. */
export const ChunkTarget = z.object({ output: OutputIndex, target: TargetReport });
export type ChunkTarget = z.infer<typeof ChunkTarget>;

/** Results for the video tracks of an output. */
export const TargetReports = z.array(TargetReport).max(50);
