// Chooses the image outputs that get their own commands: before the videos, or made by seeking.
import { INDEXED_DEMUXERS } from "../../media/demuxers.ts";
import { MAX_SEEKS, seekCost } from "../thumbnails/seek-thumbnails.ts";
import type { SelectedImages } from "../thumbnails/selected-images.ts";
import type { OutputPlan } from "./output-plan.ts";

type ImagePlan<Plan extends OutputPlan> = Plan & { readonly images: SelectedImages };

/**
 * Cost limits for images next to a video: as much as a poster, or this share of the video. In ms of video that is
 * decoded a second time. Decoding is a tenth to a fifth of the work of encoding, so the videos are ready a fiftieth
 * later. Measured: ten images of 30 s of 1080p, by decoding all of it again, made a job with three sizes a tenth
 * longer.
 */
const SMALL_MS = 5_000;
const SMALL_SHARE = 0.1;

/**
 * The image outputs that are cheap enough to be made before the videos, so that a poster does not wait for an hour of
 * video. The cheapest come first. Returns all of them if no video is decoded anyway, and none beside a short video.
 * `format` is the name of the demuxer.
 */
export function imagesFirst<Plan extends OutputPlan>(plans: readonly Plan[], format: string): Plan[] {
  const images = plans.filter(isOfImages);
  const videos = plans.filter(decodesVideo);
  if (videos.length === 0) return images.length < plans.length ? images : [];
  const longestMs = Math.max(...videos.map(({ endMs, seekMs = 0 }) => (endMs === null ? 0 : endMs - seekMs)));
  // Such a short video is ready soon, and would be decoded twice.
  if (longestMs > 0 && longestMs <= SMALL_MS) return [];
  let leftMs = Math.max(SMALL_MS, SMALL_SHARE * longestMs);
  let leftSeeks = MAX_SEEKS;
  const priced = images.map((plan) => ({ plan, ...costOf(plan, format) })).toSorted((a, b) => a.costMs - b.costMs);
  return priced.flatMap(({ plan, costMs, seeks }) => {
    if (costMs > leftMs || seeks > leftSeeks) return [];
    leftMs -= costMs;
    leftSeeks -= seeks;
    return [plan];
  });
}

/**
 * The image outputs that are made by seeking, each with its own command. Returns all image outputs if two conditions
 * hold. Seeking costs less than decoding up to the last timestamp, and no video is decoded that far anyway. Otherwise
 * returns none. `format` is the name of the demuxer.
 */
export function imagesBySeeking<Plan extends OutputPlan>(plans: readonly Plan[], format: string): ImagePlan<Plan>[] {
  const images = plans.filter(isOfImages);
  const videos = plans.filter((plan) => decodesVideo(plan) && (plan.seekMs ?? 0) === 0);
  // Without an index, a seek may end anywhere, and the frame may be missed.
  if (!INDEXED_DEMUXERS.has(format) || videos.some(({ endMs }) => endMs === null)) return [];
  const decodedMs = Math.max(0, ...videos.map(({ endMs }) => endMs ?? 0));
  const restMs = Math.max(0, ...images.map(({ endMs }) => endMs ?? 0)) - decodedMs;
  const { costMs, seeks } = seekCost(images.flatMap(({ images: { intervals } }) => intervals));
  return costMs < restMs && seeks <= MAX_SEEKS ? images : [];
}

const isOfImages = <Plan extends OutputPlan>(plan: Plan): plan is ImagePlan<Plan> => plan.images !== undefined;

const decodesVideo = ({ images, branches }: OutputPlan): boolean => !images && branches.length > 0;

/** The lower of two costs: by seeking if the source has an index, or by decoding up to the last image. */
function costOf({ images, endMs }: ImagePlan<OutputPlan>, format: string): { costMs: number; seeks: number } {
  const decoding = { costMs: endMs ?? Number.POSITIVE_INFINITY, seeks: 0 };
  if (!INDEXED_DEMUXERS.has(format)) return decoding;
  const seeking = seekCost(images.intervals);
  return seeking.costMs < decoding.costMs ? seeking : decoding;
}
