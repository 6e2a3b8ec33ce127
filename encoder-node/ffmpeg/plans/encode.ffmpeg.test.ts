// Runs planned commands with the ffmpeg that a node would use, on generated clips.

import { execFile } from "node:child_process";
import { mkdtemp, readdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import { beforeAll, describe, expect, test } from "vitest";
import { type ProbedStream, rotationOf } from "#shared/media/media-probe.ts";
import type { PlannedRun } from "#shared/plan/command/planned-run.ts";
import type { PlannedCommand } from "#shared/plan/outputs/output-plan.ts";
import { longestEnd } from "#shared/plan/source/output-length.ts";
import { DECODED_TIMES } from "#shared/plan/thumbnails/decoded-times.ts";
import type { OutputOptions } from "#shared/testing/output-specs.ts";
import { planOf } from "#shared/testing/probes.ts";
import { fileFolder } from "../../../test/fixtures.ts";
import { few, SLOW } from "../../testing/few.ts";
import { FFMPEG, probe, REFERENCE_FFMPEG } from "../../testing/plan-runs.ts";
import { clipsOfFile } from "../../testing/workshop-of-file.ts";
import { toolEnvironment } from "../sandbox/tool-environment.ts";

const run = promisify(execFile);
const env = toolEnvironment();

/** Small clips that are quick to make. The gray of `ramp` identifies the frame: luma of frame n is 16 + n. */
const AUDIO = "-f lavfi -i sine=d=4:r=44100";
const X264 = "-c:v libx264 -preset ultrafast -g 30";
const RAMP = "nullsrc=s=64x36:r=30:d=4,format=yuv420p,geq=lum=16+N:cb=128:cr=128";
const CLIPS: Readonly<Record<string, string>> = {
  "clip.mp4": `-f lavfi -i testsrc2=s=480x360:r=30000/1001:d=4 ${AUDIO} ${X264} -c:a aac`,
  "clip.mkv": "-i clip.mp4 -c copy",
  "late.ts": "-i clip.mp4 -itsoffset 0.7 -i clip.mp4 -map 1:v -map 0:a -c copy",
  "short.mkv": `-f lavfi -i ${RAMP} -f lavfi -i sine=d=5 ${X264} -qp 0 -c:a aac`,
  "still.mp4": `-f lavfi -i ${RAMP},trim=end_frame=3 ${X264} -qp 0`,
  "white.mp4": `-f lavfi -i color=white:s=64x64:r=10:d=1 ${X264}`,
  "red.mp4": `-f lavfi -i color=red:s=64x64:r=10:d=1,scale=out_color_matrix=bt709,format=yuv420p -colorspace bt709 ${X264}`,
  "halves.mp4": `-f lavfi -i color=red:s=160x180:r=30:d=1 -f lavfi -i color=blue:s=160x180:r=30:d=1 -filter_complex hstack ${X264}`,
  "rotated.mp4": "-display_rotation 90 -i halves.mp4 -c copy",
  "wide-pixels.mp4": `-f lavfi -i testsrc2=s=720x576:r=25:d=1,setsar=64/45 ${X264}`,
  "silent.mp4": `-f lavfi -i testsrc2=s=320x180:r=25:d=4 ${X264}`,
  "audio.m4a": `${AUDIO} -c:a aac`,
  "jitter.mp4": `-f lavfi -i testsrc2=s=320x180:r=30:d=3,settb=1/1000,setpts='floor(N*1000/30+31*random(1))' -fps_mode passthrough -enc_time_base 1/1000 ${X264} -bf 0`,
  // As a browser records it: streamed WebM without duration or frame rate in its header.
  "jitter.webm":
    "-i jitter.mp4 -c:v libvpx -deadline realtime -cpu-used 8 -fps_mode passthrough -enc_time_base 1/1000 -live 1",
  "odd.mp4": `-f lavfi -i testsrc=s=641x361:r=25:d=1 ${X264} -pix_fmt yuv444p`,
  "small.ts": `-f lavfi -i testsrc2=s=320x180:r=25:d=2 ${X264}`,
  "later.ts": "-i small.ts -c copy -output_ts_offset 4",
  "large.ts": `-f lavfi -i testsrc2=s=640x480:r=25:d=2 ${X264} -output_ts_offset 2`,
  "choir.wav": `${AUDIO} -af pan=10c|${Array.from({ length: 10 }, (_, at) => `c${at}=c0`).join("|")}`,
  "cover.jpg": "-f lavfi -i testsrc2=s=600x600 -frames:v 1",
  "cover.mp4": "-i cover.jpg -i silent.mp4 -map 0 -map 1 -c copy -disposition:v:0 attached_pic",
  "song.mp3": `-i cover.jpg ${AUDIO} -map 1 -map 0 -c:v copy -disposition:v:0 attached_pic`,
};

const folder = fileFolder();
clipsOfFile(folder, CLIPS);
beforeAll(async () => {
  const small = await readFile(path.join(folder, "small.ts"));
  const large = await readFile(path.join(folder, "large.ts"));
  await writeFile(path.join(folder, "grows.ts"), Buffer.concat([small, large]));
  const later = await readFile(path.join(folder, "later.ts"));
  await writeFile(path.join(folder, "shrinks.ts"), Buffer.concat([large, later]));
});

type Run = {
  command: PlannedRun & Pick<PlannedCommand, "outputs">;
  folder: string;
  frame: number;
  files: readonly string[];
};

/** Plans and runs. Fails on any output on stderr. `frame` is the last frame number that `-progress` reported. */
async function encode(clip: string, ...requests: OutputOptions[]): Promise<Run> {
  const source = path.join(folder, clip);
  const { commands, failures } = planOf(await probe(source), requests, { source });
  expect(failures).toEqual([]);
  const [planned] = commands;
  const [only] = planned?.runs ?? [];
  if (!planned || !only) throw new Error("nothing was planned");
  const command = { ...only, outputs: planned.outputs };
  const cwd = await mkdtemp(path.join(folder, "run-"));
  const { stdout, stderr } = await run(FFMPEG, command.argv, { cwd, env });
  expect(stderr).toBe("");
  const files = command.outputs.flatMap((output) => output.files);
  const left = (await readdir(cwd)).filter((name) => name !== DECODED_TIMES);
  expect(left.toSorted()).toEqual(files.toSorted());
  return { command, folder: cwd, frame: Number([...stdout.matchAll(/^frame=(\d+)/gm)].at(-1)?.[1]), files };
}

/** Probes an output after checking that it decodes without errors and is as long as planned. */
async function facts({ command, folder: cwd }: Run, output: number): Promise<Made> {
  const planned = command.outputs.find((each) => each.output === output);
  const file = path.join(cwd, planned?.files[0] ?? "");
  const decode = [..."-v error -xerror -i".split(" "), file, ..."-fps_mode vfr -f null -".split(" ")];
  const { stderr } = await run(REFERENCE_FFMPEG, decode);
  expect(stderr).toBe("");
  const { streams, format } = await probe(file);
  const durationMs = Number(format.duration ?? 0) * 1000;
  expect(Math.abs(durationMs - (longestEnd(planned?.tracks ?? []) ?? durationMs))).toBeLessThan(100);
  const video = streams.find((stream) => stream.codec_type === "video");
  return { streams: streams.map((stream) => stream.codec_name).join(), video, durationMs };
}
type Made = { streams: string; video: ProbedStream | undefined; durationMs: number };

const sizeOf = (video: ProbedStream | undefined): string => `${video?.width}x${video?.height}`;
const framesOf = (video: ProbedStream | undefined): number => Number(video?.nb_read_packets);
const sourceFrames = async (clip: string): Promise<number> =>
  framesOf((await probe(path.join(folder, clip))).streams.find((stream) => stream.codec_type === "video"));

/** RGB of a cell in a 3 by 3 raster of the first frame; column and row from 0. */
async function pixel({ folder: cwd }: Run, file: string, column: number, row: number): Promise<number[]> {
  const filter = "scale=3:3:flags=area,format=rgb24";
  const options = ["-v", "error", "-i", file, "-vf", filter, "-frames:v", "1", "-f", "rawvideo", "-"];
  const { stdout } = await run(REFERENCE_FFMPEG, options, { cwd, encoding: "buffer" });
  return [...stdout.subarray((row * 3 + column) * 3, (row * 3 + column) * 3 + 3)];
}

/** The frame of a `ramp` clip that an image shows. */
const rampFrame = async (done: Run, file: string): Promise<number> =>
  Math.round((((await pixel(done, file, 1, 1))[0] ?? 0) * 219) / 255);

describe("video", () => {
  few(1).each(["clip.mp4", "clip.mkv", "late.ts"])(
    "every frame of %s, in all sizes, and images, in one run",
    async (clip) => {
      const done = await encode(
        clip,
        { format: "jpg:120x", number: 5 },
        { format: "mp4:240p" },
        { format: "mp4:720p" },
      );
      const [small, large, frames] = [await facts(done, 1), await facts(done, 2), await sourceFrames(clip)];
      expect([small.streams, sizeOf(small.video), framesOf(small.video)]).toEqual(["h264,aac", "320x240", frames]);
      expect([large.streams, sizeOf(large.video), framesOf(large.video)]).toEqual(["h264,aac", "1280x720", frames]);
      expect([small.video?.r_frame_rate, large.video?.sample_aspect_ratio]).toEqual(["30000/1001", "1:1"]);
      expect(await pixel(done, "2.mp4", 0, 1)).not.toEqual([0, 0, 0]);
      expect(done.frame).toBe(frames);
      expect(Math.abs((done.command.expectedFrames ?? 0) - frames)).toBeLessThan(3);
      const images = await Promise.all(
        done.files.filter((file) => file.endsWith("jpg")).map((file) => probe(path.join(done.folder, file))),
      );
      expect(images.map(({ streams }) => sizeOf(streams[0]))).toEqual(Array(5).fill("120x90"));
    },
  );

  test("frames of a source with a variable frame rate keep their times", SLOW, async () => {
    const source = await sourceFrames("jitter.mp4");
    for (const clip of ["jitter.mp4", "jitter.webm"]) {
      const { video } = await facts(await encode(clip, { format: "mp4" }, { format: "jpg" }), 0);
      expect([clip, framesOf(video), video?.time_base]).toEqual([clip, source, "1/90000"]);
      // 320×180 at 30 frames per second: a higher level would mean that x264 assumed 1000 frames per second.
      expect(video?.level).toBeLessThanOrEqual(21);
    }
  });

  test("a rotated source becomes portrait, without rotation metadata", async () => {
    const done = await encode("rotated.mp4", { format: "mp4" }, { format: "jpg" });
    const { video } = await facts(done, 0);
    expect([sizeOf(video), video && rotationOf(video), video?.side_data_list]).toEqual(["180x320", 0, undefined]);
    for (const file of ["0.mp4", "1-00001.jpg"]) {
      const [top, bottom] = [await pixel(done, file, 1, 0), await pixel(done, file, 1, 2)];
      expect([(top[2] ?? 0) > 200, (bottom[0] ?? 0) > 200]).toEqual([true, true]);
    }
  });

  few(1).each([
    ["wide-pixels.mp4", "mp4", "1024x576"],
    ["odd.mp4", "mp4", "642x362"],
    ["cover.mp4", "mp4", "320x180"],
    ["clip.mp4", "mp4:101x", "102x76"],
  ])("%s as %s has square pixels and is %s", async (clip, format, size) => {
    const { video } = await facts(await encode(clip, { format }), 0);
    const frames = await sourceFrames(clip);
    expect([sizeOf(video), video?.sample_aspect_ratio, framesOf(video)]).toEqual([size, "1:1", frames]);
  });

  test("trims only the requested output, and follows the progress of the whole output", async () => {
    const done = await encode("clip.mp4", { format: "mp4:240p", durationMs: 2000 }, { format: "mp4:100x:x:quality=1" });
    const [trimmed, whole] = [await facts(done, 0), await facts(done, 1)];
    expect([framesOf(trimmed.video), Math.round(trimmed.durationMs / 50)]).toEqual([60, 40]);
    expect([framesOf(whole.video), whole.streams]).toEqual([120, "h264"]);
    expect([done.frame, done.command.expectedFrames]).toEqual([120, 120]);
  });

  test("encodes a single track: silent sources, audio outputs, songs with cover art", async () => {
    expect((await facts(await encode("silent.mp4", { format: "mp4:240p" }), 0)).streams).toBe("h264");
    for (const clip of ["audio.m4a", "song.mp3", "clip.mp4"]) {
      const audio = await facts(await encode(clip, { format: "mp4:x:64k_mono_22050hz" }), 0);
      expect([audio.streams, Math.round(audio.durationMs / 100)]).toEqual(["aac", 40]);
    }
  });

  test("video that changes its size midway loses no frame", SLOW, async () => {
    const done = await encode("grows.ts", { format: "mp4:240p" }, { format: "jpg", number: 6 });
    const { video } = await facts(done, 0);
    expect([framesOf(video), sizeOf(video)]).toEqual([100, "426x240"]);
    expect(done.files).toHaveLength(7);
    expect((await encode("shrinks.ts", { format: "jpg:90x", number: 6, square: true })).frame).toBeGreaterThan(80);
  });

  // 5.1 cannot mix channels without a layout.
  test.skipIf(FFMPEG !== REFERENCE_FFMPEG)("more channels than the encoder supports become two", async () => {
    expect((await facts(await encode("choir.wav", { format: "mp4:x" }), 0)).streams).toBe("aac");
  });

  test("a requested frame rate is kept", async () => {
    const { video } = await facts(await encode("jitter.mp4", { format: "mp4:15fps" }), 0);
    expect([video?.r_frame_rate, video?.avg_frame_rate]).toEqual(["15/1", "15/1"]);
    expect(Math.abs(framesOf(video) - 45)).toBeLessThanOrEqual(1);
  });
});

describe("images", () => {
  test("makes images at the middles of equal slots of the video, also when it ends before the audio", async () => {
    const done = await encode("short.mkv", { format: "jpg", number: 8 }, { format: "jpg" });
    const frames = await Promise.all(done.files.map((file) => rampFrame(done, file)));
    for (const [at, frame] of [7, 22, 37, 52, 67, 82, 97, 112, 60].entries()) {
      expect(Math.abs((frames[at] ?? -9) - frame)).toBeLessThanOrEqual(1);
    }
  });

  test("makes the requested number of images, also from a source with fewer frames", async () => {
    const done = await encode("still.mp4", { format: "jpg", number: 9 });
    const frames = await Promise.all(done.files.map((file) => rampFrame(done, file)));
    expect(frames).toEqual([0, 0, 0, 1, 1, 1, 2, 2, 2]);
  });

  few(1).each<[string, OutputOptions, string]>([
    ["odd.mp4", { format: "jpg" }, "641x361"],
    ["odd.mp4", { format: "jpg:301x200" }, "301x200"],
    ["clip.mp4", { format: "jpg:301x101" }, "301x101"],
    ["clip.mp4", { format: "jpg:99x", square: true }, "99x99"],
    ["rotated.mp4", { format: "jpg", square: true }, "180x180"],
    ["wide-pixels.mp4", { format: "jpg", square: true }, "576x576"],
  ])("%s as %j is %s", async (clip, request, size) => {
    const done = await encode(clip, request);
    const image = (await facts(done, 0)).video;
    expect([sizeOf(image), image?.pix_fmt]).toEqual([size, "yuvj420p"]);
  });

  test("reports the decoder's progress when there is no video output", async () => {
    const alone = await encode("clip.mp4", { format: "jpg", number: 2 });
    // The second image is at three quarters of 120 frames.
    expect([alone.frame, alone.command.expectedFrames]).toEqual([90, 90]);
    const trimmed = await encode("clip.mp4", { format: "mp4:100x", durationMs: 1000 }, { format: "jpg", number: 2 });
    expect([trimmed.frame, trimmed.command.expectedFrames]).toEqual([90, 90]);
  });

  test("keeps the colors of images: white is white, padding black, and red in the HD matrix still red", async () => {
    const done = await encode("white.mp4", { format: "jpg:90x30" });
    expect(await pixel(done, "0-00001.jpg", 1, 1)).toEqual([255, 255, 255]);
    expect(await pixel(done, "0-00001.jpg", 0, 1)).toEqual([0, 0, 0]);
    const [red] = await pixel(await encode("red.mp4", { format: "jpg" }), "0-00001.jpg", 1, 1);
    // 229 with the wrong matrix.
    expect(red).toBeGreaterThan(245);
  });
});
