// Measures real encodes of sources whose frames are easily paired, turned or scaled wrongly.
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { expect, test } from "vitest";
import { ALL_SOFTWARE } from "#shared/plan/encoders/software-encoders.ts";
import { isEncodedVideo } from "#shared/plan/outputs/plan-file.ts";
import { summarizeQuality } from "#shared/plan/quality/summarize-quality.ts";
import type { Result } from "#shared/result.ts";
import { type OutputOptions, specOf } from "#shared/testing/output-specs.ts";
import { fileFolder } from "../../test/fixtures.ts";
import { probeSource } from "../source/probe/probe-source.ts";
import { everyNth } from "../testing/few.ts";
import { encodeClip, encodeOne, REFERENCE_FFMPEG, tested } from "../testing/plan-runs.ts";
import { silentLog } from "../testing/silent-log.ts";
import { clipsOfFile } from "../testing/workshop-of-file.ts";
import { NO_TRACE } from "../tracing/task-trace.ts";
import { taskSource } from "../workspace/task-source.ts";
import { type MeasuredVideo, type MeasureRequest, measureQualities } from "./measure.ts";
import { measureTracks } from "./measure-tracks.ts";

const X264 = "-c:v libx264 -preset ultrafast -qp 0";
const HDR = "-colorspace bt2020nc -color_primaries bt2020 -color_trc smpte2084 -color_range tv";
/** Moves fast, so that a frame differs much from its neighbors. */
const MOVING = (size: string, rate: string, seconds: number): string =>
  `-f lavfi -i testsrc2=s=${size}:r=${rate}:d=${seconds},scroll=h=0.01:v=0.013`;

const CLIPS: Readonly<Record<string, string>> = {
  "ntsc.mp4": `${MOVING("320x180", "30000/1001", 3)} ${X264} -bf 2 -g 40`,
  "ntsc.mkv": "-i ntsc.mp4 -c copy",
  "ntsc.ts": "-i ntsc.mp4 -c copy",
  // An edit list that starts between keyframes.
  "edited.mp4": "-ss 0.7 -i ntsc.mp4 -c copy",
  "vfr.mkv": `${MOVING("320x180", "25", 3)} -vf select='gt(mod(n\\,7)\\,2)' -fps_mode passthrough ${X264}`,
  "rotated.mp4": "-display_rotation -90 -i ntsc.mp4 -c copy",
  "odd.mkv": `${MOVING("321x179", "25", 2)} -pix_fmt yuv444p ${X264}`,
  "hdr.mkv": `${MOVING("320x180", "25", 2)} -pix_fmt yuv420p10le ${HDR} ${X264}`,
  "fields.mp4":
    `${MOVING("320x180", "50", 3)} -vf interlace=lowpass=0,setparams=field_mode=tff -flags +ilme+ildct ` +
    `-x264-params tff=1 ${X264}`,
};

const folder = fileFolder();
clipsOfFile(folder, CLIPS);

const deps = {
  ffmpeg: { ...tested.ffmpeg, path: REFERENCE_FFMPEG },
  capabilities: { ...ALL_SOFTWARE, hardware: null, ffmpegVersion: "n7", cpus: 2 },
  log: silentLog,
  signal: new AbortController().signal,
};

/** Encodes a source as requested, unless the file already exists. */
async function madeOf(source: string, request: OutputOptions, file?: string): Promise<MeasureRequest> {
  const clip = path.join(folder, source);
  const encoded = file ?? (await encodeOne(clip, request));
  const output = specOf(request, 0);
  if (output.type !== "video" || !output.video || !isEncodedVideo(output.video)) throw new Error("not a video");
  const probe = await probeSource(tested.ffprobe, clip);
  return { source: clip, probe, output, video: output.video, made: encoded, perSecond: 4 };
}

async function measureAll(requests: readonly MeasureRequest[]): Promise<Result<MeasuredVideo>[]> {
  const results = await measureQualities(requests, { ...deps, folder });
  if (!results.ok) throw new Error(results.error.message);
  return results.value;
}

async function measured(...request: Parameters<typeof madeOf>): Promise<MeasuredVideo> {
  const [result] = await measureAll([await madeOf(...request)]);
  if (!result?.ok) throw new Error(result?.error.message);
  return result.value;
}

async function all<Value>(values: AsyncIterable<Value>): Promise<Value[]> {
  const list: Value[] = [];
  for await (const value of values) list.push(value);
  return list;
}

type Case = [name: string, source: string, format: string, params?: Readonly<Record<string, unknown>>];

const CASES: readonly Case[] = [
  ["29.97 frames per second", "ntsc.mp4", "mp4::x:quality=5"],
  ["29.97 in milliseconds", "ntsc.mkv", "mkv::x:quality=5"],
  ["MPEG-TS to MPEG-TS", "ntsc.ts", "mpegts::x:quality=5"],
  ["an edit list, trimmed", "edited.mp4", "mp4::x:quality=5", { offset: 0.9, duration: 1 }],
  ["an edit list, at another rate", "edited.mp4", "mp4:24fps:x:quality=5"],
  ["variable times", "vfr.mkv", "webm:vp9:x:quality=5"],
  ["variable times, at a constant rate", "vfr.mkv", "mp4:30fps:x:quality=5"],
  ["rotated by the file and as requested", "rotated.mp4", "mp4::x:quality=5", { transpose: 1, vflip: true }],
  ["odd sides", "odd.mkv", "mp4::x:quality=5"],
  ["padded", "ntsc.mp4", "mp4:400x400:x:quality=5"],
  ["cropped", "ntsc.mp4", "mp4:200x200:x:quality=5", { fit: "crop" }],
  ["tone-mapped", "hdr.mkv", "mp4::x:quality=5"],
  ["ten bits", "hdr.mkv", "mp4:hevc:x:quality=5,pix_fmt=yuv420p10le"],
  ["full range", "ntsc.mp4", "mov:mjpeg:x:quality=5"],
  ["deinterlaced", "fields.mp4", "mp4::x:quality=5", { deinterlace: true }],
];

test.each(everyNth(3, CASES))("pairs frames exactly: %s", async (_name, source, format, params = {}) => {
  const { samples } = await measured(source, { format, params });
  expect(summarizeQuality(samples).ssim.mean).toBeGreaterThan(0.98);
});

test("a video that is late by a single frame has a lower quality", async () => {
  const late = await encodeOne(path.join(folder, "ntsc.mp4"), { format: "mp4::x:quality=5", params: { offset: 0.03 } });
  const { samples } = await measured("ntsc.mp4", { format: "mp4::x:quality=5" }, late);
  expect(summarizeQuality(samples).ssim.mean).toBeLessThan(0.9);
});

test("measures several videos at once with the same figures as each video alone", async () => {
  const formats = ["mp4::x:quality=5", "mp4:160x_15fps:x:quality=2", "webm:vp9_64x:x:quality=3"];
  const requests: MeasureRequest[] = [];
  for (const format of formats) requests.push(await madeOf("ntsc.mp4", { format }));
  const separate = [];
  for (const request of requests) separate.push(...(await measureAll([request])));
  expect(await measureAll(requests)).toEqual(separate);
});

test("a broken video does not hide the others", async () => {
  const { probe, source, made: encoded } = await madeOf("ntsc.mp4", { format: "mp4:160x90:x:quality=3" });
  const broken = path.join(folder, "broken.mp4");
  await writeFile(broken, "no video");
  const spec = specOf(
    {
      format: "httpstream",
      measuresQuality: true,
      params: { hls: { path: "h" }, variants: ["mp4:160x90::quality=3", "mp4:64x36::quality=3"] },
    },
    0,
  );
  const videos = [
    { track: "90p", path: encoded },
    { track: "36p", path: broken },
  ];
  const work = { ...taskSource({ source, probe, folder }), outputs: [{ spec, videos }] };
  const [measured, ...others] = await all(measureTracks(work, { ...deps, trace: NO_TRACE }));
  expect(measured).toMatchObject({
    output: 0,
    tracks: [
      { track: "90p", measured: { size: { width: 160, height: 90 } } },
      { track: "36p", failure: expect.any(String) },
    ],
  });
  expect(others).toEqual([]);
});

test("measures files that start at the same position in a single run, and reports the first files first", async () => {
  const requests = [
    { format: "mp4:160x90:x:quality=3", params: { duration: 1 } },
    { format: "mp4:160x90:x:quality=4", params: { offset: 1 } },
    { format: "webm:vp9_64x36:x:quality=3" },
    { format: "mp4:64x36_15fps:x:quality=3", params: { offset: 2, duration: 0.5 } },
  ];
  const clip = path.join(folder, "ntsc.mp4");
  const { files } = await encodeClip(clip, requests);
  const specs = requests.map((request, index) => specOf({ ...request, measuresQuality: true }, index));
  const outputs = specs.map((spec, index) => ({
    spec,
    videos: [{ track: "video", path: files.get(index)?.[0] ?? "" }],
  }));
  const spans: unknown[] = [];
  const begin = (_: string, attributes: unknown) => {
    spans.push(attributes);
    return () => undefined;
  };
  const trace = { ...NO_TRACE, begin };
  const source = taskSource({ source: clip, probe: await probeSource(tested.ffprobe, clip), folder });
  const measuring = measureTracks({ ...source, outputs }, { ...deps, trace });
  const together = await all(measuring);
  expect(together.map(({ output }) => output)).toEqual([0, 1, 2, 3]);
  expect(spans.length).toBe(4);
  for (const { output, tracks } of together) {
    const work = { ...source, outputs: outputs.filter(({ spec }) => spec.index === output) };
    const alone = measureTracks(work, { ...deps, trace: NO_TRACE });
    expect(await all(alone)).toEqual([{ output, tracks }]);
    expect(tracks).toMatchObject([{ track: "video", measured: { every: expect.any(Number) } }]);
  }
});
