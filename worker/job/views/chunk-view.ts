// Encoding in chunks, as clients see it.
import type { UltrafastView } from "#shared/job/job-view.ts";
import type { UltrafastReceipt } from "#shared/job/metadata.ts";
import { chunkCount, rangesOf } from "../chunks/chunk-work.ts";
import type { JobState } from "../state/job-state.ts";

/** The member `ultrafast` of a job; null when the client did not request it. */
export function viewUltrafast({ ultrafast, chunks }: JobState): UltrafastView | null {
  if (!ultrafast) return null;
  if (ultrafast.reason !== null) return { chunks: 0, reason: ultrafast.reason };
  return { chunks: chunks ? chunkCount(chunks) : 0 };
}

/** Receipt of outputs that were made of chunks; null before the chunks are joined, and if there are none. */
export function ultrafastReceipt({ chunks, chunkResults, ultrafast }: JobState): UltrafastReceipt | null {
  if (!chunks?.boundaries || ultrafast?.reason !== null) return null;
  const { boundaries, video } = chunks;
  const ranges = rangesOf(chunks).map(({ index, from, to, frames }) => {
    const result = chunkResults[index];
    const lengthUs = (to?.frameUs ?? video.endUs) - (from?.frameUs ?? video.startUs);
    return {
      frames,
      seconds: thousandths(lengthUs / 1e6),
      node: result?.nodeId ?? "",
      attempts: result?.tries ?? 0,
      encode_seconds: thousandths((result?.encodeMs ?? 0) / 1000),
    };
  });
  return {
    chunks: ranges,
    frames_planned: boundaries.framesPlanned,
    frames_joined: boundaries.framesJoined,
    largest_error_us: thousandths(boundaries.largestErrorUs),
    av_offset_ms: boundaries.videoOverAudioMs === null ? null : thousandths(boundaries.videoOverAudioMs),
    retries: chunks.retries,
    encoder: chunks.encoder ?? "",
  };
}

export const thousandths = (value: number): number => Math.round(value * 1000) / 1000;
