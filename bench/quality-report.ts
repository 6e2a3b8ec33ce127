// Measures the CPU time of a quality report as a share of the encode's, and the effect of sampling on its figures.
// `node local/bootstrap.mjs bench/quality-report.ts [seconds]` prints a table.
import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { ALL_SOFTWARE } from "#shared/plan/encoders/software-encoders.ts";
import { MADE_TIMES, QUALITY_LOG, REFERENCE_TIMES } from "#shared/plan/quality/compare-video.ts";
import { planQualities, planQuality } from "#shared/plan/quality/plan-quality.ts";
import { readSamples } from "#shared/plan/quality/read-samples.ts";
import { measuredTracks } from "#shared/plan/quality/renditions.ts";
import { type QualitySummary, summarizeQuality } from "#shared/plan/quality/summarize-quality.ts";
import { chooseTracks } from "#shared/plan/source/source-tracks.ts";
import { planEncode } from "#shared/plan/tasks/plan-encode.ts";
import { parseOutputs } from "#shared/request/outputs/outputs-section.ts";
import { withQualityReport } from "#shared/request/outputs/quality-report.ts";
import { locateFfmpeg } from "../encoder-node/ffmpeg/discover/locate.ts";
import { toolEnvironment } from "../encoder-node/ffmpeg/sandbox/tool-environment.ts";
import { probeFile } from "../encoder-node/source/probe/probe.ts";
import { REFERENCE_FFMPEG } from "../encoder-node/testing/plan-runs.ts";
import { timed } from "./target-quality/encodes.ts";

const SECONDS = Number(process.argv[2] ?? 8);
const FRAME = "s=1920x1080:r=30000/1001";
/** A hard scene at the end, which the lowest percentile must show. */
const HARD = `noise=alls=40:allf=t:enable='gt(t,${SECONDS * 0.8})'`;
const CLIPS: Readonly<Record<string, string>> = {
  shapes: `testsrc2=${FRAME},rotate=0.05*sin(t),noise=alls=4:allf=t,${HARD}`,
  gradients: `gradients=${FRAME}:n=6:speed=0.03:seed=7,noise=alls=8:allf=t,${HARD}`,
};
const CASES = [
  ["shapes", "mp4:720p"],
  ["gradients", "mp4:720p"],
  ["shapes", "mp4:1080p"],
] as const;
const PER_SECOND = [null, 8, 4, 2] as const;

const { ffprobe, ...located } = await locateFfmpeg(process.env);
/** Distributions build ffmpeg without libvmaf. */
const ffmpeg = { ...located.ffmpeg, path: process.env.FFMPEG_PATH ?? REFERENCE_FFMPEG };
const folder = await mkdtemp(join(tmpdir(), "bench-quality-report-"));

async function makeClip(name: string): Promise<string> {
  const path = join(folder, `${name}.mp4`);
  const encode = `-t ${SECONDS} -pix_fmt yuv420p -c:v libx264 -preset veryfast -crf 18 -g 250`.split(" ");
  const argv = ["-v", "error", "-y", "-f", "lavfi", "-i", CLIPS[name] ?? "", ...encode, path];
  await promisify(execFile)(ffmpeg.path, argv, { env: toolEnvironment() });
  return path;
}

/** Encodes the outputs to measure. Also returns the CPU seconds of the encode. */
async function encode(source: string, formats: readonly string[]) {
  const parsed = parseOutputs(Object.fromEntries(formats.map((format, at) => [format, { path: `/${at}` }])), "none");
  const marked = parsed.ok ? withQualityReport(parsed.value, { qualityReport: true }) : parsed;
  if (!marked.ok) throw new Error(marked.error.message);
  const probe = await probeFile(ffprobe, source);
  const [command] = planEncode({ source, probe, outputs: marked.value, capabilities: ALL_SOFTWARE }).commands;
  const cwd = await mkdtemp(join(folder, "run-"));
  let encodeSeconds = 0;
  for (const { argv } of command?.runs ?? []) encodeSeconds += await timed(ffmpeg, argv, cwd);
  const madeOf = (index: number): string =>
    join(cwd, command?.outputs.find(({ output }) => output === index)?.files[0] ?? "");
  const tracks = marked.value
    .flatMap((spec) => measuredTracks(spec, chooseTracks(probe), ALL_SOFTWARE))
    .map((track) => ({ ...track, source, probe, capabilities: ALL_SOFTWARE, made: madeOf(track.output.index) }));
  return { cwd, encodeSeconds, tracks };
}

async function measure(source: string, format: string): Promise<void> {
  const { cwd, encodeSeconds, tracks } = await encode(source, [`${format}:x:quality=3`]);
  const [track] = tracks;
  if (!track) throw new Error("Nothing to measure");
  let all: QualitySummary | null = null;
  for (const perSecond of PER_SECOND) {
    const planned = planQuality({ ...track, perSecond, threads: 2 });
    if (!planned.ok) throw new Error(planned.error.message);
    const seconds = await timed(ffmpeg, planned.value.run.argv, cwd);
    const [log = "", madeTimes = "", referenceTimes = ""] = await Promise.all(
      [QUALITY_LOG, MADE_TIMES, REFERENCE_TIMES].map((name) => readFile(join(cwd, name), "utf8")),
    );
    const samples = readSamples({ log, madeTimes, referenceTimes }, planned.value.fps);
    if (!samples) throw new Error("Nothing was measured");
    const summary = summarizeQuality(samples);
    all ??= summary;
    const cells = [
      ...[format, perSecond ?? "all", samples.length, (seconds / encodeSeconds).toFixed(2)],
      ...[difference(summary, all, "mean"), difference(summary, all, "harmonicMean")],
      ...[difference(summary, all, "percentile1"), (summary.psnr.mean - all.psnr.mean).toFixed(2)],
      (summary.ssim.mean - all.ssim.mean).toFixed(4),
    ];
    console.log(`| ${cells.join(" | ")} |`);
  }
}

/** Measures three files of a job, or renditions of a stream: each in its own run, and all in a single run. */
async function measureThree(source: string): Promise<void> {
  const formats = ["mp4:720p:x:quality=3", "mp4:480p:x:quality=3", "mp4:240p:x:quality=3"];
  const { cwd, encodeSeconds, tracks } = await encode(source, formats);
  const requests = tracks.map((track) => ({ ...track, perSecond: 4, threads: 1 }));
  const seconds = async (measured: typeof requests): Promise<number> => {
    const planned = planQualities(measured);
    if (!planned.ok) throw new Error(planned.error.message);
    return await timed(ffmpeg, planned.value.run.argv, cwd);
  };
  let alone = 0;
  for (const request of requests) alone += await seconds([request]);
  const together = await seconds(requests);
  const [each, all] = [alone, together].map((value) => (value / encodeSeconds).toFixed(2));
  console.log(`\nfiles of 720p, 480p and 240p, 4 a second: CPU ${each} of the encode one by one, ${all} in one run`);
}

const difference = (one: QualitySummary, all: QualitySummary, of: "mean" | "harmonicMean" | "percentile1"): string =>
  `${one.vmaf[of].toFixed(2)} (${(one.vmaf[of] - all.vmaf[of]).toFixed(2)})`;

console.log(
  "| output | a second | frames | CPU, encode = 1 | VMAF mean | harmonic mean | 1st percentile | PSNR | SSIM |",
);
console.log("| --- | --- | --- | --- | --- | --- | --- | --- | --- |");
try {
  const clips = new Map<string, string>();
  for (const [name, format] of CASES) {
    const clip = clips.get(name) ?? (await makeClip(name));
    clips.set(name, clip);
    await measure(clip, format);
  }
  await measureThree(clips.get("shapes") ?? (await makeClip("shapes")));
} finally {
  await rm(folder, { recursive: true, force: true });
}
