// The plan of an image output in parts: timestamps, filters, encoder and files.
import type { Filter } from "../command/filter-graph.ts";
import type { BurnIn } from "../filters/burn-in.ts";
import type { SamplingInterval } from "./thumbnail-timestamps.ts";

/** Images taken from a source, in parts, so that the frames may be selected by seeking or with a shared decode. */
export type SelectedImages = {
  /** Timestamps of the frames. */
  readonly intervals: readonly SamplingInterval[];
  /** RGB with or without alpha, by ffmpeg's name. */
  readonly pixelFormat: string;
  /** Filters of each frame, which leave it in that format. */
  readonly filters: readonly Filter[];
  /** Filters from that format to the format of the encoder. */
  readonly finish: readonly Filter[];
  /** True if each frame becomes a file; false for sprite sheets or an animation. */
  readonly oneFilePerFrame: boolean;
  /** Arguments of the image encoder. */
  readonly encode: readonly string[];
  /** Muxer and name of the image files. */
  readonly file: ImageFile;
  /** Captions in `filters`. */
  readonly burnIn: BurnIn | null;
  /** True if `filters` start with frames that have the timestamps at which they are shown. */
  readonly hasShownTimes: boolean;
};

/** Muxer, and name of the file; with a counter (`%05d`) for several files. */
export type ImageFile = { readonly format: readonly string[]; readonly name: string };
