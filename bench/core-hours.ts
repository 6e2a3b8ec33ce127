// node local/bootstrap.mjs bench/core-hours.ts [seconds]: hours of one core for an hour of 1080p at 30 fps, for the
// ladders of the cost calculator (dashboard/costs/ladders.ts). CPU time, so that other load changes it little.
import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { ALL_SOFTWARE } from "#shared/plan/encoders/software-encoders.ts";
import { planEncode } from "#shared/plan/plan-encode.ts";
import { parseOutputs } from "#shared/request/outputs/outputs-section.ts";
import { exampleRow } from "../dashboard/costs/example-row.ts";
import { LADDERS } from "../dashboard/costs/ladders.ts";
import { locateFfmpeg } from "../encoder-node/ffmpeg/build/locate.ts";
import { toolEnvironment } from "../encoder-node/ffmpeg/sandbox/tool-environment.ts";
import { probeFile } from "../encoder-node/source/probe/probe.ts";

const run = promisify(execFile);
const env = toolEnvironment();
const CLIP = "testsrc2=s=1920x1080:r=30,rotate=0.05*sin(t),noise=alls=3:allf=t,format=yuv420p";

/** Seconds of CPU time of a command, by the `times` of a shell. */
async function cpuSeconds(path: string, argv: readonly string[], cwd: string): Promise<number> {
  const { stdout } = await run("sh", ["-c", '"$@" >&2; times', "sh", path, ...argv], { cwd, env, maxBuffer: 1e8 });
  const [, children = ""] = stdout.trim().split("\n");
  return [...children.matchAll(/(\d+)m([\d.]+)s/g)].reduce((sum, [, m, s]) => sum + Number(m) * 60 + Number(s), 0);
}

async function main(seconds: number): Promise<void> {
  const { ffmpeg, ffprobe } = await locateFfmpeg(process.env);
  const folder = await mkdtemp(join(tmpdir(), "copra-core-hours-"));
  try {
    const source = join(folder, "source.mp4");
    const inputs = ["-f", "lavfi", "-i", CLIP, "-f", "lavfi", "-i", "anoisesrc=a=0.1:r=48000", "-t", String(seconds)];
    const encoded = ["-c:v", "libx264", "-preset", "veryfast", "-crf", "18", "-c:a", "aac", "-ac", "2"];
    await run(ffmpeg.path, ["-v", "error", "-y", ...inputs, ...encoded, source], { env });
    const probe = await probeFile(ffprobe, source);
    console.log("| ladder | hours of a core for an hour of video |\n| --- | --- |");
    const examples: string[] = [];
    for (const ladder of LADDERS) {
      const parsed = parseOutputs(ladder.outputs, "none");
      if (!parsed.ok) throw new Error(parsed.error.message);
      const { commands } = planEncode({ source, probe, outputs: parsed.value, capabilities: ALL_SOFTWARE });
      let cpu = 0;
      for (const { argv } of commands.flatMap(({ runs }) => runs)) cpu += await cpuSeconds(ffmpeg.path, argv, folder);
      const coreHours = Number((cpu / seconds).toFixed(2));
      console.log(`| ${ladder.title} | ${coreHours.toFixed(2)} |`);
      examples.push(exampleRow({ ...ladder, coreHours }));
    }
    console.log(`With these hours the examples of docs/costs.md are\n${examples.join("\n")}`);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

await main(Number(process.argv[2] ?? 20));
