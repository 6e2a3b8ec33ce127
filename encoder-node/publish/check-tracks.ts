// Checks that the tracks of a stream are as planned. Pure.
import type { PlannedOutput } from "#shared/plan/output-plan.ts";
import type { StreamVariant } from "#shared/plan/streams/planned-stream.ts";
import { endMs } from "../package/spans.ts";
import { isLongEnough, missingTrack, tooShort } from "../upload/made-file.ts";
import type { TrackFeed } from "./track-feed.ts";

/**
 * Throws AppError `encoding_failed` when a track of a package has no segments, or when a variant ends too early: a
 * variant is as long as the longer of its tracks.
 */
export function checkTracks(
  variants: readonly StreamVariant[],
  feeds: readonly Pick<TrackFeed, "kind" | "made">[],
  expectedMs: PlannedOutput["expectedDurationMs"],
): void {
  const made = feeds.map(({ kind, made }) => {
    const track = made();
    if (!track) throw missingTrack(kind);
    return track;
  });
  for (const { video, audio } of variants) {
    const end = Math.max(...made.filter(({ name }) => name === video || name === audio).map(endMs));
    if (expectedMs !== null && !isLongEnough(end, expectedMs)) throw tooShort(end, expectedMs);
  }
}
