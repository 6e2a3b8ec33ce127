import { expect, test } from "vitest";
import { type OutputOptions, specOf } from "../../testing/output-specs.ts";
import { BT709, probed, videoStream } from "../../testing/probes.ts";
import { ALL_SOFTWARE } from "../encoders/software-encoders.ts";
import { isEncodedVideo } from "../outputs/plan-file.ts";
import { type QualityRequest, sampledFrames } from "./compare-video.ts";
import { planQualities, planQuality } from "./plan-quality.ts";
import { type QualitySample, readSamples } from "./read-samples.ts";
import { summarizeQuality } from "./summarize-quality.ts";
import { preparedSize, viewingOf } from "./viewing.ts";

const size = (text: string): { width: number; height: number } => {
  const [width = 0, height = 0] = text.split("x").map(Number);
  return { width, height };
};

test.each([
  ["426x240", "1918x1080", "vmaf_v0.6.1"],
  ["1920x804", "1920x804", "vmaf_v0.6.1"],
  ["720x1280", "1080x1920", "vmaf_v0.6.1"],
  ["400x400", "1080x1080", "vmaf_v0.6.1"],
  ["2560x1440", "1920x1080", "vmaf_v0.6.1"],
  ["3840x2160", "3840x2160", "vmaf_4k_v0.6.1"],
  ["4096x16", "1920x8", "vmaf_v0.6.1"],
])("a video of %s is shown at %s with the model %s", (activeArea, viewed, model) => {
  expect(viewingOf(size(activeArea))).toEqual({ size: size(viewed), model });
});

test.each([
  ["1920x1080", "426x240", "1918x1080"],
  ["3840x2160", "426x240", "1918x1080"],
  ["640x360", "426x240", "640x360"],
])("a source of %s for a video of %s is prepared at %s", (source, encoded, prepared) => {
  expect(preparedSize(size(source), viewingOf(size(encoded)))).toEqual(size(prepared));
});

const timing = (fps: number, isVariable = false) => ({ filters: [], argv: [], fps, isVariable });

test.each([
  [timing(30), 3, 10, 2, 2],
  [timing(30), null, 1, 1, 1],
  [timing(30), 15, 2, 2, 1],
  [timing(4), 5, 1, 1, 1],
  [timing(30, true), 3, 10, 10, 1],
])("measures every nth frame of %j with %j a second: n is %i", (of, perSecond, every, subsample, filters) => {
  expect(sampledFrames(of, perSecond)).toMatchObject({ every, subsample, filters: { length: filters } });
});

/** The measurement of an output of two seconds of 1080p25. */
function requestOf(options: OutputOptions): QualityRequest {
  const output = specOf(options, 0);
  if (output.type !== "video" || !output.video || !isEncodedVideo(output.video)) throw new Error("No video");
  const probe = probed([videoStream(1920, 1080, "25/1", { ...BT709, duration: "2" })]);
  const of = { probe, source: "a.mp4", made: "/b.mp4", capabilities: ALL_SOFTWARE, watermarks: new Map() };
  return { ...of, output, video: output.video, perSecond: null, threads: 1 };
}

test.each([
  [{ fit: "blur" }, "540x960", "1080x1920", ""],
  [{ fit: "pad" }, "540x304", "1918x1080", "crop=540:304:0:328,"],
  [{ fit: "stretch" }, "540x960", "1080x1920", ""],
])("compares a video with %j in its area of %s at %s", (params, area, viewed, encoded) => {
  const planned = planQuality(requestOf({ format: "mp4:540x960:x", params }));
  if (!planned.ok) throw new Error(planned.error.message);
  expect(planned.value).toMatchObject({ activeArea: size(area), viewing: { size: size(viewed) } });
  const graph = planned.value.run.argv.join(" ");
  expect(graph.includes("split[source0copy][source0front]")).toBe(params.fit === "blur");
  expect(graph).toContain(`[1:v:0]setpts=PTS-STARTPTS,${encoded}scale=${viewed.replace("x", ":")}`);
});

test("draws the timecodes of all measured renditions in one graph", () => {
  const request = requestOf({ format: "mp4:360p", params: { overlays: [{ timecode: "01:00:00:00" }] } });
  const planned = planQualities([request, request]);
  if (!planned.ok) throw new Error(planned.error.message);
  expect(planned.value.run.argv.filter((argument) => argument.includes("drawtext="))).toHaveLength(1);
});

const times = (ms: readonly number[]): string =>
  ms.map((at, frame) => `frame:${frame}    pts:${at}     pts_time:${at / 1000}\nat=1\n`).join("");
const log = (frames: readonly number[]): string =>
  JSON.stringify({
    frames: frames.map((frameNum) => ({ frameNum, metrics: { vmaf: 90, psnr_y: 40, float_ssim: 0.99, other: 1 } })),
  });
const files = (frames: readonly number[], encoded: readonly number[], reference: readonly number[]) => ({
  log: log(frames),
  madeTimes: times(encoded),
  referenceTimes: times(reference),
});
const timesOf = (samples: readonly QualitySample[] | null) => samples?.map(({ timeMs }) => timeMs);

test("gives samples the times of their frames, without the first frame", () => {
  const at = [0, 40, 200, 240, 400];
  expect(timesOf(readSamples(files([0, 2, 4], at, at), 25))).toEqual([200, 400]);
  expect(timesOf(readSamples(files([0], [0], [0]), 25))).toEqual([0]);
});

test("leaves out frames that the source does not have at that time", () => {
  const at = Array.from({ length: 20 }, (_, frame) => frame * 40);
  const lacking = at.filter((ms) => ms !== 400);
  const read = timesOf(readSamples(files([...at.keys()], at, lacking), 25));
  expect(read).toEqual(at.filter((ms) => ms !== 0 && ms !== 400));
});

test.each([
  ["the log is no JSON", { ...files([0, 1], [0, 40], [0, 40]), log: "{" }],
  ["nothing was measured", files([], [0, 40], [0, 40])],
  ["the source is shorter", files([0, 1, 2], [0, 40, 80], [0])],
])("there are no samples if %s", (_name, of) => {
  expect(readSamples(of, 25)).toBeNull();
});

const sample = (timeMs: number, vmaf: number): QualitySample => ({ timeMs, vmaf, psnr: vmaf / 2, ssim: vmaf / 100 });

test("summarizes all samples in statistics, and each second in means", () => {
  const summary = summarizeQuality([sample(0, 100), sample(500, 90), sample(2000, 50)]);
  expect(summary).toMatchObject({
    frames: 3,
    vmaf: { mean: 80, harmonic_mean: 73.08, percentile_1: 50.8, min: 50 },
    psnr: { mean: 40, min: 25 },
    ssim: { mean: 0.8, min: 0.5 },
    series: { interval_seconds: 1, vmaf: [95, null, 50], psnr: [47.5, null, 25], ssim: [0.95, null, 0.5] },
  });
});

test("summarizes a long series in longer intervals", () => {
  const samples = Array.from({ length: 100 }, (_, second) => sample(second * 1000, 80));
  expect(summarizeQuality(samples, 30).series).toMatchObject({ interval_seconds: 4, vmaf: { length: 25 } });
});
