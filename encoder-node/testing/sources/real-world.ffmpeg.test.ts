// Processes sources as they occur in real use: inspection, plan, ffmpeg and checks. Compares the outputs with the
// source's own frames.
import { describe, expect, it } from "vitest";
import type { OutputOptions } from "#shared/testing/output-specs.ts";
import { few } from "../few.ts";
import { type ProcessedOutput, processSource } from "../jobs/process-source.ts";
import { fileSeconds, frameAt, shownFrames } from "../shown-frames.ts";
import { workshopOfFile } from "../workshop-of-file.ts";
import {
  animatedPng,
  browserRecording,
  clockRollover,
  earlyDataStream,
  framesAtOneTime,
  longPreSkip,
  screenRecording,
  screenRecordingInMatroska,
  trimmedWithoutKeyframe,
  truncatedMatroska,
  truncatedRecording,
  truncatedWebm,
} from "./real-world-sources.ts";

const workshop = workshopOfFile();

const MP4: OutputOptions = { format: "mp4" };
const WEBM: OutputOptions = { format: "webm:vp8" };
const THREE: OutputOptions = { format: "jpg:64x", number: 3 };
const EVERY_2_S: OutputOptions = { format: "jpg:64x", params: { interval: 2 } };
const SCENES: OutputOptions = { format: "gif:64x", params: { scene: { number: 2, duration: 0.1 } } };
const STREAM: OutputOptions = {
  format: "httpstream",
  params: { hls: { path: "h" }, dash: { path: "d" }, variants: ["mp4:64x:48k"] },
};

function filesOf(output: ProcessedOutput | undefined): readonly string[] {
  if (!output?.ok) throw new Error(output?.failure.message ?? "No output");
  return output.files;
}

/** Each frame of these sources is 4.7 brighter than the frame before, and codecs change it by less than 2. */
const SAME_FRAME = 2.3;

/** `seconds` are relative to the first frame. */
async function expectImages(source: string, output: ProcessedOutput | undefined, seconds: number[]): Promise<void> {
  const input = await shownFrames(source);
  const start = input.find((frame) => frame.seconds >= 0)?.seconds ?? 0;
  const images = await Promise.all(filesOf(output).map(shownFrames));
  const levels = images.flat().map(({ level }) => level);
  expect(levels).toHaveLength(seconds.length);
  for (const [at, second] of seconds.entries()) {
    expect(Math.abs((levels[at] ?? 0) - frameAt(input, start + second).level), `image at ${second} s`).toBeLessThan(
      SAME_FRAME,
    );
  }
}

describe("a truncated file", () => {
  few(1).each([truncatedMatroska, truncatedWebm])("fails outputs that need the missing part: %o", async (make) => {
    const path = await make(workshop);
    const { outputs } = await processSource(path, [MP4, THREE, STREAM, { ...MP4, durationMs: 1000 }]);
    const failed = { ok: false, failure: { code: "encoding_failed", message: expect.stringContaining("truncated") } };
    expect(outputs).toEqual([failed, failed, failed, { ok: true, files: [expect.any(String)] }]);
  });

  it("gives complete outputs of the existing part when the header has no duration", async () => {
    const path = await truncatedRecording(workshop);
    const { outputs } = await processSource(path, [MP4, THREE]);
    const source = await shownFrames(path);
    const end = source.length / 10;
    expect(await shownFrames(filesOf(outputs[0])[0] ?? "")).toHaveLength(source.length);
    await expectImages(path, outputs[1], [end / 6, end / 2, (end * 5) / 6]);
  });
});

describe("a file without a duration", () => {
  few(1).each([
    [browserRecording, 6],
    [animatedPng, 6],
  ])("gives images of its whole length: %o", async (make, seconds) => {
    const path = await make(workshop);
    const { outputs } = await processSource(path, [THREE, EVERY_2_S, SCENES, MP4]);
    await expectImages(path, outputs[0], [seconds / 6, seconds / 2, (seconds * 5) / 6]);
    await expectImages(path, outputs[1], [0, 2, 4]);
    await expectImages(path, outputs[2], [1.45, 4.45]);
    expect(await shownFrames(filesOf(outputs[3])[0] ?? "")).toHaveLength(60);
  });
});

describe("a header whose times differ from the times of the packets", () => {
  few(1).each([
    [earlyDataStream, 2, 20],
    [clockRollover, 6, 60],
    [trimmedWithoutKeyframe, 3.4, 34],
  ])("allows all outputs: %o", async (make, seconds, frames) => {
    const path = await make(workshop);
    const { outputs } = await processSource(path, [MP4, WEBM, THREE, SCENES, STREAM]);
    for (const output of [outputs[0], outputs[1], outputs[4]]) {
      // ffmpeg's DASH reader supports whole seconds only.
      const file = filesOf(output).find((name) => !name.endsWith(".mpd")) ?? "";
      const outputFrames = await shownFrames(file);
      expect(outputFrames).toHaveLength(frames);
      expect(Math.abs((await fileSeconds(file)) - seconds), file).toBeLessThan(0.06);
      const times = new Set(outputFrames.map((frame) => frame.seconds));
      expect(times.size).toBe(frames);
    }
    await expectImages(path, outputs[2], [seconds / 6, seconds / 2, (seconds * 5) / 6]);
    expect(filesOf(outputs[3])).toHaveLength(1);
  });

  it("gives audio without the encoder's priming", async () => {
    const path = await longPreSkip(workshop);
    const { outputs } = await processSource(path, [{ format: "m4a" }, { format: "mp3" }]);
    // 6.0065 s of packets less 65,535 samples at 48 kHz.
    for (const output of outputs) expect(await fileSeconds(filesOf(output)[0] ?? "")).toBeCloseTo(4.64, 1);
  });
});

describe("a video with a variable frame rate", () => {
  const formats = ["mp4", "webm:vp8", "mkv", "mov", "mp4:15fps"].map((format) => ({ format }));
  few(1).each([screenRecording, screenRecordingInMatroska])(
    "shows its last frame as long as the source: %o",
    async (make) => {
      const path = await make(workshop);
      const { outputs } = await processSource(path, [...formats, { format: "mpegts" }, STREAM]);
      const source = await shownFrames(path);
      for (const [at, output] of outputs.entries()) {
        const file = filesOf(output).find((name) => !name.endsWith(".mpd")) ?? "";
        const outputFrames = await shownFrames(file);
        // Constant rates repeat frames; formats without frame durations repeat the last frame.
        if (at < 4) expect(outputFrames, file).toHaveLength(source.length);
        expect(Math.abs((await fileSeconds(file)) - 5.9), `${file} ${await fileSeconds(file)}`).toBeLessThan(0.11);
        for (const { seconds, level } of source) {
          expect(Math.abs(frameAt(outputFrames, seconds + 0.05).level - level), `${file} at ${seconds}`).toBeLessThan(
            SAME_FRAME,
          );
        }
      }
    },
  );

  it("writes no two frames with the same time to any output", async () => {
    const path = await framesAtOneTime(workshop);
    const { outputs } = await processSource(path, [MP4, WEBM, STREAM]);
    const source = await shownFrames(path);
    for (const output of outputs) {
      const file = filesOf(output).find((name) => !name.endsWith(".mpd")) ?? "";
      const times = (await shownFrames(file)).map(({ seconds }) => seconds);
      expect(times).toHaveLength(source.length - 2);
      expect(new Set(times).size).toBe(times.length);
    }
  });
});
