// The plan of an image output in parts: timestamps, filters, encoder and files.
import type { Filter } from "../command/filter-graph.ts";
import type { SamplingInterval } from "./thumbnail-timestamps.ts";

/** Images taken from a source, in parts, so that the frames may be selected by seeking or in one decode. */
export type SelectedImages = {
  /** The timestamps of the frames. */
  readonly intervals: readonly SamplingInterval[];
  /** RGB with or without alpha, by ffmpeg's name. */
  readonly pixelFormat: string;
  /** Filters of each frame, which leave it in that format. */
  readonly filters: readonly Filter[];
  /** Filters from there to the format of the encoder. */
  readonly finish: readonly Filter[];
  /** Each frame becomes a file, as opposed to sprite sheets or an animation. */
  readonly oneFilePerFrame: boolean;
  /** How the images are encoded. */
  readonly encode: readonly string[];
  /** Where they are written. */
  readonly file: ImageFile;
};

/** The muxer, and the name of the file; with a counter (`%05d`) for several. */
export type ImageFile = { readonly format: readonly string[]; readonly name: string };
