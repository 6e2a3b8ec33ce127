// Whether the tracks of a stream are what was planned. Pure.
import type { PlannedOutput } from "#shared/plan/output-plan.ts";
import type { PlannedStream } from "#shared/plan/planned-stream.ts";
import type { PackagedTrack } from "../package/segment.ts";
import { endMs } from "../package/spans.ts";
import { isLongEnough, missingTrack, tooShort } from "../work/result-check.ts";

/**
 * Throws AppError `encoding_failed` when a track has no segments, or when what viewers may choose ends too early: a variant
 * is as long as the longer of its tracks.
 */
export function checkTracks(
  { tracks, variants }: PlannedStream,
  made: readonly PackagedTrack[],
  expectedMs: PlannedOutput["expectedDurationMs"],
): void {
  const missing = tracks.find(({ name }) => !made.some((track) => track.name === name));
  if (missing) throw missingTrack(missing.kind);
  for (const { video, audio } of variants) {
    const end = Math.max(...made.filter(({ name }) => name === video || name === audio).map(endMs));
    if (expectedMs !== null && !isLongEnough(end, expectedMs)) throw tooShort(end, expectedMs);
  }
}
