// One chunk of a film, with what its encoder must know of the whole.
import * as z from "zod";
import { ChunkRange } from "./chunking.ts";

export const ChunkSpan = ChunkRange.extend({
  /** When the film's first frame is shown, in µs on the film's line. */
  startUs: z.int(),
  /** The longest distance of two keyframes of the source, in ms. */
  longestGopMs: z.number().min(0),
  /** Its mean bitrate, as a multiple of the film's. */
  share: z.number().positive(),
});
export type ChunkSpan = z.infer<typeof ChunkSpan>;
