// Whether a chunk's tracks are what was planned: these frames, from this time on.
import { join } from "node:path";
import { AppError } from "#shared/errors.ts";
import { messageOf } from "#shared/log.ts";
import type { ChunkTrack } from "#shared/plan/plan-chunk.ts";
import { STREAM_START_SECONDS } from "#shared/plan/streams/planned-stream.ts";
import { type ChunkFacts, readChunkFacts } from "./chunk-file.ts";

/** A file that holds a track, or a part of one. */
export type MadeTrack = {
  readonly output: number;
  readonly track: string;
  readonly path: string;
  /** Null for what is no picture. */
  readonly frames: number | null;
};

/** Throws AppError `chunk_mismatch`. */
export async function madeTracks(tracks: readonly ChunkTrack[], folder: string): Promise<MadeTrack[]> {
  const made: MadeTrack[] = [];
  for (const { output, track, file, frames, firstUs } of tracks) {
    const path = join(folder, file);
    const facts = await readChunkFacts(path, "video").catch((error: unknown) => {
      throw new AppError("chunk_mismatch", `A chunk cannot be read: ${messageOf(error)}`, { cause: error });
    });
    if (frames !== null && facts.frames !== frames) {
      throw new AppError("chunk_mismatch", `A chunk has ${facts.frames} frames where ${frames} were planned.`);
    }
    const errorUs = timeErrorUs(facts, firstUs);
    if (errorUs > MAX_ERROR_US) {
      throw new AppError(
        "chunk_mismatch",
        `A chunk's first frame is ${Math.round(errorUs)} µs from where it was planned.`,
      );
    }
    made.push({ output, track, path, frames: facts.frames });
  }
  return made;
}

/** The same film is one whose times are no further from those of a normal run (design: 0.1 ms). */
const MAX_ERROR_US = 100;

/** How far a first frame is from where it was to be, in µs, beyond what the track's own ticks round away. */
export function timeErrorUs({ start, timescale }: Pick<ChunkFacts, "start" | "timescale">, firstUs: number): number {
  const ticks = (firstUs / 1e6 + STREAM_START_SECONDS) * timescale;
  const nearest = Math.min(Math.abs(start - Math.floor(ticks)), Math.abs(start - Math.ceil(ticks)));
  return (nearest / timescale) * 1e6;
}
