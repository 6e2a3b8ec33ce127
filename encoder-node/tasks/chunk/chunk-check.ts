// Checks that the tracks of a chunk are as planned: the number of frames, and the timestamp of the first frame.
import { AppError } from "#shared/errors.ts";
import { messageOf } from "#shared/log.ts";
import { STREAM_START_SECONDS } from "#shared/plan/streams/planned-stream.ts";
import type { ChunkTrack } from "#shared/plan/tasks/plan-chunk.ts";
import type { RunFiles } from "../../run-files/run-files.ts";
import { type ChunkFacts, readChunkFacts } from "./chunk-file.ts";
import type { EncodedTrack } from "./store-tracks.ts";

/** The maximum difference from the timestamps of an encode in one run. */
const MAX_ERROR_US = 100;

/** Throws AppError `chunk_mismatch`. */
export async function checkChunkTracks(tracks: readonly ChunkTrack[], files: RunFiles): Promise<EncodedTrack[]> {
  const encoded: EncodedTrack[] = [];
  for (const { output, track, file, frames, firstUs } of tracks) {
    const path = files.pathOf(file);
    const facts = await readChunkFacts(path, "video").catch((error: unknown) => {
      throw new AppError("chunk_mismatch", `A chunk cannot be read: ${messageOf(error)}`, { cause: error });
    });
    if (frames !== null && facts.frames !== frames) {
      throw new AppError("chunk_mismatch", `A chunk has ${facts.frames} frames instead of ${frames}.`);
    }
    const errorUs = timestampErrorUs(facts, firstUs);
    if (errorUs > MAX_ERROR_US) {
      const message = `The first frame of a chunk is ${Math.round(errorUs)} µs from its planned timestamp.`;
      throw new AppError("chunk_mismatch", message);
    }
    encoded.push({ output, track, path, frames: facts.frames });
  }
  return encoded;
}

/**
 * The difference of the first frame's timestamp from the planned one in µs, beyond the rounding to the track's ticks.
 */
export function timestampErrorUs(
  { start, timescale }: Pick<ChunkFacts, "start" | "timescale">,
  firstUs: number,
): number {
  const ticks = (firstUs / 1e6 + STREAM_START_SECONDS) * timescale;
  const nearest = Math.min(Math.abs(start - Math.floor(ticks)), Math.abs(start - Math.ceil(ticks)));
  return (nearest / timescale) * 1e6;
}
