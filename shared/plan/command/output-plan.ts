// What a planner answers for one output: its part of the command, or why it cannot be made.
import type { Failure } from "../../errors.ts";
import type { HardwareDevice } from "../encoders/hardware.ts";
import type { PlannedStream } from "../streams/planned-stream.ts";
import type { SpriteSheetLayout } from "../thumbnails/sprite-sheet.ts";
import type { SamplingInterval } from "../thumbnails/thumbnail-timestamps.ts";
import type { Branch, Filter } from "./filter-graph.ts";

export type TrackKind = "video" | "audio";

export type PlannedOutput = {
  /** `OutputSpec.index`. */
  readonly output: number;
  /** Names in the working folder; of an image output one per picture, in order of time. */
  readonly files: readonly string[];
  /** How long it is at least; null for images, and when nobody knows the source's length for certain. */
  readonly expectedDurationMs: number | null;
  /** What must be in the file. */
  readonly tracks: readonly TrackKind[];
  /** ffmpeg's name of the encoder that makes it, of its picture if it has one, or `copy`; left out for images. */
  readonly encoder?: string;
  /** Whether that is hardware, which may fail where software does not. */
  readonly inHardware?: boolean;
  /** What the owner should know of it, in one sentence. */
  readonly note?: string;
  /** Files that no encoder makes, with their text; they are among `files`. */
  readonly texts?: readonly { readonly file: string; readonly text: string }[];
  /** How far (ms on its own line) the source's picture must go for the pictures to be what they say; null: nobody knows. */
  readonly sourceNeededUntilMs?: number | null;
  /** Of a stream, which has no `files` of its own: what the packager makes them of. */
  readonly stream?: PlannedStream;
};

/** A part of the command that writes something. */
export type CommandPart = {
  /** From the decoded video; none for an output of sound only. */
  readonly branches: readonly Branch[];
  /** ffmpeg's options for what it writes, the file name last. */
  readonly argv: readonly string[];
  /** Pictures that the encoder is given; null when there are none or nobody knows. */
  readonly expectedFrames: number | null;
  /** Where on the source's time line (ms) it needs no more of it; null: unknown. */
  readonly endMs: number | null;
  /** Where on that line its own time begins; 0 when left out. */
  readonly startMs?: number;
};

export type OutputPlan = CommandPart & {
  readonly planned: PlannedOutput;
  /** From where on the source is read (ms), which its `argv` and filters count from; 0 when left out. */
  readonly seekMs?: number;
  /** The first of two passes, `argv` and all else being of the second: such an output has a command of its own. */
  readonly firstPass?: CommandPart;
  /** What it is encoded on; left out: the processor. */
  readonly device?: HardwareDevice;
  /** Of an image output: what its branch does, so that the pictures may come in another way. */
  readonly images?: SelectedImages;
  /** Of an image output on sheets: how they are laid out. */
  readonly spriteSheet?: SpriteSheetLayout;
};

/** Pictures taken out of a film. */
export type SelectedImages = {
  /** The moments that they show. */
  readonly intervals: readonly SamplingInterval[];
  /** RGB, with alpha or without, by ffmpeg's name. */
  readonly pixelFormat: string;
  /** What is done to each picture; it is of that format afterwards. */
  readonly filters: readonly Filter[];
  /** From there to what the encoder takes. */
  readonly finish: readonly Filter[];
  /** As against sheets of them, or one file that moves. */
  readonly oneFilePerFrame: boolean;
};

export type PlanResult = { readonly ok: true; readonly plan: OutputPlan } | Refusal;

export type Refusal = { readonly ok: false; readonly failure: Failure };

export const refuse = (code: keyof typeof REFUSALS): Refusal => ({
  ok: false,
  failure: { code, message: REFUSALS[code] },
});

const REFUSALS = {
  input_has_no_video: "The input has no video stream, which this output needs.",
  input_has_no_audio: "The input has no audio stream, which this output needs.",
  offset_beyond_end: "The output's `offset` lies beyond the end of the input.",
};
