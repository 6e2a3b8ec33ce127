import { execFile } from "node:child_process";
import { readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { type FrameIndex, ticksToUs } from "#shared/media/frame-index.ts";
import { fileFolder } from "../../../test/fixtures.ts";
import { toolEnvironment } from "../../ffmpeg/sandbox/tool-environment.ts";
import { probe, REFERENCE_FFMPEG, tested } from "../../testing/plan-runs.ts";
import { clipsOfFile } from "../../testing/workshop-of-file.ts";
import { readFrameIndex } from "./frame-index.ts";
import type { FrameIndexReading } from "./packet-checks.ts";

const { ffprobe } = tested;
const never = new AbortController().signal;
const folder = fileFolder();
const video = (rate: string, seconds = 4): string => `-f lavfi -i testsrc2=s=96x64:r=${rate}:d=${seconds}`;
const tone = "-f lavfi -i sine=d=4";
const h264 = "-c:v libx264 -preset ultrafast -pix_fmt yuv420p -g 30 -bf 3 -b_strategy 0";
const x265 = "-c:v libx265 -preset ultrafast -x265-params log-level=none:keyint=25";
const uneven = "-vf select='not(between(mod(t\\,1)\\,0.25\\,0.5))' -fps_mode vfr";
const late = `${tone} -itsoffset 0.7 ${video("25", 2)} -map 0 -map 1 -fps_mode passthrough ${h264} -c:a aac`;
const hidden = `${video("25")} -c:v libvpx -auto-alt-ref 1 -lag-in-frames 25 -b:v 60k`;

/** ffmpeg's arguments for each clip. A clip precedes the clips that are made from it. */
const CLIPS = {
  "25.mp4": `${tone} ${video("25")} ${h264} -c:a aac`,
  "ntsc.mp4": `${video("30000/1001")} ${h264}`,
  "ntsc.mkv": `${tone} ${video("30000/1001")} ${h264} -c:a aac`,
  "clip.mkv": `${video("24000/1001")} ${x265}`,
  "uneven.mkv": `${video("30")} ${uneven} ${h264}`,
  "uneven.mp4": `${video("30")} ${uneven} ${h264}`,
  "broadcast.ts": `${tone} ${video("50")} ${h264} -c:a aac`,
  "late.ts": late,
  "late.mp4": late,
  "late.mkv": late,
  "open.ts": `${video("25")} ${h264} -x264-params open-gop=1`,
  "open.mp4": `${video("25")} ${x265}:open-gop=1`,
  "edited.mp4": "-ss 1.3 -i 25.mp4 -c copy",
  "pieces.mp4": `${video("25")} ${h264} -movflags +frag_keyframe+empty_moov+default_base_moof`,
  "no-cues.mkv": `${video("25")} ${h264} -f matroska -live 1`,
  "interlaced.ts": `${video("50")} -vf tinterlace=interleave_top ${h264} -flags +ilme+ildct`,
  "mpeg2.ts": `${video("25")} -c:v mpeg2video -bf 2 -flags +ilme+ildct`,
  "superframes.webm": `${video("25")} -c:v libvpx-vp9 -cpu-used 8 -auto-alt-ref 1 -lag-in-frames 25 -b:v 100k`,
  "svt.mp4": `${video("25")} -c:v libsvtav1 -preset 12`,
  "intra.avi": `${video("25")} -c:v mjpeg -pix_fmt yuvj420p`,
  "intra.mov": `${video("25")} -c:v prores`,
  "clip.flv": `${tone} ${video("25")} ${h264} -c:a aac`,
  "mpeg4.avi": `${video("25")} -c:v mpeg4 -bf 2`,
  "h264.avi": `${video("25")} ${h264}`,
  "mpeg2.mpg": `${video("25")} -c:v mpeg2video -bf 2`,
  "first-pass.webm": `${hidden} -pass 1`,
  "hidden.webm": `${hidden} -pass 2`,
  "one.mp4": `${video("25", 0.04)} ${h264}`,
  "audio.m4a": `${tone} -c:a aac`,
  "again.ts": `${video("25", 2)} ${h264}`,
  "25-first.mp4": "-i 25.mp4 -c copy -movflags +faststart",
} as const;
type Clip = keyof typeof CLIPS;

clipsOfFile(folder, CLIPS);

const read = (name: string, streamIndex: number): Promise<FrameIndexReading> =>
  readFrameIndex(ffprobe, { path: join(folder, name) }, streamIndex, never);

async function videoIndex(name: string): Promise<number> {
  const { streams } = await probe(join(folder, name));
  return streams.find(({ codec_type }) => codec_type === "video")?.index ?? 0;
}

/** The timestamps of frames at ffmpeg's filters, in ticks of the index, in a run with the video track alone. */
async function decodedTicks(name: string, { startUs }: FrameIndex): Promise<number[]> {
  const line = ["-copyts", "-itsoffset", `${-startUs / 1e6}`];
  const argv = ["-v", "error", ...line, "-i", join(folder, name), "-map", "0:v:0"];
  const out = ["-fps_mode", "passthrough", "-enc_time_base", "demux", "-f", "framecrc", "-"];
  const { stdout } = await promisify(execFile)(REFERENCE_FFMPEG, [...argv, ...out], { env: toolEnvironment() });
  return stdout.split("\n").flatMap((line) => (line.startsWith("0,") ? [Number(line.split(",")[2])] : []));
}

describe("lists every frame of the decoder at its exact tick", () => {
  it.each<[Clip, number]>([
    ["25.mp4", 100],
    ["ntsc.mp4", 120],
    ["ntsc.mkv", 120],
    ["clip.mkv", 96],
    ["uneven.mkv", 88],
    ["uneven.mp4", 88],
    ["broadcast.ts", 200],
    ["late.ts", 50],
    ["late.mp4", 50],
    ["late.mkv", 50],
    ["open.ts", 100],
    ["open.mp4", 100],
    ["edited.mp4", 67],
    ["pieces.mp4", 100],
    ["no-cues.mkv", 100],
    ["interlaced.ts", 100],
    ["mpeg2.ts", 100],
    ["superframes.webm", 100],
    ["svt.mp4", 100],
    ["intra.avi", 100],
    ["intra.mov", 100],
    ["clip.flv", 100],
  ])("%s", async (name, frames) => {
    const reading = await read(name, await videoIndex(name));
    if (!reading.ok) throw new Error(reading.error);
    const decoded = await decodedTicks(name, reading.value);
    expect([...reading.value.ticks]).toEqual(decoded);
    expect(decoded.length).toBe(frames);
  });

  it("lists the end, the keyframes and the bytes of a track", async () => {
    const reading = await read("ntsc.mp4", 0);
    if (!reading.ok) throw new Error(reading.error);
    const index = reading.value;
    expect([...index.keyframes]).toEqual([0, 30, 60, 90]);
    expect(ticksToUs(index, index.endTicks)).toBeCloseTo(4_004_000, 0);
    const { size } = await stat(join(folder, "ntsc.mp4"));
    const bytes = index.bytes.reduce((sum, frame) => sum + frame, 0);
    expect(bytes / size).toBeGreaterThan(0.9);
    expect(bytes / size).toBeLessThan(1);
  });

  it("counts the ticks of a transport stream from the start of its audio", async () => {
    const reading = await read("late.ts", 1);
    if (!reading.ok) throw new Error(reading.error);
    expect(ticksToUs(reading.value, reading.value.ticks[0] ?? 0) / 1000).toBeCloseTo(743, 0);
    expect(reading.value.startUs).toBe(1_400_000);
  });
});

describe("gives a reason in place of an uncertain index", () => {
  const bytesOf = (name: Clip): Promise<Buffer> => readFile(join(folder, name));
  const truncated = async (name: Clip): Promise<Buffer> => {
    const bytes = await bytesOf(name);
    return bytes.subarray(0, Math.floor(bytes.length * 0.7));
  };

  it.each<[Clip, number, string]>([
    ["mpeg4.avi", 0, "its frames have no presentation timestamps"],
    ["h264.avi", 0, "its frames have no presentation timestamps"],
    ["mpeg2.mpg", 0, "its frames have no presentation timestamps"],
    ["hidden.webm", 0, "its packets are not single frames"],
    ["one.mp4", 0, "it has fewer than two frames"],
    ["audio.m4a", 0, "it has no video track"],
    ["25.mp4", 9, "it has no video track"],
  ])("%s, track %i", async (name, streamIndex, why) => {
    expect(await read(name, streamIndex)).toEqual({ ok: false, error: why });
  });

  it.each<[string, () => Promise<Buffer>, string | RegExp]>([
    // ffprobe may report an error at the second start. If it reports none, the timestamps jump.
    ["truncated.mp4", () => truncated("25-first.mp4"), "it is damaged or truncated"],
    ["truncated.mkv", () => truncated("clip.mkv"), "it is damaged or truncated"],
    ["begun-late.ts", async () => (await bytesOf("open.ts")).subarray(188 * 100), "it is damaged or truncated"],
    [
      "repeated.ts",
      async () => Buffer.concat([await bytesOf("again.ts"), await bytesOf("again.ts")]),
      /^it is damaged$|^its timestamps jump$/,
    ],
  ])("%s", async (name, make, why) => {
    await writeFile(join(folder, name), await make());
    const reading = { ok: false, error: typeof why === "string" ? why : expect.stringMatching(why) };
    expect(await read(name, await videoIndex(name))).toEqual(reading);
  });

  it("indexes a transport stream that ends anywhere", async () => {
    await writeFile(join(folder, "ends.ts"), await truncated("broadcast.ts"));
    const reading = await read("ends.ts", await videoIndex("ends.ts"));
    if (!reading.ok) throw new Error(reading.error);
    expect([...reading.value.ticks]).toEqual(await decodedTicks("ends.ts", reading.value));
  });
});

it("rejects with the reason of an abort, and blames the node when ffprobe cannot run", async () => {
  const reason = new Error("superseded");
  const path = join(folder, "25.mp4");
  await expect(readFrameIndex(ffprobe, { path }, 0, AbortSignal.abort(reason))).rejects.toBe(reason);
  const controller = new AbortController();
  const reading = readFrameIndex(ffprobe, { path }, 0, controller.signal);
  controller.abort(reason);
  await expect(reading).rejects.toBe(reason);
  const gone = { ...ffprobe, path: join(folder, "ffprobe") };
  await expect(readFrameIndex(gone, { path }, 0, never)).rejects.toMatchObject({ code: "node_failed" });
});
