// The plan of one output: its part of a command, and the files that the command leaves behind.
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
 * The failure to report of these results, one of which has failed: what no node can make comes before what this node
 * has no encoder or filter for.
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
  /** When it begins at the latest. */
  readonly startMs: number;
  /** The timestamp of the image that shows it. */
  readonly timestampMs: number;
  /** Where the times in DECODED_TIMES begin. */
  readonly originMs: number;
};

export type PlannedOutput = {
  /** `OutputSpec.index`. */
  readonly output: number;
  /** Names in the working folder. Of an image output one per image, in the order of the request. */
  readonly files: readonly string[];
  /** The tracks that must be in the output. */
  readonly tracks: readonly PlannedTrack[];
  /** ffmpeg's name of the encoder, of the video encoder if there is one, or `copy`; left out for images. */
  readonly encoder?: string;
  /** True if the encoder is hardware, which may fail where software does not. */
  readonly inHardware?: boolean;
  /** One sentence for the owner of the job. */
  readonly note?: string;
  /** Files that the planner writes itself, with their text. They are among `files`. */
  readonly texts?: readonly { readonly file: string; readonly text: string }[];
  /** The last frame that the images need; left out where it is not certain. */
  readonly neededFrame?: NeededFrame;
  /** Set if ffmpeg only appends to its file, so that it can be uploaded while it is written. */
  readonly growing?: GrowingFile;
  /** Of a stream, which has no `files`: the packager makes them of this. */
  readonly stream?: PlannedStream;
};

export type OutputPlan = CommandPart & {
  readonly planned: PlannedOutput;
  /** What any node must have to make it, with the alternatives of what this plan uses. May have duplicates. */
  readonly needs: readonly Need[];
  /** Where reading of the source begins (ms); `argv` and filters count from there. 0 if left out. */
  readonly seekMs?: number;
  /** Of a copy that cannot read the source like other outputs: how it reads it. */
  readonly copied?: CopySource;
  /** The first of two passes; the plan itself is the second. Such an output has its own command. */
  readonly firstPass?: CommandPart;
  /** The hardware that encodes it; left out: the processor. */
  readonly device?: HardwareDevice;
  /** Of an image output: its branch in parts, so that the frames may also be selected by seeking. */
  readonly images?: SelectedImages;
  /** Of an image output with sprite sheets. */
  readonly spriteSheet?: SpriteSheetLayout;
};

/** Runs one after the other in one folder, and the outputs that exist after the last run. */
export type PlannedCommand = {
  readonly runs: readonly PlannedRun[];
  /** In the order of the command, which need not be the order of the request. */
  readonly outputs: readonly PlannedOutput[];
};
