// Image outputs of a real ffmpeg: each image shows the right frame, for all kinds of sources and selections.
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import type { ImageOutput } from "#shared/job/output-spec.ts";
import { chooseTracks } from "#shared/plan/source/source-tracks.ts";
import { chooseTimestamps, timestampsOf } from "#shared/plan/thumbnails/thumbnail-timestamps.ts";
import { type OutputOptions, specOf } from "#shared/testing/output-specs.ts";
import { fileFolder } from "../../../test/fixtures.ts";
import { few, SLOW } from "../../testing/few.ts";
import { decode, encodeClip, probe, REFERENCE_FFMPEG } from "../../testing/plan-runs.ts";
import { clipsOfFile } from "../../testing/workshop-of-file.ts";

const run = promisify(execFile);

/** The gray of a frame identifies its number n < 220: luma 16 + (37 n mod 220). 110 s with a keyframe every 5 s. */
const GRAYS = "nullsrc=s=64x36:r=2:d=110,format=yuv420p,geq=lum=16+mod(37*N\\,220):cb=128:cr=128";
const X264 = "-c:v libx264 -preset ultrafast -g 10 -bf 2 -qp 0";
const UNEVEN = "settb=1/1000,setpts=floor(N*500+400*mod(N*0.618\\,1))";
const CLIPS: Readonly<Record<string, string>> = {
  "even.mp4": `-f lavfi -i ${GRAYS} ${X264}`,
  "even.mkv": "-i even.mp4 -c copy",
  "even.ts": "-i even.mp4 -c copy",
  "uneven.mp4": `-f lavfi -i ${GRAYS},${UNEVEN} -fps_mode passthrough -enc_time_base 1/1000 ${X264}`,
  "uneven.mkv": "-i uneven.mp4 -c copy",
  // An edit list hides the frames between the keyframe and the trim point.
  "edited.mp4": "-ss 7.3 -i even.mp4 -c copy",
  "rotated.mp4": "-display_rotation 90 -i even.mp4 -c copy",
  "late.mp4": "-f lavfi -i sine=d=110:r=8000 -itsoffset 1.7 -i even.mp4 -c:v copy -c:a aac -ac 1",
  "short.mp4": `-f lavfi -i ${GRAYS.replace("r=2:d=110", "r=30:d=2")} ${X264}`,
  "one-frame.mp4": `-f lavfi -i ${GRAYS},trim=end_frame=1 ${X264}`,
  // Soft edges, because most formats halve the color resolution.
  "colors.mp4": "-f lavfi -i testsrc2=s=640x360:r=10:d=3,gblur=3 -c:v libx264 -preset ultrafast",
};

const folder = fileFolder();
clipsOfFile(folder, CLIPS);

type Made = {
  /** The files of each output, in the order of the request. */
  readonly files: readonly (readonly string[])[];
  /** Number of times that the source was opened. */
  readonly inputs: number;
  readonly texts: readonly string[];
};

/** Plans and runs. Fails on any output on stderr. */
async function make(clip: string, ...requests: OutputOptions[]): Promise<Made> {
  const source = path.join(folder, clip);
  const { commands, failures, files } = await encodeClip(source, requests);
  expect(failures).toEqual([]);
  const arguments_ = commands.flatMap(({ runs }) => runs.flatMap(({ argv }) => argv));
  return {
    files: [...files.values()],
    inputs: arguments_.filter((part) => part === `file:${source}`).length,
    texts: commands.flatMap(({ outputs }) => outputs).flatMap(({ texts = [] }) => texts.map(({ text }) => text)),
  };
}

/** The grays of the frames in a file. `crop` is ffmpeg's filter argument for a part of each frame. */
async function graysIn(file: string, crop = ""): Promise<number[]> {
  const pixels = await decode(file, `${crop && `crop=${crop},`}scale=1:1:flags=area`, "rgb24");
  return [...pixels].filter((_, at) => at % 3 === 0).map((gray) => Math.round((gray * 219) / 255));
}

/** Every frame that a player shows, with its time in ms from the start of the file. */
async function framesOf(clip: string): Promise<{ ms: number; gray: number }[]> {
  const options = ["-v", "error", "-i", path.join(folder, clip), "-map", "0:v", "-fps_mode", "passthrough"];
  const { stdout } = await run(REFERENCE_FFMPEG, [...options, "-enc_time_base", "1/90000", "-f", "framecrc", "-"]);
  const [, num, den] = /#tb 0: (\d+)\/(\d+)/.exec(stdout) ?? [];
  const ticks = [...stdout.matchAll(/^0,\s*-?\d+,\s*(-?\d+)/gm)].map(([, pts]) => Number(pts));
  const grays = await graysIn(path.join(folder, clip));
  return ticks.map((pts, at) => ({ ms: (pts * 1000 * Number(num)) / Number(den), gray: grays[at] ?? -1 }));
}

/** The expected grays of an output's images, in order of time. */
async function expected(clip: string, request: OutputOptions): Promise<number[]> {
  const { selection, sprite } = specOf(request, 0) as ImageOutput;
  const { video } = chooseTracks(await probe(path.join(folder, clip)));
  const chosen = video && chooseTimestamps(selection, video, sprite !== null);
  const frames = await framesOf(clip);
  return timestampsOf(chosen?.ok ? chosen.value : []).map(
    (timestamp) => (frames.findLast(({ ms }) => ms <= timestamp + 0.437) ?? frames[0])?.gray ?? -1,
  );
}

const hashOf = async (file: string): Promise<string> =>
  createHash("sha256")
    .update(await readFile(file))
    .digest("hex");
const OFFSETS = [50.5, 3.2, 88.001, 3.2, 0, 99];

describe("single images", () => {
  few(2).each([
    ["even.mp4", 7],
    ["even.mkv", 7],
    ["uneven.mp4", 7],
    ["uneven.mkv", 7],
    ["edited.mp4", 7],
    ["rotated.mp4", 7],
    ["late.mp4", 7],
    // A source without an index is not seekable.
    ["even.ts", 0],
  ])("of %s show the exact frame, and are the same with seeking as with a full decode", async (clip, seeks) => {
    const requests: OutputOptions[] = [
      { format: "png", number: 7 },
      { format: "png", params: { offsets: OFFSETS } },
    ];
    const alone = await make(clip, ...requests);
    const shared = await make(clip, ...requests, { format: "mp4:x36:x" });
    expect([alone.inputs, shared.inputs]).toEqual([seeks === 0 ? 1 : seeks + OFFSETS.length, 1]);
    for (const [at, request] of requests.entries()) {
      const [sought = [], decoded = []] = [alone.files[at], shared.files[at]];
      const grays = (await Promise.all(sought.map((file) => graysIn(file)))).flat();
      const inTime = await expected(clip, request);
      const order = OFFSETS.toSorted((a, b) => a - b);
      expect(grays).toEqual(at === 0 ? inTime : OFFSETS.map((offset) => inTime[order.indexOf(offset)]));
      expect(await Promise.all(sought.map(hashOf))).toEqual(await Promise.all(decoded.map(hashOf)));
    }
  });

  test("makes images by interval from the frames at multiples of the interval", SLOW, async () => {
    for (const [clip, interval] of [
      ["even.mp4", 25],
      ["uneven.mkv", 0],
      ["late.mp4", 7.7],
    ] as const) {
      const request = { format: "png", params: { interval } };
      const { files } = await make(clip, request);
      const grays = await Promise.all((files[0] ?? []).map((file) => graysIn(file)));
      expect([clip, grays.flat()]).toEqual([clip, await expected(clip, request)]);
    }
  });

  test("makes the requested number of images, also from a source with a single frame", async () => {
    const { files } = await make(
      "one-frame.mp4",
      { format: "jpg", number: 4 },
      { format: "jpg", params: { interval: 1 } },
    );
    expect(files.map((each) => each.length)).toEqual([4, 1]);
  });
});

describe("sprite sheets", () => {
  few(2).each<[string, number, object]>([
    ["even.mp4", 6, { limit: 4, columns: 3 }],
    ["even.mkv", 20, { limit: 11, columns: 5 }],
    ["even.ts", 9, {}],
  ])("of %s show each of %i thumbnails in the rectangle that its cue names", async (clip, number, sprite) => {
    const request = { format: "png:32x18", number, params: { path: "s/%02d.png", sprite, vtt: true } };
    const { files, texts } = await make(clip, request);
    const cues = [...(texts[0] ?? "").matchAll(/\n(\d\d)\.png#xywh=(\d+),(\d+),(\d+),(\d+)\n/g)];
    const grays: number[] = [];
    for (const [, sheet, x, y, width, height] of cues) {
      const file = files[0]?.[Number(sheet) - 1] ?? "";
      grays.push(...(await graysIn(file, `${width}:${height}:${x}:${y}`)));
    }
    expect(grays).toEqual(await expected(clip, request));
  });
});

describe("animated images", () => {
  const gif = (number: number, duration: number): OutputOptions => ({
    format: "gif:64x36",
    params: { scene: { number, duration } },
  });

  few(2).each<[string, OutputOptions, number]>([
    ["short.mp4", gif(1, 1), 10],
    ["short.mp4", gif(4, 0.3), 12],
    ["short.mp4", gif(1, 5), 20],
    ["even.mp4", gif(3, 2), 60],
    ["one-frame.mp4", gif(1, 5), 5],
  ])("of %s, %j, have the right frames", async (clip, request, count) => {
    const { files } = await make(clip, request);
    const file = files[0]?.[0] ?? "";
    const grays = await graysIn(file);
    const right = await expected(clip, request);
    expect(right).toHaveLength(count);
    // Dithering shifts grays slightly; consecutive frames are 37 apart.
    expect(grays.map((gray, at) => Math.abs(gray - (right[at] ?? -99)) < 5)).toEqual(Array(count).fill(true));
    expect(Number((await probe(file)).format.duration)).toBeCloseTo(count / 10, 3);
  });

  test("repeats an animated webp forever, and shows each frame for a tenth of a second", async () => {
    const request: OutputOptions = { format: "webp_anim:64x36", params: { scene: { number: 2, duration: 1 } } };
    const { files } = await make("colors.mp4", request);
    const frames = chunksOf(await readFile(files[0]?.[0] ?? ""));
    const [loops] = frames.filter(({ name }) => name === "ANIM").map(({ data }) => data.readUInt16LE(4));
    const times = frames.filter(({ name }) => name === "ANMF").map(({ data }) => data.readUIntLE(12, 3));
    expect([loops, times]).toEqual([0, Array(20).fill(100)]);
  });
});

/** The chunks of a WebP file (RFC 9649 §2.3). */
function chunksOf(file: Buffer): { name: string; data: Buffer }[] {
  const chunks: { name: string; data: Buffer }[] = [];
  for (let at = 12; at < file.length; ) {
    const size = file.readUInt32LE(at + 4);
    chunks.push({ name: file.toString("latin1", at, at + 4), data: file.subarray(at + 8, at + 8 + size) });
    at += 8 + size + (size % 2);
  }
  return chunks;
}

describe("every format", () => {
  few(2).each(["jpg", "png", "webp", "avif"])("%s shows the frame unchanged", async (format) => {
    const { files } = await make("colors.mp4", { format: `${format}:320x`, number: 2 });
    const pixels = await decode(files[0]?.[0] ?? "", "format=gbrp", "rgb24");
    const source = await decode(
      path.join(folder, "colors.mp4"),
      "select=eq(n\\,7),scale=320:180:flags=bicubic,format=gbrp",
      "rgb24",
    );
    const squares = pixels.reduce((sum, value, at) => sum + (value - (source[at] ?? 0)) ** 2, 0);
    // Peak signal-to-noise ratio in dB.
    expect(10 * Math.log10(255 ** 2 / Math.max(1e-9, squares / source.length))).toBeGreaterThan(36);
  });

  few(2).each([
    ["jpg", { number: 1 }],
    ["webp", { number: 1 }],
    ["avif", { number: 1 }],
    ["gif", { scene: { duration: 0.5 } }],
    ["webp_anim", { scene: { duration: 0.5 } }],
  ])("%s is smaller with each lower quality, and 5 is the default", async (format, params) => {
    const qualities = ["", ...[1, 2, 3, 4, 5].map((quality) => `::quality=${quality}`)];
    const requests = qualities.map((quality) => ({ format: `${format}:320x${quality}`, params }));
    const { files } = await make("colors.mp4", ...requests);
    const [usual, ...sizes] = await Promise.all(files.map(async ([file = ""]) => (await readFile(file)).length));
    expect(sizes).toEqual(sizes.toSorted((a, b) => a - b));
    expect([new Set(sizes).size, sizes.at(-1)]).toEqual([5, usual]);
  });

  test("a blur level looks the same at every size", async () => {
    const sharpness = async (format: string): Promise<number> => {
      const { files } = await make("colors.mp4", { format, params: { blur: 3 } });
      const edges = "scale=80:45:flags=area,format=gray,sobel,scale=1:1:flags=area";
      return (await decode(files[0]?.[0] ?? "", edges, "gray"))[0] ?? 0;
    };
    const [small, large] = [await sharpness("png:160x"), await sharpness("png:640x")];
    expect(Math.abs(small - large)).toBeLessThan(0.15 * large);
  });
});
