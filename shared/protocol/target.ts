// Searches for a requested VMAF in the reports of nodes.
import * as z from "zod";
import { TargetMetadata } from "../job/quality-target.ts";
import { OutputIndex } from "./uploads.ts";

/** Result for a video track of a chunk, without the tried rate factors. */
export const ChunkTarget = z.object({ output: OutputIndex, target: TargetMetadata });
export type ChunkTarget = z.infer<typeof ChunkTarget>;

/** Results for the video tracks of an output. */
export const TargetReports = z.array(TargetMetadata).max(50);
