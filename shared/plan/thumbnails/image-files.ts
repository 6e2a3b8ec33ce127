// Counts the files of an image output, once its source is known.
import { frameCount, imageFileCount } from "../../job/output-files.ts";
import type { ImageOutput } from "../../job/output-spec.ts";
import type { MediaProbe } from "../../media/media-probe.ts";
import { chooseTracks } from "../source/source-tracks.ts";
import { outputTimestamps } from "./output-timestamps.ts";
import { countTimestamps } from "./thumbnail-timestamps.ts";

export type ImageFileCount = {
  /** Frames taken from the source. An animated scene counts as a single frame. */
  readonly frames: number;
  /** Image files, without the WebVTT file. */
  readonly files: number;
};

/** Null if the number depends on the source, and the source is unknown or unsuitable for the output. */
export function countImageFiles(output: ImageOutput, probe: MediaProbe | null): ImageFileCount | null {
  const { selection, sprite } = output;
  const frames = frameCount(selection) ?? (probe && countFrames(output, probe));
  if (frames === null) return null;
  const files = imageFileCount(output) ?? (sprite?.limit ? Math.ceil(frames / sprite.limit) : frames);
  return { frames, files };
}

function countFrames(output: ImageOutput, probe: MediaProbe): number | null {
  const { video } = chooseTracks(probe);
  const intervals = video && outputTimestamps(output, video);
  return intervals?.ok ? countTimestamps(intervals.value) : null;
}
