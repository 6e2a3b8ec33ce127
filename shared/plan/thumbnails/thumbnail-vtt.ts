// The WebVTT file that names the thumbnail of each part of the source.
import { objectName } from "../../job/object-name.ts";
import type { ImageOutput } from "../../job/output-spec.ts";
import { timeText } from "../../media/clock-time.ts";
import { cellOf, type SpriteSheetLayout } from "./sprite-sheet.ts";
import { type SamplingInterval, timestampsOf } from "./thumbnail-timestamps.ts";

/** From `startMs` to `endMs` of the source, players show the image at `target`, a URL relative to the WebVTT file. */
export type Cue = { readonly startMs: number; readonly endMs: number; readonly target: string };

export type CueOptions = {
  readonly spec: ImageOutput;
  readonly intervals: readonly SamplingInterval[];
  /** Position of each frame in the request, from 0. The frames are in time order. */
  readonly positions: readonly number[];
  /** Null if each frame has its own file. */
  readonly layout: SpriteSheetLayout | null;
  /** End of the source's video, in ms; null if unknown. */
  readonly endMs: number | null;
};

/** Duration of the last image if the end of the source is unknown. */
const LAST_MS = 1000;

/**
 * Text of the output's WebVTT file; null if it has none. The cues cover the source from 0 to its end without gaps. With
 * `number`, each image was taken in the middle of a slot, and covers that slot. Otherwise an image is shown until the
 * timestamp of the next image, and the first image is shown from 0 on.
 */
export function thumbnailVtt({ spec, intervals, positions, layout, endMs }: CueOptions): string | null {
  const { vtt, selection, path } = spec;
  if (!vtt) return null;
  const timestamps = timestampsOf(intervals);
  const beforeMs = selection.by === "number" ? (intervals[0]?.stepMs ?? 0) / 2 : 0;
  const starts = timestamps.map((timestampMs, at) => (at === 0 ? 0 : timestampMs - beforeMs));
  const lastMs = endMs ?? (timestamps.at(-1) ?? 0) + LAST_MS;
  const cues = starts.map((startMs, at): Cue => {
    const box = layout && cellOf(layout, at);
    const target = relativeUrl(vtt.path, objectName(path, (box ? box.sheet : (positions[at] ?? at)) + 1));
    const fragment = layout && box ? `#xywh=${box.x},${box.y},${layout.cell.width},${layout.cell.height}` : "";
    return { startMs, endMs: starts[at + 1] ?? lastMs, target: target + fragment };
  });
  return webVtt(cues);
}

/** Text of a WebVTT file with these cues, which are in time order. Cues shorter than a millisecond are left out. */
export function webVtt(cues: readonly Cue[]): string {
  const blocks = cues
    .map((cue) => ({ ...cue, startMs: Math.round(cue.startMs), endMs: Math.round(cue.endMs) }))
    .filter(({ startMs, endMs }) => endMs > startMs)
    .map(({ startMs, endMs, target }) => `${timeText(startMs)} --> ${timeText(endMs)}\n${target}\n`);
  return ["WEBVTT\n", ...blocks].join("\n");
}

/** Relative URL from an object of a storage to another object. */
export function relativeUrl(from: string, to: string): string {
  const [here, there] = [from.split("/").slice(0, -1), to.split("/")];
  const differs = there.findIndex((folder, at) => at === there.length - 1 || folder !== here[at]);
  const up = here.slice(differs).map(() => "..");
  return [...up, ...there.slice(differs).map(encodeURIComponent)].join("/");
}
