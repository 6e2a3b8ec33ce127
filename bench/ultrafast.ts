// Measures the speed-up of ultrafast over many equal nodes: each node has its own CPU quota (cgroup v1, as root).
// `node local/bootstrap.mjs bench/ultrafast.ts [cores per node] [numbers of nodes] [seconds of video] [size]`, for
// example `0.2 1,2,4,6 180 320x180`, prints a row for each run: first one node without chunks, then chunks over so many
// nodes.
import { execFile } from "node:child_process";
import { mkdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { locateFfmpeg } from "../encoder-node/ffmpeg/build/locate.ts";
import { apiClient } from "../local/demo/api-client.ts";
import { storageOf } from "../local/demo/demo-job.ts";
import { serveLoopback } from "../local/demo/loopback-server.ts";
import { sendFile } from "../local/demo/send-file.ts";
import { startStack } from "../local/stack/stack.ts";

const run = promisify(execFile);
const PERIOD_US = 50_000;
const CGROUPS = { cpu: "/sys/fs/cgroup/cpu", cpuacct: "/sys/fs/cgroup/cpuacct" } as const;

/** Creates a cgroup that may use so many cores, with the process `pid` in it. */
function limit(name: string, pid: number, cores: number): { cpuSeconds(): number; remove(): void } {
  const paths = Object.values(CGROUPS).map((root) => join(root, name));
  for (const path of paths) mkdirSync(path, { recursive: true });
  writeFileSync(join(CGROUPS.cpu, name, "cpu.cfs_period_us"), String(PERIOD_US));
  writeFileSync(join(CGROUPS.cpu, name, "cpu.cfs_quota_us"), String(Math.round(PERIOD_US * cores)));
  for (const path of paths) writeFileSync(join(path, "cgroup.procs"), String(pid));
  return {
    cpuSeconds: () => Number(readFileSync(join(CGROUPS.cpuacct, name, "cpuacct.usage"), "utf8")) / 1e9,
    remove: () => {
      for (const path of paths) rmdirSync(path);
    },
  };
}

type Result = { readonly wall: number; readonly cpu: number; readonly stages: string };

async function encode(sourceUrl: string, nodes: number, cores: number, ultrafast: boolean): Promise<Result> {
  const home = await mkdtemp(join(tmpdir(), "copra-ultrafast-"));
  const stack = await startStack({ home, port: 0, s3Port: 0, nodes }, { notify: () => {} });
  const groups = stack.describe().pids.nodes.map((pid, at) => limit(`copra-bench-${at + 1}`, pid, cores));
  try {
    const api = apiClient(stack.describe().api, stack.describe().apiKey);
    const before = groups.map((group) => group.cpuSeconds());
    const startedAt = performance.now();
    const { id } = await api.submit({
      input: { url: sourceUrl },
      storage: storageOf(stack.describe()),
      notification: { type: "http", url: "http://127.0.0.1:9/" },
      outputs: {
        "mp4:::quality=3": { path: "h264.mp4" },
        "mp4:hevc::quality=3": { path: "hevc.mp4" },
      },
      settings: { ultrafast },
    });
    let job = await api.job(id);
    for (; job.completed_at === null; job = await api.job(id)) await sleep(200);
    const wall = (performance.now() - startedAt) / 1000;
    if (job.status !== "job.completed") throw new Error(JSON.stringify(job));
    const cpu = groups.reduce((sum, group, at) => sum + group.cpuSeconds() - (before[at] ?? 0), 0);
    return { wall, cpu, stages: await stagesOf(home, nodes) };
  } finally {
    await stack.stop(0);
    await sleep(500);
    for (const group of groups) group.remove();
    await rm(home, { recursive: true, force: true });
  }
}

/** The longest time in seconds of each kind of task, from the nodes' logs. */
async function stagesOf(home: string, nodes: number): Promise<string> {
  const logs = await Promise.all(
    Array.from({ length: nodes }, (_, at) => readFile(join(home, `node-${at + 1}.log`), "utf8")),
  );
  const done = logs.flatMap((log) =>
    log.split("\n").flatMap((line) => {
      const entry: { message?: string; kind?: string; durationMs?: number } = line.startsWith("{")
        ? JSON.parse(line)
        : {};
      return entry.message === "Task done" ? [{ kind: entry.kind ?? "", seconds: (entry.durationMs ?? 0) / 1000 }] : [];
    }),
  );
  return [...new Set(done.map(({ kind }) => kind))]
    .map((kind) => {
      const times = done.filter((each) => each.kind === kind).map(({ seconds }) => seconds);
      const each = times.length > 1 ? `${times.length} × up to ` : "";
      return `${kind} ${each}${Math.max(...times).toFixed(1)}`;
    })
    .join(", ");
}

async function main(cores = "0.2", counts = "1,2,4,6", seconds = "180", size = "320x180"): Promise<void> {
  const { ffmpeg } = await locateFfmpeg(process.env);
  const folder = await mkdtemp(join(tmpdir(), "copra-source-"));
  const source = join(folder, "source.mp4");
  const video = `testsrc2=s=${size}:r=30000/1001,rotate=0.05*sin(t),noise=alls=3:allf=t,format=yuv420p`;
  const inputs = ["-f", "lavfi", "-i", video, "-f", "lavfi", "-i", "anoisesrc=a=0.1:r=48000", "-t", seconds];
  const encoded = ["-c:v", "libx264", "-preset", "veryfast", "-crf", "18", "-g", "60", "-c:a", "aac", "-ac", "2"];
  await run(ffmpeg.path, ["-v", "error", "-y", ...inputs, ...encoded, source]);
  const server = await serveLoopback((request, response) => sendFile(request, response, source));
  try {
    console.log(`${seconds} s of ${size} to H.264 and HEVC, nodes of ${cores} core each:`);
    console.log("| nodes | wall s | speed-up | efficiency | CPU s | CPU, whole = 1 | seconds of tasks |");
    console.log("| --- | --- | --- | --- | --- | --- | --- |");
    const whole = await encode(server.origin, 1, Number(cores), false);
    const row = (name: string, nodes: number, { wall, cpu, stages }: Result): void =>
      console.log(
        `| ${name} | ${wall.toFixed(1)} | ${(whole.wall / wall).toFixed(2)} | ${Math.round((100 * whole.wall) / wall / nodes)} % | ` +
          `${cpu.toFixed(1)} | ${(cpu / whole.cpu).toFixed(2)} | ${stages} |`,
      );
    row("1, whole", 1, whole);
    for (const nodes of counts.split(",").map(Number)) {
      row(String(nodes), nodes, await encode(server.origin, nodes, Number(cores), true));
    }
  } finally {
    await server.close();
    await rm(folder, { recursive: true, force: true });
  }
}

await main(...process.argv.slice(2));
