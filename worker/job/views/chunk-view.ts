// What clients see of a film that was made of chunks.
import type { UltrafastView } from "#shared/job/job-view.ts";
import type { UltrafastReceipt } from "#shared/job/metadata.ts";
import { chunkCount, rangesOf } from "../chunks/chunk-work.ts";
import type { JobState } from "../state/job-state.ts";

/** What became of the wish for chunks; null when there is nothing to tell. */
export function viewUltrafast({ ultrafast, chunks }: JobState): UltrafastView | null {
  if (!ultrafast) return null;
  if (ultrafast.reason !== null) return { chunks: 0, reason: ultrafast.reason };
  return { chunks: chunks ? chunkCount(chunks) : 0 };
}

/** How the film was made, once it is joined; null before that, and when it was not made of chunks. */
export function ultrafastReceipt({ chunks, chunkResults, ultrafast }: JobState): UltrafastReceipt | null {
  if (!chunks?.seams || ultrafast?.reason !== null) return null;
  const { seams, film } = chunks;
  const made = rangesOf(chunks).map(({ index, from, to, frames }) => {
    const result = chunkResults[index];
    const lengthUs = (to?.frameUs ?? film.endUs) - (from?.frameUs ?? film.startUs);
    return {
      frames,
      seconds: thousandths(lengthUs / 1e6),
      node: result?.nodeId ?? "",
      attempts: result?.tries ?? 0,
      encode_seconds: thousandths((result?.encodeMs ?? 0) / 1000),
    };
  });
  return {
    chunks: made,
    frames_planned: seams.framesPlanned,
    frames_joined: seams.framesJoined,
    largest_error_us: thousandths(seams.largestErrorUs),
    picture_over_sound_ms: seams.pictureOverSoundMs === null ? null : thousandths(seams.pictureOverSoundMs),
    retries: chunks.retries,
    encoder: chunks.encoder ?? "",
  };
}

const thousandths = (value: number): number => Math.round(value * 1000) / 1000;
