// Checks of sources that change midway, or whose audio is unusual: inspection, plan, ffmpeg and the frames of a player.
import { expect } from "vitest";
import type { OutputOptions } from "#shared/testing/output-specs.ts";
import { type ProcessedOutput, processSource } from "../jobs/process-source.ts";
import { decode, decodeAudio } from "../plan-runs.ts";
import { shownFrames } from "../shown-frames.ts";
import { isFfmpeg5 } from "../task-deps.ts";

/** The files of an output that ffmpeg reads. Throws the message of a failure. */
export function filesOf(output: ProcessedOutput | undefined): readonly string[] {
  if (!output?.ok) throw new Error(output?.failure.message ?? "No output");
  return output.files.filter((name) => !name.endsWith(".mpd"));
}

export const STREAM: OutputOptions = {
  format: "httpstream",
  params: { hls: { path: "h" }, dash: { path: "d" }, variants: ["mp4:64x:48k"] },
};

/** The bright columns and rows of each frame, as `48x36`: all else is a black bar. */
export async function shownSizes(file: string): Promise<string[]> {
  const [width, height] = [64, 48];
  const pixels = await decode(file, `scale=${width}:${height}`, "gray");
  return Array.from({ length: pixels.length / (width * height) }, (_, at) => {
    const frame = pixels.subarray(at * width * height, (at + 1) * width * height);
    const columns = Array.from({ length: width }, (_, x) => frame[(height / 2) * width + x] ?? 0);
    const rows = Array.from({ length: height }, (_, y) => frame[y * width + width / 2] ?? 0);
    return [columns, rows].map((line) => line.filter((level) => level > 128).length).join("x");
  });
}

/** Checks that frames of another shape, such as `48x36`, keep it in the second of three seconds. */
export async function checkProportions(path: string, changed: string): Promise<void> {
  const first = "64x48";
  const outputs: OutputOptions[] = [
    { format: "mp4" },
    { format: "jpg", number: 3 },
    STREAM,
    { format: "mp4", params: { hflip: true } },
    { format: "webm:vp8", params: { deinterlace: true } },
  ];
  const { outputs: encoded } = await processSource(path, outputs);
  for (const at of [0, 2, 3, 4]) {
    const sizes = await shownSizes(filesOf(encoded[at])[0] ?? "");
    expect([sizes[12], sizes[37], sizes[62]], `output ${at}`).toEqual([first, changed, first]);
    expect(sizes.length, `output ${at}`).toBeGreaterThan(70);
  }
  const images = await Promise.all(filesOf(encoded[1]).map(shownSizes));
  expect(images.flat()).toEqual([first, changed, first]);
}

/** For each tenth of a second: true if it is audible. */
async function audible(file: string): Promise<boolean[]> {
  const samples = await decodeAudio(file);
  return Array.from({ length: Math.floor(samples.length / 4800) }, (_, at) =>
    samples.subarray(at * 4800, (at + 1) * 4800).some((sample) => Math.abs(sample) > 1000),
  );
}

/** Checks that audio of three seconds plays without a pause, and starts `lateSeconds` after the video. */
export async function checkContinuity(path: string, lateSeconds: number): Promise<void> {
  const formats = ["mp3", "ogv", "mp4", "avi:mpeg4:mp3_stereo"];
  const { outputs } = await processSource(path, [...formats.map((format) => ({ format })), STREAM]);
  for (const [at, output] of outputs.entries()) {
    const heard = await audible(filesOf(output)[0] ?? "");
    // An mp3 file starts with its audio.
    const silent = at === 0 ? 0 : lateSeconds * 10;
    // ffmpeg 5 loses a few frames at each change.
    const tenths = heard.slice(silent + 1, silent + (isFfmpeg5 ? 27 : 29));
    const pauses = tenths.filter((isAudible) => !isAudible).length;
    expect(pauses, `output ${at}: ${tenths}`).toBeLessThanOrEqual(isFfmpeg5 ? 2 : 0);
    expect(heard.slice(0, Math.max(0, silent - 1)).every((isAudible) => !isAudible)).toBe(true);
    expect(Math.abs(heard.length - (silent + 30)), `output ${at}: ${heard.length}`).toBeLessThanOrEqual(2);
  }
}

/** The loudest sample of a file after a filter. */
export async function peak(file: string, filter: string): Promise<number> {
  const samples = await decodeAudio(file, filter);
  return samples.reduce((most, sample) => Math.max(most, Math.abs(sample)), 0);
}

/** Checks that copies have all frames of `original`, at even times. */
export async function checkCopies(path: string, original = path): Promise<void> {
  const formats = ["mkv:copy:x", "mpegts:copy:x", "mp4:copy:x"].map((format) => ({ format }));
  const { outputs } = await processSource(path, formats);
  const expected = await decode(original, "null", "yuv420p");
  for (const [at, output] of outputs.entries()) {
    const file = filesOf(output)[0] ?? "";
    expect(Buffer.compare(await decode(file, "null", "yuv420p"), expected), `output ${at}`).toBe(0);
    const times = (await shownFrames(file)).map(({ seconds }) => seconds);
    // An elementary stream starts with a gap.
    const steps = times.slice(2).map((time, frame) => time - (times[frame + 1] ?? 0));
    expect(steps.every((step) => Math.abs(step - 0.04) < 0.002)).toBe(true);
  }
}

/** Checks that video with a reserved color matrix keeps all its frames, in videos and images. */
export async function checkReserved(path: string): Promise<void> {
  const { outputs, probe } = await processSource(path, [{ format: "mp4" }, { format: "jpg", number: 2 }]);
  expect(probe.streams.find(({ codec_type }) => codec_type === "video")?.color_space).toBe("reserved");
  const sizes = await shownSizes(filesOf(outputs[0])[0] ?? "");
  expect([sizes.length, new Set(sizes)]).toEqual([25, new Set(["64x48"])]);
  expect((await Promise.all(filesOf(outputs[1]).map(shownSizes))).flat()).toEqual(["64x48", "64x48"]);
}

/** Checks that the first frame looks like the first frame of the source. */
export async function checkFirstFrame(path: string, format: string): Promise<void> {
  const { outputs } = await processSource(path, [{ format }]);
  const [encoded, expected] = await Promise.all(
    [filesOf(outputs[0])[0] ?? "", path].map((file) => decode(file, "trim=end_frame=1", "gray")),
  );
  const error = expected?.reduce((sum, level, at) => sum + Math.abs(level - (encoded?.[at] ?? 0)), 0) ?? 0;
  expect(error / (64 * 48)).toBeLessThan(5);
}
