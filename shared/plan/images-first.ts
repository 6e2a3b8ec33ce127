// Which images are made by runs of their own before the videos, so that a poster need not wait for an hour of video.
import { INDEXED_DEMUXERS } from "../media/demuxers.ts";
import type { OutputPlan, SelectedImages } from "./command/output-plan.ts";
import { MAX_SEEKS, seekCost } from "./thumbnails/seek-thumbnails.ts";

/**
 * What images may cost beside a video, in ms of video that is decoded a second time: as much as the first minute (3 s of
 * CPU at 1080p, where encoding that minute takes a minute or more), or this share of it.
 */
const SMALL_MS = 60_000;
const SMALL_SHARE = 0.25;

/**
 * The image outputs that are cheap enough, the cheapest first; all of them where no video of the source is decoded anyway.
 * `format` is the demuxer's name.
 */
export function imagesFirst<Plan extends OutputPlan>(plans: readonly Plan[], format: string): Plan[] {
  const images = plans.filter(isOfImages);
  const videos = plans.filter(({ images, branches }) => !images && branches.length > 0);
  if (videos.length === 0) return images.length < plans.length ? images : [];
  const longestMs = Math.max(...videos.map(({ endMs, seekMs = 0 }) => (endMs === null ? 0 : endMs - seekMs)));
  let leftMs = Math.max(SMALL_MS, SMALL_SHARE * longestMs);
  let leftSeeks = MAX_SEEKS;
  const priced = images.map((plan) => ({ plan, ...priceOf(plan, format) })).toSorted((a, b) => a.costMs - b.costMs);
  return priced.flatMap(({ plan, costMs, seeks }) => {
    if (costMs > leftMs || seeks > leftSeeks) return [];
    leftMs -= costMs;
    leftSeeks -= seeks;
    return [plan];
  });
}

const isOfImages = <Plan extends OutputPlan>(plan: Plan): plan is Plan & { readonly images: SelectedImages } =>
  plan.images !== undefined;

/** By seeks where the source has an index, or by decoding up to the last image, whichever is less. */
function priceOf({ images, endMs }: OutputPlan & { images: SelectedImages }, format: string) {
  const decodingMs = endMs ?? Number.POSITIVE_INFINITY;
  if (!INDEXED_DEMUXERS.has(format)) return { costMs: decodingMs, seeks: 0 };
  const { costMs, seeks } = seekCost(images);
  return costMs < decodingMs ? { costMs, seeks } : { costMs: decodingMs, seeks: 0 };
}
