// Features of a node that a task needs.
import * as z from "zod";
import { FontName } from "../job/burn.ts";
import { MAX_NAMES } from "../report-limits.ts";
import { FfmpegName } from "./reported-text.ts";

export const NEED_KINDS = [
  "encoder",
  "muxer",
  "filter",
  "font",
  "folder",
  "writable folder",
  "decoder",
  "feature",
] as const;

/**
 * A feature of an ffmpeg build, by ffmpeg's names, a font, a folder of the operator, or a feature of the node. Any name
 * is enough; the first is the best.
 */
export const Need = z.object({
  kind: z.enum(NEED_KINDS),
  anyOf: z
    .array(z.union([FfmpegName, FontName]))
    .min(1)
    .max(MAX_NAMES)
    .readonly(),
});
export type Need = z.infer<typeof Need>;
