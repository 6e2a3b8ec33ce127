// Compares a video that a node with many cores splits with the same video in one run of ffmpeg, on an emulated machine
// (emulated-cores.ts). `node local/bootstrap.mjs bench/strong-machine.ts [cores] [seconds] [format …]` prints a row for
// each format, for example `16 48 mp4:480p webm:480p:opus`.
import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import type { OutputSpec } from "#shared/job/output-spec.ts";
import type { MediaProbe } from "#shared/media/media-probe.ts";
import { chooseSplitPoints } from "#shared/plan/chunks/choose-split-points.ts";
import { chunkableSource, chunkGridMs } from "#shared/plan/chunks/chunkable-source.ts";
import { withThreads } from "#shared/plan/command/thread-limits.ts";
import { ALL_SOFTWARE } from "#shared/plan/encoders/software-encoders.ts";
import { planAudio } from "#shared/plan/plan-audio.ts";
import { planChunk } from "#shared/plan/plan-chunk.ts";
import { planEncode } from "#shared/plan/plan-encode.ts";
import { planJoin } from "#shared/plan/plan-join.ts";
import { chooseTracks } from "#shared/plan/source/source-tracks.ts";
import type { ChunkSpan } from "#shared/protocol/chunks.ts";
import { parseOutputs } from "#shared/request/outputs/outputs-section.ts";
import { mapLimited } from "../encoder-node/async/in-parallel.ts";
import { locateFfmpeg } from "../encoder-node/ffmpeg/build/locate.ts";
import { readFrameIndex } from "../encoder-node/source/frame-index/frame-index.ts";
import { probeSource } from "../encoder-node/source/probe/probe-source.ts";
import { openJoinedTrack } from "../encoder-node/tasks/join/join-track.ts";
import { chooseRuns } from "../encoder-node/tasks/split-encode/choose-runs.ts";
import { LOCAL_LENGTHS } from "../encoder-node/tasks/split-encode/local-chunks.ts";
import { type Cost, canEmulate, EmulatedMachine } from "./emulated-cores.ts";

const run = promisify(execFile);
const { ffmpeg, ffprobe } = await locateFfmpeg(process.env);
const GIB = 2 ** 30;
/** All emulated cores together take this many of the two real ones. */
const REAL_CORES = 1.6;
/** The runs at a time of what a node would not split. */
const UNCHOSEN_RUNS = 4;

type Job = { readonly source: string; readonly probe: MediaProbe; readonly outputs: readonly OutputSpec[] };

async function whole(job: Job, cores: number, folder: string): Promise<Cost> {
  const machine = new EmulatedMachine(cores, REAL_CORES / cores);
  const { commands } = planEncode({ ...job, capabilities: ALL_SOFTWARE });
  const cost = await machine.cost(async () => {
    for (const each of commands.flatMap(({ runs }) => runs))
      await machine.run(ffmpeg.path, withThreads(each.argv, cores), folder);
  });
  await machine.close();
  return cost;
}

async function chunksOf({ source, probe, outputs }: Job, runs: number): Promise<ChunkSpan[]> {
  const { video } = chooseTracks(probe);
  const reading = await readFrameIndex(ffprobe, { path: source }, video?.streamIndex ?? 0, AbortSignal.timeout(60_000));
  if (!reading.ok) throw new Error(reading.error);
  const options = { segmentMs: chunkGridMs(outputs) ?? 0, slots: runs, audioMs: 0, lengths: LOCAL_LENGTHS };
  const chosen = chooseSplitPoints(chunkableSource(reading.value, probe), options);
  if (!chosen.ok) throw new Error(chosen.error);
  return chosen.value;
}

/** The index and the join count, too; they are not slowed down. */
async function split(job: Job, cores: number, runs: number, folder: string): Promise<Cost & { chunks: number }> {
  const machine = new EmulatedMachine(cores, REAL_CORES / cores);
  const request = { ...job, capabilities: ALL_SOFTWARE };
  let count = 0;
  const cost = await machine.cost(async () => {
    const chunks = await chunksOf(job, runs);
    count = chunks.length;
    const atATime = Math.min(runs, chunks.length);
    const audio = async (): Promise<void> => {
      for (const { argv } of planAudio(request).command?.runs ?? []) await machine.run(ffmpeg.path, argv, folder);
    };
    const video = async (chunk: ChunkSpan) => {
      const own = await mkdtemp(join(folder, "chunk-"));
      const { command } = planChunk({ ...request, chunk, cores: Math.ceil(cores / atATime) });
      for (const { argv } of command?.runs ?? []) await machine.run(ffmpeg.path, argv, own);
      return (command?.tracks ?? []).map(({ file }) => ({ path: join(own, file), file }));
    };
    const [made] = await Promise.all([mapLimited(chunks, atATime, video), audio()]);
    const tracks = made.flat();
    for (const file of new Set(tracks.map((track) => track.file))) {
      const joined = await openJoinedTrack(join(folder, file), "video");
      for (const track of tracks.filter((each) => each.file === file)) await joined.append(track.path);
      await joined.close();
    }
    for (const { argv } of planJoin(request).runs) await run(ffmpeg.path, [...argv], { cwd: folder });
  });
  await machine.close();
  return { ...cost, chunks: count };
}

async function row(format: string, job: Job, cores: number): Promise<string> {
  const machine = { cpus: cores, memoryBytes: 4 * cores * GIB };
  const chosen = chooseRuns(job.outputs, chooseTracks(job.probe), ALL_SOFTWARE, machine);
  const runs = chosen === 1 ? UNCHOSEN_RUNS : chosen;
  const folder = await mkdtemp(join(tmpdir(), "copra-strong-"));
  try {
    const one = await whole(job, cores, folder);
    const busy = (one.cpu / one.wall).toFixed(1);
    const many = await split(job, cores, runs, folder);
    const isSplit = chosen === 1 ? "no" : "yes";
    const cells = [
      one.wall.toFixed(1),
      busy,
      `${Math.min(runs, many.chunks)} (${many.chunks} chunks)`,
      many.wall.toFixed(1),
    ];
    return `| ${format} | ${cells.join(" | ")} | ${(many.cpu / one.cpu).toFixed(2)} | **${(one.wall / many.wall).toFixed(2)}** | ${isSplit} |`;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function main(cores = 16, seconds = 48, formats = ["mp4:480p", "webm:480p:opus"]): Promise<void> {
  if (!canEmulate()) throw new Error("Needs root and the cgroups of version 1");
  const folder = await mkdtemp(join(tmpdir(), "copra-source-"));
  try {
    const source = join(folder, "source.mp4");
    const clip = "testsrc2=s=1920x1080:r=30000/1001,rotate=0.05*sin(t),noise=alls=3:allf=t,format=yuv420p";
    const inputs = ["-f", "lavfi", "-i", clip, "-f", "lavfi", "-i", "anoisesrc=a=0.1:r=48000", "-t", "6"];
    const encoded = ["-c:v", "libx264", "-preset", "veryfast", "-crf", "18", "-g", "60", "-c:a", "aac", "-ac", "2"];
    const short = join(folder, "short.mp4");
    await run(ffmpeg.path, ["-v", "error", ...inputs, ...encoded, short]);
    const again = ["-stream_loop", String(Math.ceil(seconds / 6) - 1), "-i", short, "-c", "copy", source];
    await run(ffmpeg.path, ["-v", "error", ...again]);
    const probe = await probeSource(ffprobe, source);
    console.log(`${seconds} s of 1080p29.97 on ${cores} emulated cores of ${REAL_CORES / cores} real core each:`);
    console.log(
      "| outputs | one run, s | cores busy | runs at a time | split, s | CPU, one run = 1 | speed-up | a node splits it |",
    );
    console.log("| --- | --- | --- | --- | --- | --- | --- | --- |");
    for (const format of formats) {
      const parsed = parseOutputs(
        Object.fromEntries(format.split("+").map((each) => [each, { path: `${each.replaceAll(/\W/g, "-")}.mp4` }])),
        "none",
      );
      if (!parsed.ok) throw new Error(parsed.error.message);
      console.log(await row(format, { source, probe, outputs: parsed.value }, cores));
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const [cores, seconds, ...formats] = process.argv.slice(2);
await main(Number(cores ?? 16), Number(seconds ?? 48), formats.length > 0 ? formats : undefined);
