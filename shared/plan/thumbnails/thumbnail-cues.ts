// Which part of the film each picture of an output stands for.
import { objectName } from "../../job/object-name.ts";
import type { ImageOutput } from "../../job/output-spec.ts";
import { cellOf, type SpriteSheetLayout } from "./sprite-sheet.ts";
import { type SamplingInterval, timestampsOf } from "./thumbnail-timestamps.ts";
import { type Cue, relativeUrl, webVtt } from "./web-vtt.ts";

export type PicturesToCue = {
  readonly spec: ImageOutput;
  readonly strides: readonly SamplingInterval[];
  /** Of each picture, in order of time: its place in the request, from 0. */
  readonly places: readonly number[];
  /** Null for pictures in files of their own. */
  readonly layout: SpriteSheetLayout | null;
  /** Where the source's picture ends, in ms; null when nobody knows. */
  readonly endMs: number | null;
};

/** How long the last picture is shown where nobody knows when the film ends. */
const LAST_MS = 1000;

/**
 * The text of the output's WebVTT file; null when it has none. The cues cover the film from 0 to its end without gaps: by
 * number each picture has its slot, otherwise the time up to the next picture's moment, and the first has what comes before.
 */
export function vttText({ spec, strides, places, layout, endMs }: PicturesToCue): string | null {
  const { vtt, selection, path } = spec;
  if (!vtt) return null;
  const moments = timestampsOf(strides);
  const lead = selection.by === "number" ? (strides[0]?.stepMs ?? 0) / 2 : 0;
  const starts = moments.map((moment, at) => (at === 0 ? 0 : moment - lead));
  const lastMs = endMs ?? (moments.at(-1) ?? 0) + LAST_MS;
  const cues = starts.map((startMs, at): Cue => {
    const box = layout && cellOf(layout, at);
    const target = relativeUrl(vtt.path, objectName(path, (box ? box.sheet : (places[at] ?? at)) + 1));
    const fragment = layout && box ? `#xywh=${box.x},${box.y},${layout.cell.width},${layout.cell.height}` : "";
    return { startMs, endMs: starts[at + 1] ?? lastMs, target: target + fragment };
  });
  return webVtt(cues);
}
