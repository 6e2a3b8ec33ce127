// What a node reports of the search for a requested VMAF.
import * as z from "zod";
import { MAX_FILE_BYTES, MAX_LENGTH_MS } from "../report-limits.ts";
import { Line } from "./reported-text.ts";
import { OutputIndex } from "./uploads.ts";

const Vmaf = z.number().min(-1).max(110);
const Kbps = z.number().min(0).max(MAX_FILE_BYTES);
const RateFactor = z.number().min(0).max(100);

/**
 * Why a search ended (plan/vmaf/search.ts). `failed`: nothing could be measured, and the rate factor is that of usual
 * video. Nodes may know others.
 */
const Stopped = Line(40);

/** How the rate factor of a video track was found; all figures are those of the samples. */
export const TargetReport = z.object({
  /** The requested VMAF. */
  vmaf: Vmaf,
  /** Size in pixels, as `1280x720`. */
  size: Line(20),
  rateFactor: RateFactor,
  stopped: Stopped,
  /** Of the samples with that rate factor; null: not measured. */
  measured: z
    .object({ mean: Vmaf, harmonicMean: Vmaf, percentile1: Vmaf, kbps: Kbps, frames: z.int().min(0) })
    .nullable(),
  samples: z.int().min(0).max(1000),
  sampledMs: z.number().min(0).max(MAX_LENGTH_MS),
  /** In the order in which they were tried. */
  tried: z.array(z.object({ rateFactor: RateFactor, score: Vmaf, kbps: Kbps })).max(20),
});
export type TargetReport = z.infer<typeof TargetReport>;

/** A video track of a chunk, without what was tried. */
export const ChunkTarget = z.object({ output: OutputIndex, target: TargetReport });
export type ChunkTarget = z.infer<typeof ChunkTarget>;

/** Video tracks of an output. */
export const TargetReports = z.array(TargetReport).max(50);
