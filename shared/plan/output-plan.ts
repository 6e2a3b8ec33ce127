// What a planner answers for one output: its part of the command, or why it cannot be made.
import type { Failure } from "../errors.ts";
import type { Branch } from "./filter-graph.ts";

export type TrackKind = "video" | "audio";

export type PlannedOutput = {
  /** `OutputSpec.index`. */
  readonly output: number;
  /** Names in the working folder; of an image output one per picture, in order of time. */
  readonly files: readonly string[];
  /** How long it is at least; null for images, and when nobody knows the source's length for certain. */
  readonly expectedDurationMs: number | null;
  /** What must be in the file. */
  readonly holds: readonly TrackKind[];
};

/** A part of the command that writes something. */
export type CommandPart = {
  /** From the decoded video; null for an output of sound only. */
  readonly branch: Branch | null;
  /** ffmpeg's options for what it writes, the file name last. */
  readonly argv: readonly string[];
  /** Pictures that the encoder is given; null when there are none or nobody knows. */
  readonly expectedFrames: number | null;
  /** Where on the source's time line (ms) it needs no more of it; null: unknown. */
  readonly endMs: number | null;
};

export type OutputPlan = CommandPart & { readonly planned: PlannedOutput };

export type PlanResult =
  | { readonly ok: true; readonly plan: OutputPlan }
  | { readonly ok: false; readonly failure: Failure };

export const refuse = (code: "input_has_no_video" | "input_has_no_audio"): PlanResult => ({
  ok: false,
  failure: { code, message: REFUSALS[code] },
});

const REFUSALS = {
  input_has_no_video: "The input has no video stream, which this output needs.",
  input_has_no_audio: "The input has no audio stream, which this output needs.",
};
