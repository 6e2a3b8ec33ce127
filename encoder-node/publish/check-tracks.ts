// Compares the tracks of a stream with the plan. Pure.
import type { PlannedTrack } from "#shared/plan/source/output-length.ts";
import { endMs } from "../package/spans.ts";
import { checkEnd, missingTrack } from "../upload/made-file.ts";
import type { TrackFeed } from "./track-feed.ts";

/** Throws AppError `encoding_failed` when a track of a package has no segments, or ends too early. */
export function checkTracks(
  feeds: readonly Pick<TrackFeed, "kind" | "made">[],
  planned: readonly PlannedTrack[],
): void {
  for (const { kind, made } of feeds) {
    const track = made();
    if (!track) throw missingTrack(kind);
    const expected = planned.find((each) => each.kind === kind);
    if (expected) checkEnd(expected, endMs(track));
  }
}
