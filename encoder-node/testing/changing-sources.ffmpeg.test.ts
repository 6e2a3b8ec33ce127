// Processes sources that change midway, or whose audio is unusual: inspection, plan, ffmpeg and checks.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { OutputOptions } from "#shared/testing/output-specs.ts";
import {
  ambisonicAudio,
  changingAudio,
  multiplex,
  packedFrames,
  reorderedFrames,
  reservedMatrix,
  turnedPhone,
  wideFromTheMiddle,
} from "./changing-sources.ts";
import { decode, decodeAudio } from "./plan-runs.ts";
import { type ProcessedOutput, processSource } from "./process-source.ts";
import { closeServers } from "./range-server.ts";
import { shownFrames } from "./shown-frames.ts";
import { openWorkshop } from "./source-workshop.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "copra-changing-"));
});
afterAll(async () => {
  closeServers();
  await rm(folder, { recursive: true, force: true });
});

function filesOf(output: ProcessedOutput | undefined): readonly string[] {
  if (!output?.ok) throw new Error(output?.failure.message ?? "No output");
  return output.files.filter((name) => !name.endsWith(".mpd"));
}

const STREAM: OutputOptions = {
  format: "httpstream",
  params: { hls: { path: "h" }, dash: { path: "d" }, variants: ["mp4:64x:48k"] },
};

/** The bright columns and rows of each frame, as `48x36`: all else is a black bar. */
async function shownSizes(file: string): Promise<string[]> {
  const [width, height] = [64, 48];
  const pixels = await decode(file, `scale=${width}:${height}`, "gray");
  return Array.from({ length: pixels.length / (width * height) }, (_, at) => {
    const frame = pixels.subarray(at * width * height, (at + 1) * width * height);
    const columns = Array.from({ length: width }, (_, x) => frame[(height / 2) * width + x] ?? 0);
    const rows = Array.from({ length: height }, (_, y) => frame[y * width + width / 2] ?? 0);
    return [columns, rows].map((line) => line.filter((level) => level > 128).length).join("x");
  });
}

describe("a video whose shape changes", () => {
  it.each([
    [turnedPhone, "36x48"],
    [wideFromTheMiddle, "64x36"],
  ])("keeps the proportions of all its frames: %o", async (make, changed) => {
    const first = "64x48";
    const path = await make(openWorkshop(folder));
    const outputs: OutputOptions[] = [
      { format: "mp4" },
      { format: "jpg", number: 3 },
      STREAM,
      { format: "mp4", params: { hflip: true } },
      { format: "webm:vp8", params: { deinterlace: true } },
    ];
    const { outputs: made } = await processSource(path, outputs);
    for (const at of [0, 2, 3, 4]) {
      const sizes = await shownSizes(filesOf(made[at])[0] ?? "");
      expect([sizes[12], sizes[37], sizes[62]], `output ${at}`).toEqual([first, changed, first]);
      expect(sizes.length, `output ${at}`).toBeGreaterThan(70);
    }
    const images = await Promise.all(filesOf(made[1]).map(shownSizes));
    expect(images.flat()).toEqual([first, changed, first]);
  });
});

/** Whether each tenth of a second is audible. */
async function audible(file: string): Promise<boolean[]> {
  const samples = await decodeAudio(file);
  return Array.from({ length: Math.floor(samples.length / 4800) }, (_, at) =>
    samples.subarray(at * 4800, (at + 1) * 4800).some((sample) => Math.abs(sample) > 1000),
  );
}

describe("audio whose channels and sample rate change", () => {
  it.each([0, 0.5])("plays without inserted silence, %f s after the video", async (lateSeconds) => {
    const path = await changingAudio(lateSeconds)(openWorkshop(folder));
    const formats = ["avi:mpeg4:mp3_stereo", "ogv", "mp4", "mp3"].map((format) => ({ format }));
    const { outputs } = await processSource(path, [...formats, STREAM]);
    for (const [at, output] of outputs.entries()) {
      const heard = await audible(filesOf(output)[0] ?? "");
      // An mp3 file begins with its audio.
      const silent = at === 3 ? 0 : lateSeconds * 10;
      expect(heard.slice(silent + 1, silent + 29), `output ${at}`).toEqual(Array(28).fill(true));
      expect(heard.slice(0, Math.max(0, silent - 1)).every((isAudible) => !isAudible)).toBe(true);
      expect(Math.abs(heard.length - (silent + 30)), `output ${at}: ${heard.length}`).toBeLessThanOrEqual(2);
    }
  });
});

/** The loudest sample of a file after a filter. */
async function peak(file: string, filter: string): Promise<number> {
  const samples = await decodeAudio(file, filter);
  return samples.reduce((most, sample) => Math.max(most, Math.abs(sample)), 0);
}

it("mixes ambisonic audio, with its directions", async () => {
  const path = await ambisonicAudio(openWorkshop(folder));
  const formats = ["mp4", "mp3", "mkv:h264:flac_multi", "mp4::aac_mono"].map((format) => ({ format }));
  const { outputs } = await processSource(path, [...formats, STREAM]);
  for (const [at, output] of outputs.entries()) {
    const file = filesOf(output)[0] ?? "";
    const [left, right] = [await peak(file, "pan=mono|c0=FL"), await peak(file, "pan=mono|c0=FR")];
    if (at === 3) expect(await peak(file, "anull")).toBeGreaterThan(2000);
    else expect(left, `output ${at}: ${left} ${right}`).toBeGreaterThan(10 * right + 2000);
  }
});

it("takes the audio of the video's channel from a multiplex", async () => {
  const path = await multiplex(openWorkshop(folder));
  const { outputs, probe } = await processSource(path, [{ format: "mp4" }, { format: "mp3" }]);
  expect(probe.streams.map(({ programs }) => programs)).toEqual([[1], [1], [2], [2]]);
  for (const output of outputs) expect(await peak(filesOf(output)[0] ?? "", "anull")).toBeGreaterThan(2000);
});

it.each([
  ["packed frames", packedFrames],
  ["MPEG-4 in AVI", reorderedFrames("mpeg4.avi", "mpeg4")],
  ["MPEG-PS", reorderedFrames("mpeg2.mpg", "mpeg2video")],
  ["an elementary stream", reorderedFrames("mpeg1.m1v", "mpeg1video")],
])("copies %s with a time for each frame, in the order of display", async (_, make) => {
  const path = await make(openWorkshop(folder));
  const formats = ["mkv:copy:x", "mpegts:copy:x", "mp4:copy:x"].map((format) => ({ format }));
  const { outputs } = await processSource(path, formats);
  // ffmpeg itself loses the last of packed frames.
  const own = await decode(path.replace("/packed.avi", "/unpacked.avi"), "null", "yuv420p");
  for (const [at, output] of outputs.entries()) {
    const file = filesOf(output)[0] ?? "";
    expect(Buffer.compare(await decode(file, "null", "yuv420p"), own), `output ${at}`).toBe(0);
    const times = (await shownFrames(file)).map(({ seconds }) => seconds);
    // An elementary stream begins with a gap.
    const steps = times.slice(2).map((time, frame) => time - (times[frame + 1] ?? 0));
    expect(steps.every((step) => Math.abs(step - 0.04) < 0.002)).toBe(true);
  }
});

it.each([
  ["H.264 in MP4", "h264.mp4", "-c:v libx264 -pix_fmt yuv420p -bsf:v h264_metadata=matrix_coefficients=3"],
  ["HEVC in Matroska", "hevc.mkv", "-c:v libx265 -pix_fmt yuv420p -bsf:v hevc_metadata=matrix_coefficients=3"],
  ["MPEG-2 in MPEG-TS", "mpeg2.ts", "-c:v mpeg2video -bsf:v mpeg2_metadata=matrix_coefficients=3"],
  ["VP9", "vp9.mkv", "-c:v libvpx-vp9 -cpu-used 8 -deadline realtime -colorspace 3"],
  ["MPEG-4, whose container states it", "mpeg4.mp4", "-c:v mpeg4 -colorspace 3 -color_primaries 1 -color_trc 1"],
])("encodes %s with a reserved color matrix", async (_, name, options) => {
  const path = await reservedMatrix(name, options)(openWorkshop(folder));
  const { outputs, probe } = await processSource(path, [{ format: "mp4" }, { format: "jpg", number: 2 }]);
  expect(probe.streams.find(({ codec_type }) => codec_type === "video")?.color_space).toBe("reserved");
  const sizes = await shownSizes(filesOf(outputs[0])[0] ?? "");
  expect([sizes.length, new Set(sizes)]).toEqual([25, new Set(["64x48"])]);
  expect((await Promise.all(filesOf(outputs[1]).map(shownSizes))).flat()).toEqual(["64x48", "64x48"]);
});
