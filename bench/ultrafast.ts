// Measures the speed-up of ultrafast over many equal nodes. Each node has its own CPU quota (cgroup v1, as root).
// `node local/bootstrap.mjs bench/ultrafast.ts [cores per node] [numbers of nodes] [seconds of video] [size] [frames
// per second]`, for example `0.32,0.16 6,12 300 1920x1080 15`, prints a row for each run. The first run has one node
// with all cores and no chunks. The other runs have chunks over so many nodes, which read the source at its origin. The
// time of a single node with the quota is computed: the CPU time of the first run divided by the quota. The real time
// would be a little longer. All nodes first do a small job without a quota, so that their programs and the control
// plane are loaded before the measured job.
import { execFile } from "node:child_process";
import { mkdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { locateFfmpeg } from "../encoder-node/ffmpeg/discover/locate.ts";
import { storageOf } from "../local/demo/demo-job.ts";
import { serveLoopback } from "../local/demo/loopback-server.ts";
import { sendFile } from "../local/demo/send-file.ts";
import { LOCAL_SERVICE } from "../local/home/service-settings.ts";
import { type Stack, startStack } from "../local/stack/stack.ts";
import { apiClient } from "../test/services/api-client.ts";
import { attemptsOf, stagesOf } from "./ultrafast/timeline.ts";

const run = promisify(execFile);
const PERIOD_US = 50_000;
/** The nodes' CPU shares. Other programs have 1024 each, or less. */
const SHARES = "50000";
const ALL_CORES = 64;
const CGROUPS = { cpu: "/sys/fs/cgroup/cpu", cpuacct: "/sys/fs/cgroup/cpuacct" } as const;

type Quota = { cpuSeconds(): number; remove(): void };

/** Creates a cgroup with a limit of so many cores, and moves the process `pid` into it. */
function limit(name: string, pid: number, cores: number): Quota {
  const paths = Object.values(CGROUPS).map((root) => join(root, name));
  for (const path of paths) mkdirSync(path, { recursive: true });
  writeFileSync(join(CGROUPS.cpu, name, "cpu.cfs_period_us"), String(PERIOD_US));
  writeFileSync(join(CGROUPS.cpu, name, "cpu.cfs_quota_us"), String(Math.round(PERIOD_US * cores)));
  writeFileSync(join(CGROUPS.cpu, name, "cpu.shares"), SHARES);
  for (const path of paths) writeFileSync(join(path, "cgroup.procs"), String(pid));
  return {
    cpuSeconds: () => Number(readFileSync(join(CGROUPS.cpuacct, name, "cpuacct.usage"), "utf8")) / 1e9,
    remove: () => {
      for (const path of paths) rmdirSync(path);
    },
  };
}

type Result = { readonly wall: number; readonly cpu: number; readonly stages: string };

const DIRECT = { ...LOCAL_SERVICE, variables: { ULTRAFAST_READ_ORIGIN: "true" } };

/** `warmUp` and `source` are URLs of videos. */
async function encode(
  { warmUp, source }: { warmUp: string; source: string },
  nodes: number,
  cores: number,
): Promise<Result> {
  const home = await mkdtemp(join(tmpdir(), "copra-ultrafast-"));
  const stack = await startStack({ home, port: 0, s3Port: 0, nodes, service: DIRECT }, { notify: () => {} });
  const { pids, api, apiKey } = stack.describe();
  const groups: Quota[] = [];
  try {
    await runJob(stack, warmUp, nodes > 1);
    groups.push(...pids.nodes.map((pid, at) => limit(`copra-bench-${at + 1}`, pid, cores)));
    const before = groups.map((group) => group.cpuSeconds());
    const { wall, id } = await runJob(stack, source, nodes > 1);
    const cpu = groups.reduce((sum, group, at) => sum + group.cpuSeconds() - (before[at] ?? 0), 0);
    return { wall, cpu, stages: stagesOf(await attemptsOf(api, apiKey, id)) };
  } finally {
    await stack.stop(0);
    await sleep(500);
    for (const group of groups) group.remove();
    await rm(home, { recursive: true, force: true });
  }
}

/** Seconds from the request to the response that shows the end of the job. */
async function runJob(stack: Stack, url: string, ultrafast: boolean): Promise<{ wall: number; id: string }> {
  const api = apiClient(stack.describe().api, stack.describe().apiKey);
  const startedAt = performance.now();
  const { id } = await api.submit({
    input: { url },
    storage: storageOf(stack.describe()),
    notification: { type: "http", url: "http://127.0.0.1:9/" },
    outputs: { "mp4:::quality=3": { path: `${nextName()}.mp4` } },
    settings: { ultrafast },
  });
  let job = await api.job(id);
  for (; job.completed_at === null; job = await api.job(id)) await sleep(100);
  if (job.status !== "job.completed") throw new Error(JSON.stringify(job));
  return { wall: (performance.now() - startedAt) / 1000, id };
}

let outputs = 0;
const nextName = (): string => `output-${++outputs}`;

async function main(
  cores = "0.32,0.16",
  counts = "6,12",
  seconds = "300",
  size = "1920x1080",
  fps = "15",
): Promise<void> {
  const { ffmpeg } = await locateFfmpeg(process.env);
  const folder = await mkdtemp(join(tmpdir(), "copra-source-"));
  const numbers = counts.split(",").map(Number);
  const quotas = cores.split(",").map(Number);
  const make = async (name: string, length: string, frameSize: string, rate: string): Promise<void> => {
    const video = `testsrc2=s=${frameSize}:r=${rate},noise=alls=4:allf=t,format=yuv420p`;
    const inputs = ["-f", "lavfi", "-i", video, "-f", "lavfi", "-i", "anoisesrc=a=0.1:r=16000", "-t", length];
    const encoded = ["-c:v", "libx264", "-preset", "veryfast", "-crf", "20", "-g", String(2 * Math.ceil(Number(rate)))];
    const argv = ["-v", "error", "-y", ...inputs, ...encoded, "-c:a", "aac", "-ac", "1", "-movflags", "+faststart"];
    await run(ffmpeg.path, [...argv, join(folder, name)]);
  };
  await make("source.mp4", seconds, size, fps);
  await make("warm-up.mp4", String(30 * Math.max(4, ...numbers)), "64x36", "2");
  const server = await serveLoopback((request, response) =>
    sendFile(request, response, join(folder, (request.url ?? "").slice(1))),
  );
  const urls = { source: `${server.origin}/source.mp4`, warmUp: `${server.origin}/warm-up.mp4` };
  try {
    console.log(`${seconds} s of ${size} at ${fps} fps to H.264`);
    console.log("| nodes | cores each | wall s | speed-up | efficiency | CPU s | CPU, whole = 1 | when, in seconds |");
    console.log("| --- | --- | --- | --- | --- | --- | --- | --- |");
    const whole = await encode(urls, 1, ALL_CORES);
    console.log(`| 1, whole | all | | | | ${whole.cpu.toFixed(1)} | 1 | ${whole.stages} |`);
    for (const [at, nodes] of numbers.entries()) {
      const quota = quotas[at] ?? quotas[0] ?? 1;
      const { wall, cpu, stages } = await encode(urls, nodes, quota);
      const gain = whole.cpu / quota / wall;
      const efficiency = Math.round((100 * gain) / nodes);
      const figures = [nodes, quota, wall.toFixed(1), gain.toFixed(2), `${efficiency} %`, cpu.toFixed(1)];
      console.log(`| ${figures.join(" | ")} | ${(cpu / whole.cpu).toFixed(2)} | ${stages} |`);
    }
  } finally {
    await server.close();
    await rm(folder, { recursive: true, force: true });
  }
}

await main(...process.argv.slice(2));
