// Features of ffmpeg that a task needs.
import * as z from "zod";
import { MAX_NAMES } from "../report-limits.ts";
import { FfmpegName } from "./reported-text.ts";

export const NEED_KINDS = ["encoder", "muxer", "filter"] as const;

/** A feature of an ffmpeg build, by ffmpeg's names. Any name of the list is enough; the first is the best. */
export const Need = z.object({ kind: z.enum(NEED_KINDS), anyOf: z.array(FfmpegName).min(1).max(MAX_NAMES).readonly() });
export type Need = z.infer<typeof Need>;
