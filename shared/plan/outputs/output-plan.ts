// The plan of an output: its part of a command, and the files that the command leaves behind.
import type { Failure } from "../../errors.ts";
import type { Need } from "../../protocol/needs.ts";
import type { Result } from "../../result.ts";
import type { CommandPart, PlannedRun } from "../command/planned-run.ts";
import type { HardwareDevice } from "../encoders/hardware.ts";
import type { CopySource } from "../source/copy-tracks.ts";
import type { PlannedTrack } from "../source/output-length.ts";
import type { PlannedStream } from "../streams/planned-stream.ts";
import type { SelectedImages } from "../thumbnails/selected-images.ts";
import type { SpriteSheetLayout } from "../thumbnails/sprite-sheet.ts";
import type { GrowingFile } from "./growing-file.ts";

/**
 * Returns the failure to report. At least one result has failed. A failure on every node comes before a missing encoder
 * or filter on this node.
 */
export function decisiveFailure(results: readonly (Result<unknown> | null)[]): Failure {
  const failures = results.flatMap((result) => (!result || result.ok ? [] : result.error));
  const failure = failures.find(({ code }) => code !== "encoder_not_available") ?? failures[0];
  if (!failure) throw new Error("Nothing has failed");
  return failure;
}

/**
 * A frame up to which the source's video must have been decoded for images to be right. Times in ms on the source's
 * timeline.
 */
export type NeededFrame = {
  /** Latest start of the frame. */
  readonly startMs: number;
  /** Timestamp of the image that shows the frame. */
  readonly timestampMs: number;
  /** Start of the times in DECODED_TIMES. */
  readonly originMs: number;
};

export type PlannedOutput = {
  /** `OutputSpec.index`. */
  readonly output: number;
  /** Names in the working folder. An image output has a name per image, in the order of the request. */
  readonly files: readonly string[];
  /** Tracks that must be in the output. */
  readonly tracks: readonly PlannedTrack[];
  /**
   * ffmpeg's name of the video encoder, or of the audio encoder for an output without video. `copy` for a copy; left
   * out for images.
   */
  readonly encoder?: string;
  /** True if the encoder is hardware, which may fail where software does not. */
  readonly inHardware?: boolean;
  /** A sentence for the owner of the job. */
  readonly note?: string;
  /** Files that the planner writes itself, with their text. They are among `files`. */
  readonly texts?: readonly { readonly file: string; readonly text: string }[];
  /** The last frame that the images need; left out if it is not certain. */
  readonly neededFrame?: NeededFrame;
  /** Set if ffmpeg only appends to the file, so that it can be uploaded while it is written. */
  readonly growing?: GrowingFile;
  /** Plan of a stream, which has no `files`: the packager makes its files from this plan. */
  readonly stream?: PlannedStream;
};

export type OutputPlan = CommandPart & {
  readonly planned: PlannedOutput;
  /**
   * Needs of any node that makes the output, with alternatives for everything that this plan uses. May have duplicates.
   */
  readonly needs: readonly Need[];
  /** Start of reading in the source (ms); `argv` and filters count from there. 0 if left out. */
  readonly seekMs?: number;
  /** Reading options of a copy that cannot read the source like other outputs. */
  readonly copied?: CopySource;
  /** The first of two passes; the plan itself is the second. Such an output has its own command. */
  readonly firstPass?: CommandPart;
  /** Hardware that encodes the output; left out: the processor. */
  readonly device?: HardwareDevice;
  /** Branch of an image output in parts, so that the frames may also be selected by seeking. */
  readonly images?: SelectedImages;
  /** Layout of an image output with sprite sheets. */
  readonly spriteSheet?: SpriteSheetLayout;
};

/** Consecutive runs in the same folder, and the outputs that exist after the last run. */
export type PlannedCommand = {
  readonly runs: readonly PlannedRun[];
  /** In the order of the command, which need not be the order of the request. */
  readonly outputs: readonly PlannedOutput[];
};
