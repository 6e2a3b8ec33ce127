// Decides which videos of a stream save too few bits to be worth having.
import type { DroppedVideo } from "../../job/dropped-video.ts";
import type { HttpStreamOutput } from "../../job/output-spec.ts";
import { ALL_SOFTWARE } from "../encoders/software-encoders.ts";
import type { EncodedVideo } from "../encoders/video-encode-options.ts";
import { planStreamParts } from "../outputs/plan-stream-tracks.ts";
import type { SourceTracks } from "../source/source-tracks.ts";

/**
 * A video with more than this share of the bits of the next larger video is left out. Few connections are fast enough
 * for it and too slow for the larger video. Neighbors should be a factor of 1.5 to 2 apart (Apple, Technical Note
 * TN2224); this is 1.25. With 0.75, players of narrow ladders lose ten times the quality, and a quarter more bits are
 * saved: docs/benchmarks.md.
 */
export const SIMILAR_SHARE = 0.8;

/** A video of a stream, with its mean bitrate; null: unknown. */
export type Rung = {
  readonly track: string;
  readonly width: number;
  readonly height: number;
  readonly kbps: number | null;
  /** Players choose between videos of the same kind only: codec, frame rate, pixel format. */
  readonly kind: string;
};

/**
 * Videos that are left out. The largest and the smallest video of each kind stay, and so do videos without a known
 * bitrate. Each other video is compared with the next larger video that stays.
 */
export function similarRungs(rungs: readonly Rung[], share = SIMILAR_SHARE): DroppedVideo[] {
  return [...Map.groupBy(rungs, ({ kind }) => kind).values()].flatMap((ladder) => {
    const [largest, ...others] = ladder.toSorted(
      (a, b) => b.width * b.height - a.width * a.height || (b.kbps ?? 0) - (a.kbps ?? 0),
    );
    let above = largest;
    const dropped: DroppedVideo[] = [];
    for (const rung of others.slice(0, -1)) {
      const video = above && dropping(rung, above, share);
      if (video) dropped.push(video);
      else above = rung;
    }
    return dropped;
  });
}

function dropping({ track, width, height, kbps }: Rung, above: Rung, share: number): DroppedVideo | null {
  if (kbps === null || above.kbps === null || kbps <= share * above.kbps) return null;
  return { track, width, height, kbps: Math.round(kbps), above: { track: above.track, kbps: Math.round(above.kbps) } };
}

/**
 * Videos that a stream leaves out if the job requests that. `kbpsOf` returns the mean bitrate of a video. The `video`
 * that it gets has no rate factor if the spec has none. Empty if the stream cannot be planned: that fails with its
 * reason elsewhere.
 */
export function similarVideos(
  { dropped: _known, ...spec }: HttpStreamOutput,
  source: SourceTracks,
  kbpsOf: (track: string, video: EncodedVideo) => number | null,
): DroppedVideo[] {
  if (!spec.dropsSimilarVariants) return [];
  // Names of tracks depend only on the spec and its source.
  const parts = planStreamParts({ spec, source, capabilities: ALL_SOFTWARE });
  if (!parts.ok) return [];
  const rungs = parts.value.videos.flatMap(({ track: { name, video: traits }, video }): Rung[] => {
    const kind = JSON.stringify([video.codec, video.fps, video.pixelFormat]);
    return traits ? [{ track: name, ...traits.frame, kbps: kbpsOf(name, video), kind }] : [];
  });
  return similarRungs(rungs);
}
