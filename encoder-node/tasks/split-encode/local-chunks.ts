// Splits the video of a source on this node's disk into chunks.
import type { OutputSpec } from "#shared/job/output-spec.ts";
import type { MediaProbe } from "#shared/media/media-probe.ts";
import { chooseSplitPoints, type SplitLengths } from "#shared/plan/chunks/choose-split-points.ts";
import { chunkableSource, chunkGridMs } from "#shared/plan/chunks/chunkable-source.ts";
import { chooseTracks } from "#shared/plan/source/source-tracks.ts";
import type { ChunkSpan } from "#shared/protocol/chunks.ts";
import { err, type Result } from "#shared/result.ts";
import { readFrameIndex } from "../../source/frame-index/frame-index.ts";
import type { TaskDeps } from "../../task/task-deps.ts";

/**
 * Chunks of one node may be shorter than those of several: nothing is transferred for them. A chunk costs a preroll of
 * a second and one GOP that is only decoded.
 */
export const LOCAL_LENGTHS: SplitLengths = { longerThanMs: 30_000, shortestMs: 12_000 };

export type LocalSource = { readonly source: string; readonly probe: MediaProbe };

/** The chunks for so many runs at a time. The error is the reason why there are none. */
export async function localChunks(
  { source, probe }: LocalSource,
  outputs: readonly OutputSpec[],
  runs: number,
  { ffprobe, signal, withProbeSlot }: TaskDeps,
): Promise<Result<ChunkSpan[], string>> {
  const track = chooseTracks(probe).video;
  const segmentMs = chunkGridMs(outputs);
  if (!track || segmentMs === null) return err("its outputs have no common grid");
  if (track.startsWithOldFrames) return err("its first frames precede the start of the timeline");
  const reading = await withProbeSlot(() => readFrameIndex(ffprobe, { path: source }, track.streamIndex, signal));
  if (!reading.ok) return reading;
  // The audio runs beside the chunks, and takes a small share of a core.
  const options = { segmentMs, slots: runs, audioMs: 0, lengths: LOCAL_LENGTHS };
  return chooseSplitPoints(chunkableSource(reading.value, probe), options);
}
