// One call of ffmpeg, and the parts that make up its arguments.
import type { Branch } from "./filter-graph.ts";

/** One call of ffmpeg. */
export type PlannedRun = {
  /** The arguments. The run has a folder of its command's own, empty at first: output names are relative to it. */
  readonly argv: readonly string[];
  /** Files that it reads besides the source and watermarks: absolute paths. */
  readonly reads?: readonly string[];
  /**
   * What the run needs of the network. `none`: nothing, it reads local files. `loopback`: it reads its source over HTTP
   * from the process that starts it, at the URL of the request's `source`. Whoever runs it gives it this access and no
   * more.
   */
  readonly network: "none" | "loopback";
  /** True if it encodes in hardware, so that it needs the devices of the GPU. */
  readonly inHardware: boolean;
  /** The final value of `frame` of `-progress`; null if unknown, or if other outputs go on long after that. */
  readonly expectedFrames: number | null;
  /** The final value of `out_time` of `-progress`: the end of the longest output; null if unknown. */
  readonly durationMs: number | null;
};

/** The part of a command that writes one output. */
export type CommandPart = {
  /** Filters of the decoded video; none for an output without video. */
  readonly branches: readonly Branch[];
  /** ffmpeg's options for what it writes, ending with the file name. */
  readonly argv: readonly string[];
  /** Number of frames that the encoder gets; null if unknown, or without video. */
  readonly expectedFrames: number | null;
  /** The time on the source's timeline (ms) after which the part needs no more of the source; null: unknown. */
  readonly endMs: number | null;
  /** The time on the source's timeline at which the output begins; 0 if left out. */
  readonly startMs?: number;
};
