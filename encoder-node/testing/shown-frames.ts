// The frames of a file and the times at which they are displayed, decoded by ffmpeg.
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { toolEnvironment } from "../ffmpeg/sandbox/tool-environment.ts";
import type { ProcessedOutput } from "./jobs/process-source.ts";
import { decode, FFPROBE, REFERENCE_FFMPEG } from "./plan-runs.ts";

/** Pixels of a frame in tests of captions. */
export const CAPTIONED_FRAME = 320 * 180;

const options = { env: toolEnvironment(), encoding: "buffer", maxBuffer: 64 * 1024 * 1024 } as const;
const run = promisify(execFile);

/** `level` is the mean brightness, 0 to 255. */
export type ShownFrame = { readonly seconds: number; readonly level: number };

/** The frames of the first video stream, on the timeline of a run that reads all streams. */
export async function shownFrames(file: string): Promise<ShownFrame[]> {
  const filters = "scale=4:4:flags=area,format=gray";
  const input = ["-v", "error", "-i", file, "-map", "0:v:0", "-vf", filters, "-fps_mode", "passthrough"];
  const { stdout: pixels } = await run(REFERENCE_FFMPEG, [...input, "-f", "rawvideo", "-"], options);
  // The audio is discarded. It is read so that the timeline starts as in a run over both streams.
  const both = ["-enc_time_base", "1/1000000", "-f", "framecrc", "-", "-map", "0:a?", "-f", "null", "-"];
  const { stdout: rows } = await run(REFERENCE_FFMPEG, [...input, ...both], options);
  const times = rows
    .toString()
    .split("\n")
    .flatMap((row) => (row.startsWith("0,") ? Number(row.split(",")[2]) / 1e6 : []));
  return times.map((seconds, at) => ({ seconds, level: mean(pixels.subarray(at * 16, at * 16 + 16)) }));
}

const mean = (bytes: Uint8Array): number => bytes.reduce((sum, byte) => sum + byte, 0) / bytes.length;

/** The frame that is displayed at a time. */
export function frameAt(frames: readonly ShownFrame[], seconds: number): ShownFrame {
  const displayed = frames.findLast((frame) => frame.seconds <= seconds + 0.0005) ?? frames[0];
  if (!displayed) throw new Error("No frames");
  return displayed;
}

/** The duration in the file's header, in seconds. */
export async function fileSeconds(file: string): Promise<number> {
  const argv = ["-v", "error", "-show_entries", "format=duration", "-of", "csv=p=0", file];
  return Number((await run(FFPROBE, argv, options)).stdout.toString());
}

/** Start and end of the frames with bright text, in seconds since the start of the output of 320x180 pixels. */
export async function secondsWithText(output: ProcessedOutput | undefined): Promise<number[]> {
  const [file = ""] = output?.ok ? output.files : [];
  const pixels = await decode(file, "fps=50", "gray");
  const frames = Array.from({ length: pixels.length / CAPTIONED_FRAME }, (_, at) =>
    pixels.subarray(at * CAPTIONED_FRAME, (at + 1) * CAPTIONED_FRAME),
  );
  const bright = frames.flatMap((frame, at) => (frame.some((value) => value > 220) ? [at] : []));
  return [(bright[0] ?? -1) / 50, ((bright.at(-1) ?? -1) + 1) / 50];
}
