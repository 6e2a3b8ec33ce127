// Compares the cost of a stream's default ladder in one ffmpeg process with the cost of a plain ffmpeg command per
// rendition. `node local/bootstrap.mjs bench/ladder.ts [seconds]` prints wall and CPU seconds of both.

import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { ALL_SOFTWARE } from "#shared/plan/encoders/software-encoders.ts";
import { planEncode } from "#shared/plan/tasks/plan-encode.ts";
import { parseOutputs } from "#shared/request/outputs/outputs-section.ts";
import { locateFfmpeg } from "../encoder-node/ffmpeg/discover/locate.ts";
import { toolEnvironment } from "../encoder-node/ffmpeg/sandbox/tool-environment.ts";
import { probeFile } from "../encoder-node/source/probe/probe.ts";

const run = promisify(execFile);
const env = toolEnvironment();

/** The renditions planned for 1080p: size, and maximum bitrate in kbit/s at CRF 21. */
const RENDITIONS = [
  ["426:240", 400],
  ["640:360", 1000],
  ["854:480", 1500],
  ["1280:720", 2000],
  ["1920:1080", 4000],
] as const;

type Cost = { readonly wall: number; readonly cpu: number };

/** Runs a command in a shell. The shell's builtin `times` prints the CPU time of its children. */
async function cost(path: string, argv: readonly string[], cwd: string): Promise<Cost> {
  const start = performance.now();
  const { stdout } = await run("sh", ["-c", '"$@" >&2; times', "sh", path, ...argv], { cwd, env, maxBuffer: 1e8 });
  const wall = (performance.now() - start) / 1000;
  const [, children = ""] = stdout.trim().split("\n");
  const cpu = [...children.matchAll(/(\d+)m([\d.]+)s/g)].reduce((sum, [, m, s]) => sum + Number(m) * 60 + Number(s), 0);
  return { wall, cpu };
}

const sum = (costs: readonly Cost[]): Cost => ({
  wall: costs.reduce((all, { wall }) => all + wall, 0),
  cpu: costs.reduce((all, { cpu }) => all + cpu, 0),
});

async function main(seconds: number): Promise<void> {
  const { ffmpeg, ffprobe } = await locateFfmpeg(process.env);
  const folder = await mkdtemp(join(tmpdir(), "copra-ladder-"));
  try {
    const source = join(folder, "source.mp4");
    const clip = `testsrc2=s=1920x1080:r=30,rotate=0.05*sin(t),noise=alls=3:allf=t,format=yuv420p`;
    const inputs = ["-f", "lavfi", "-i", clip, "-f", "lavfi", "-i", "anoisesrc=a=0.1:r=48000", "-t", String(seconds)];
    const encoded = ["-c:v", "libx264", "-preset", "veryfast", "-crf", "18", "-c:a", "aac", "-ac", "2"];
    await run(ffmpeg.path, ["-v", "error", "-y", ...inputs, ...encoded, source], { env });

    const parsed = parseOutputs({ httpstream: { hls: { path: "h" }, dash: { path: "d" } } }, "none");
    if (!parsed.ok) throw new Error(parsed.error.message);
    const probe = await probeFile(ffprobe, source);
    const { commands } = planEncode({ source, probe, outputs: parsed.value, capabilities: ALL_SOFTWARE });
    const planned = sum(
      await Promise.all(commands.flatMap(({ runs }) => runs.map(({ argv }) => cost(ffmpeg.path, argv, folder)))),
    );

    const byHand: Cost[] = [];
    for (const [size, cap] of RENDITIONS) {
      const video = `-vf scale=${size} -c:v libx264 -preset medium -crf 21 -maxrate ${cap}k -bufsize ${2 * cap}k`;
      const fixed = `-profile:v high -g 60 -keyint_min 60 -sc_threshold 0 -c:a aac -b:a 128k`;
      const hls = `-f hls -hls_time 6 -hls_playlist_type vod ${size.replace(":", "x")}.m3u8`;
      const options = `${video} ${fixed} ${hls}`.split(" ");
      byHand.push(await cost(ffmpeg.path, ["-v", "error", "-y", "-i", source, ...options], folder));
    }
    const decode = await cost(ffmpeg.path, ["-v", "error", "-i", source, "-f", "null", "-"], folder);
    const hand = sum(byHand);
    const row = (name: string, { wall, cpu }: Cost): string =>
      `| ${name} | ${wall.toFixed(1)} | ${cpu.toFixed(1)} | ${(wall / hand.wall).toFixed(2)} | ${(cpu / hand.cpu).toFixed(2)} |`;
    console.log(`The default ladder of ${seconds} s of 1080p, five renditions:`);
    console.log("| | wall s | CPU s | wall, by hand = 1 | CPU, by hand = 1 |");
    console.log("| --- | --- | --- | --- | --- |");
    console.log(row("one process, for HLS and DASH", planned));
    console.log(row("one ffmpeg per rendition, HLS alone, one after the other", hand));
    console.log(row("(one decode)", decode));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

await main(Number(process.argv[2] ?? 60));
