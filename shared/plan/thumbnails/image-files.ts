// How many files an image output consists of, once its source is known.

import { imageFileCount, pictureCount } from "../../job/output-files.ts";
import type { ImageOutput } from "../../job/output-spec.ts";
import type { MediaProbe } from "../../media/media-probe.ts";
import { chooseTracks } from "../source/source-tracks.ts";
import { chooseTimestamps, countTimestamps } from "./thumbnail-timestamps.ts";

export type ImageFileCount = {
  /** Pictures taken from the source; scenes that move count as one. */
  readonly frames: number;
  /** Image files, without the WebVTT file. */
  readonly files: number;
};

/** Null when that depends on a source that is not known or that the output cannot be made of. */
export function countImageFiles(output: ImageOutput, probe: MediaProbe | null): ImageFileCount | null {
  const { selection, sprite } = output;
  const pictures = pictureCount(selection) ?? (probe && countIn(output, probe));
  if (pictures === null) return null;
  const images = imageFileCount(output) ?? (sprite?.limit ? Math.ceil(pictures / sprite.limit) : pictures);
  return { frames: pictures, files: images };
}

function countIn({ selection, sprite }: ImageOutput, probe: MediaProbe): number | null {
  const { video } = chooseTracks(probe);
  const moments = video && chooseTimestamps(selection, video, sprite !== null);
  return moments?.ok ? countTimestamps(moments.intervals) : null;
}
