// Finds the bytes of an MP4 file that programs read to list its packets and to decode its first frames. Pure.
import type { ByteRange } from "#shared/network/http-headers.ts";
import { type OutlinedTrack, outlinedTracks, type Sample } from "../../mp4/samples.ts";

/** ffmpeg's default `probesize`: the most bytes of packets that it reads to identify streams. */
const PROBE_BYTES = 5_000_000;
/** More packets of video than frame-index.ts decodes. */
const FIRST_FRAMES = 64;
/** Below this difference of their times, in seconds, ffmpeg reads tracks in the order of their places (mov.c). */
const INTERLEAVING_SECONDS = 1;
/** Maximum number of samples of all tracks together. Only unusual files need more. */
const MAX_SAMPLES = 200_000;
/** Maximum size of the samples that are worth an outline. */
const MAX_BYTES = 128 * 1024 * 1024;
/** A gap costs less than a request. */
const MERGED_GAP_BYTES = 256 * 1024;

/**
 * Returns the ranges with the first samples of all tracks, in decoding order. They cover the bytes that ffmpeg reads to
 * identify streams, the samples within a second after them, and the first frames of a video. Null when the header
 * (`moov`, its body) does not list the file's packets. Throws for an invalid header.
 */
export function firstSamples(moov: Buffer): ByteRange[] | null {
  const tracks = outlinedTracks(moov);
  if (!tracks) return null;
  const read: Sample[] = [];
  let bytes = 0;
  let frames = 0;
  let untilSeconds = Number.POSITIVE_INFINITY;
  const hasVideo = tracks.some(({ isVideo }) => isVideo);
  for (const { sample, isVideo } of inDecodingOrder(tracks)) {
    if (sample.seconds > untilSeconds) break;
    read.push(sample);
    bytes += sample.sizeBytes;
    if (isVideo) frames += 1;
    const isEnough = bytes > PROBE_BYTES && sample.seconds >= 0 && (frames > FIRST_FRAMES || !hasVideo);
    if (isEnough) untilSeconds = Math.min(untilSeconds, sample.seconds + INTERLEAVING_SECONDS);
    if (read.length > MAX_SAMPLES || bytes > MAX_BYTES) return null;
  }
  return mergedRanges(read.map(({ offset, sizeBytes }) => ({ start: offset, end: offset + sizeBytes - 1 })));
}

/** The samples of all tracks, the earliest first. */
function* inDecodingOrder(tracks: readonly OutlinedTrack[]): Generator<{ sample: Sample; isVideo: boolean }> {
  const heads = tracks.map(({ samples, isVideo }) => ({ samples, isVideo, next: samples.next() }));
  for (;;) {
    const waiting = heads.filter(({ next }) => !next.done);
    const first = waiting.reduce<(typeof heads)[number] | null>(
      (best, head) => (best && timeOf(best) <= timeOf(head) ? best : head),
      null,
    );
    if (!first || first.next.done) return;
    yield { sample: first.next.value, isVideo: first.isVideo };
    first.next = first.samples.next();
  }
}

const timeOf = ({ next }: { next: IteratorResult<Sample> }): number => next.value?.seconds ?? Number.POSITIVE_INFINITY;

/** Ascending ranges without small gaps. */
export function mergedRanges(ranges: readonly ByteRange[]): ByteRange[] {
  const merged: ByteRange[] = [];
  for (const { start, end } of ranges.toSorted((a, b) => a.start - b.start)) {
    if (end < start) continue;
    const last = merged.at(-1);
    if (last && start <= last.end + 1 + MERGED_GAP_BYTES) last.end = Math.max(last.end, end);
    else merged.push({ start, end });
  }
  return merged;
}
