// A call of ffmpeg, and the parts that make up its arguments.
import type { Branch } from "./filter-graph.ts";
import type { PlannedInput } from "./opening-arguments.ts";

/** A call of ffmpeg. */
export type PlannedRun = {
  /** Arguments. The run has its own folder, which is empty at first. Output names are relative to this folder. */
  readonly argv: readonly string[];
  /** Files that the run reads besides the source and watermarks: absolute paths. */
  readonly reads?: readonly string[];
  /** Files that are written to the run's folder before it starts. */
  readonly texts?: readonly { readonly file: string; readonly text: string }[];
  /**
   * Network access of the run. `none`: the run reads local files. `loopback`: the run reads its source over HTTP from
   * the process that starts it, at the URL of the request's `source`. The run gets no other access.
   */
  readonly network: "none" | "loopback";
  /** True if the run encodes in hardware, and so needs the devices of the GPU. */
  readonly inHardware: boolean;
  /** Final value of `frame` of `-progress`; null if unknown, or if other outputs continue long after that. */
  readonly expectedFrames: number | null;
  /** Final value of `out_time` of `-progress`: the end of the longest output; null if unknown. */
  readonly durationMs: number | null;
};

/**
 * A further input of a part. Arguments of the part refer to it by its name: `@name:0` is its first stream. Parts may
 * share an input.
 */
export type NamedInput = PlannedInput & {
  readonly name: string;
  /** Content of the file, which the run needs in its folder; left out: the file exists. */
  readonly text?: string;
  /** Start of the file's timeline, on the clock of the file; 0 if left out. */
  readonly startUs?: number;
};

/** Part of a command that writes a single output. */
export type CommandPart = {
  /** Filters of the decoded video; none for an output without video. */
  readonly branches: readonly Branch[];
  /** ffmpeg's options for the output, ending with the file name. */
  readonly argv: readonly string[];
  /** Filter graphs of audio, complete. */
  readonly graphs?: readonly string[];
  readonly inputs?: readonly NamedInput[];
  /** Number of frames that the encoder gets; null if unknown, or without video. */
  readonly expectedFrames: number | null;
  /** Time on the source's timeline (ms) after which the part needs no more of the source; null: unknown. */
  readonly endMs: number | null;
  /** Start of the output on the source's timeline; 0 if left out. */
  readonly startMs?: number;
};
