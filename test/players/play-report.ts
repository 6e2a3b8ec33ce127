// The report of a player in a browser about a package that it played.
import * as z from "zod";

/** `at` is the playback time in seconds; -1 if the page does not know it. */
export const Fault = z.object({ at: z.number(), what: z.string(), detail: z.string(), fatal: z.boolean() });
export type Fault = z.infer<typeof Fault>;

export const Level = z.object({ id: z.string(), width: z.number(), height: z.number(), bandwidth: z.number() });
export type Level = z.infer<typeof Level>;

export const Opened = z.object({
  /** Infinity in dash.js while the stream is encoded. */
  durationSeconds: z.custom<number>((value) => typeof value === "number"),
  /** Video levels, in the player's order. */
  levels: z.array(Level),
  audio: z.array(z.object({ language: z.string(), name: z.string() })),
  subtitles: z.array(
    z.object({
      language: z.string(),
      name: z.string(),
      isForced: z.literal(true).exactOptional(),
      isCaptions: z.literal(true).exactOptional(),
    }),
  ),
});
export type Opened = z.infer<typeof Opened>;

/** A frame that was shown on the screen. */
export const Frame = z.object({
  /** Its time by the player's clock, in seconds. */
  time: z.number(),
  /** Its time by the code drawn into the source, in seconds; null if not readable. */
  code: z.number().nullable(),
  height: z.number(),
});
export type Frame = z.infer<typeof Frame>;

export const Cue = z.object({ start: z.number(), end: z.number(), text: z.string() });
export type Cue = z.infer<typeof Cue>;

export const PlayReport = z.object({
  ended: z.boolean(),
  /** The playback position, in seconds. */
  time: z.number(),
  /** Errors and warnings of the player and of the media element, and unrequested waits of the playback. */
  faults: z.array(Fault),
  /** Frames in order, including frames that appeared during other steps. */
  frames: z.array(Frame),
  /** Start and end in seconds. More than one range means a hole. */
  buffered: z.array(z.tuple([z.number(), z.number()])),
  droppedFrames: z.int(),
  decodedFrames: z.int(),
  decodedAudioBytes: z.int(),
});
export type PlayReport = z.infer<typeof PlayReport>;

/**
 * Reports that are no defects. hls.js aborts loads when it switches levels. In MPEG-TS, a first segment whose frames
 * are decoded more than 50 ms before their display leaves a hole at 0. `waiting`, a stall that is not fatal and the
 * nudge after it: a busy machine decodes late. Holes in a package: hls.js reports its jumps over them
 * (`bufferSeekOverHole`), dash.js does not end after one, and `buffered` shows them.
 */
const HARMLESS: readonly string[] = [
  ...["aborted", "fragmentLoadingAbandoned", "bufferAppendNoProgress"],
  ...["waiting", "bufferStalledError", "bufferNudgeOnStall"],
];

/**
 * A busy hls.js jumps over the hole at 0, of up to 0.1 s, to a place 0.1 s behind it (`skipBufferHolePadding`). It
 * jumps from 0, or from where a playing video's clock is in the hole.
 */
const isHoleAtStart = ({ what, detail }: Fault): boolean =>
  what === "bufferSeekOverHole" && Number(/ seeking from [\d.]+ to ([\d.]+)$/.exec(detail)?.[1]) < 0.2;

/** The faults that indicate a defect of the package. */
export const complaintsOf = ({ faults }: PlayReport): Fault[] =>
  faults.filter((fault) => fault.fatal || !(HARMLESS.includes(fault.what) || isHoleAtStart(fault)));

/** Offset of the player's clock from the video's: hls.js takes the first decoding timestamp for 0. */
export const shiftOf = ({ frames: [first] }: PlayReport): number =>
  (first?.time ?? Number.NaN) - (first?.code ?? Number.NaN);

/** Frames that were shown at a wrong time. Codes and players' clocks are rounded to milliseconds. */
export const misplaced = (frames: readonly Frame[], shift: number): Frame[] =>
  frames.filter(({ time, code }) => !(Math.abs(time - (code ?? Number.NaN) - shift) <= 0.003));
