// Measures size and VMAF of each quality step of four codecs, and of a plain ffmpeg command with the same encoder,
// preset and rate factor. `node local/bootstrap.mjs bench/quality.ts` prints a line for each step.

import { execFile } from "node:child_process";
import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { qualityStep } from "#shared/plan/encoders/quality-steps.ts";
import { ALL_SOFTWARE } from "#shared/plan/encoders/software-encoders.ts";
import { planEncode } from "#shared/plan/tasks/plan-encode.ts";
import { parseOutputs } from "#shared/request/outputs/outputs-section.ts";
import { locateFfmpeg, type Tool } from "../encoder-node/ffmpeg/discover/locate.ts";
import { toolEnvironment } from "../encoder-node/ffmpeg/sandbox/tool-environment.ts";
import { probeFile } from "../encoder-node/source/probe/probe.ts";

const run = promisify(execFile);
const env = toolEnvironment();
const SECONDS = 3;

/** Clips with motion and grain like real video: a slow zoom into detail, and moving shapes. */
const CLIPS: Readonly<Record<string, string>> = {
  zoom: `mandelbrot=s=640x360:r=25:maxiter=400:start_scale=1:end_scale=0.05:end_pts=75,noise=alls=4:allf=t`,
  shapes: `testsrc2=s=640x360:r=25,rotate=0.05*sin(t),noise=alls=3:allf=t`,
};

/** The encoders' options beside the rate factor, as in the planner's table. */
const BY_HAND = {
  "mp4:h264": ["libx264", "-preset medium"],
  "mp4:hevc": ["libx265", "-preset fast -x265-params log-level=error"],
  "webm:vp9": ["libvpx-vp9", "-deadline good -cpu-used 4 -row-mt 1 -b:v 0"],
  "webm:av1": ["libsvtav1", "-preset 8"],
} as const;

type Result = { kbps: number; vmaf: number };

async function measure(ffmpeg: Tool, file: string, source: string): Promise<Result> {
  const { size } = await stat(file);
  const graph = "[0:v]format=yuv420p[encoded];[1:v]format=yuv420p[source];[encoded][source]libvmaf=n_threads=2";
  const argv = ["-hide_banner", "-i", file, "-i", source, "-lavfi", graph, "-f", "null", "-"];
  const { stderr } = await run(ffmpeg.path, argv, { env });
  return { kbps: (size * 8) / 1000 / SECONDS, vmaf: Number(/VMAF score: ([\d.]+)/.exec(stderr)?.[1]) };
}

async function byPlan(ffmpeg: Tool, ffprobe: Tool, source: string, format: string, folder: string): Promise<Result> {
  const parsed = parseOutputs({ [format]: { path: "/x" } }, "none");
  if (!parsed.ok) throw new Error(parsed.error.message);
  const probe = await probeFile(ffprobe, source);
  const { commands } = planEncode({ source, probe, outputs: parsed.value, capabilities: ALL_SOFTWARE });
  const [command] = commands;
  for (const { argv } of command?.runs ?? []) await run(ffmpeg.path, [...argv], { cwd: folder, env });
  return measure(ffmpeg, join(folder, command?.outputs[0]?.files[0] ?? ""), source);
}

async function byHand(ffmpeg: Tool, source: string, encoder: string, options: string, file: string): Promise<Result> {
  const argv = ["-v", "error", "-y", "-i", source, "-c:v", encoder, ...options.split(" "), "-pix_fmt", "yuv420p", file];
  await run(ffmpeg.path, argv, { env });
  return measure(ffmpeg, file, source);
}

const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;

async function main(): Promise<void> {
  const { ffmpeg, ffprobe } = await locateFfmpeg(process.env);
  const folder = await mkdtemp(join(tmpdir(), "copra-quality-"));
  try {
    for (const [name, graph] of Object.entries(CLIPS)) {
      const source = `-f lavfi -i ${graph},format=yuv420p -t ${SECONDS} -c:v libx264 -qp 0 -preset ultrafast`.split(
        " ",
      );
      await run(ffmpeg.path, ["-v", "error", ...source, join(folder, `${name}.mkv`)], { env });
    }
    console.log("| codec | quality | kbit/s | VMAF | size, by hand = 1 | VMAF, less by hand |");
    console.log("| --- | --- | --- | --- | --- | --- |");
    for (const [format, [encoder, options]] of Object.entries(BY_HAND)) {
      for (const step of [5, 4, 3, 2, 1]) {
        const ours: Result[] = [];
        const hand: Result[] = [];
        for (const clip of Object.keys(CLIPS)) {
          const source = join(folder, `${clip}.mkv`);
          ours.push(await byPlan(ffmpeg, ffprobe, source, `${format}:x:quality=${step}`, folder));
          const rate = `-crf ${qualityStep(encoder, step)} ${options}`;
          hand.push(await byHand(ffmpeg, source, encoder, rate, join(folder, "by-hand.mkv")));
        }
        const of = (results: readonly Result[], what: keyof Result): number => mean(results.map((each) => each[what]));
        const [kbps, vmaf] = [of(ours, "kbps"), of(ours, "vmaf")];
        const ratio = mean(ours.map((each, at) => each.kbps / (hand[at]?.kbps ?? Number.NaN)));
        const less = vmaf - of(hand, "vmaf");
        console.log(
          `| ${encoder} | ${step} | ${Math.round(kbps)} | ${vmaf.toFixed(1)} | ${ratio.toFixed(3)} | ${less.toFixed(2)} |`,
        );
      }
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

await main();
