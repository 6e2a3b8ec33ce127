// Searches and encodes as a node does, and measures the CPU time of each.
import { execFile } from "node:child_process";
import { mkdtemp, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import type { VideoOutput } from "#shared/job/output-spec.ts";
import type { TargetMetadata } from "#shared/job/quality-target.ts";
import { createLogger } from "#shared/log.ts";
import type { MediaProbe } from "#shared/media/media-probe.ts";
import { ALL_SOFTWARE } from "#shared/plan/encoders/software-encoders.ts";
import { chooseTracks } from "#shared/plan/source/source-tracks.ts";
import { planEncode } from "#shared/plan/tasks/plan-encode.ts";
import type { SearchedVideo } from "#shared/plan/vmaf/plan-probes.ts";
import type { KeyframeGroup } from "#shared/plan/vmaf/sample-windows.ts";
import { summarizeVmaf, type VmafSummary } from "#shared/plan/vmaf/score.ts";
import { parseOutputs } from "#shared/request/outputs/outputs-section.ts";
import type { Tool } from "../../encoder-node/ffmpeg/discover/locate.ts";
import { toolEnvironment } from "../../encoder-node/ffmpeg/sandbox/tool-environment.ts";
import { searchRateFactors } from "../../encoder-node/quality/search-rate-factor.ts";
import { probeFile } from "../../encoder-node/source/probe/probe.ts";

const run = promisify(execFile);

export type Tools = { readonly ffmpeg: Tool; readonly ffprobe: Tool; readonly folder: string };
/** The CPU seconds of a search: keeping the samples, encoding them, and measuring the results. */
export type SearchCost = { readonly keep: number; readonly encode: number; readonly measure: number };
export type Searched = { readonly report: TargetMetadata; readonly cpuSeconds: number; readonly cost: SearchCost };
export type Encode = VmafSummary & {
  readonly rateFactor: number;
  readonly kbps: number;
  readonly cpuSeconds: number;
  readonly frames: readonly number[];
};

export type ClipResult = {
  readonly clip: string;
  readonly searched: Searched;
  readonly target: Encode;
  readonly fixed: readonly Encode[];
};

/** Runs ffmpeg, and returns its CPU seconds. */
export async function timed(ffmpeg: Tool, argv: readonly string[], cwd: string): Promise<number> {
  const { stdout } = await run("/bin/bash", ["-c", '"$@" > /dev/null || exit 1; times', "time", ffmpeg.path, ...argv], {
    cwd,
    env: toolEnvironment(),
    maxBuffer: 1e8,
  });
  const times = [...(stdout.trim().split("\n").at(-1) ?? "").matchAll(/(\d+)m([\d.]+)s/g)];
  return times.reduce((sum, [, minutes, seconds]) => sum + Number(minutes) * 60 + Number(seconds), 0);
}

export function videoOf(format: string): VideoOutput {
  const parsed = parseOutputs({ [format]: { path: "/x" } }, "none");
  if (!parsed.ok) throw new Error(parsed.error.message);
  const [spec] = parsed.value;
  if (spec?.type !== "video") throw new Error(`${format} is no video`);
  return spec;
}

export async function searchFor(tools: Tools, source: string, format: string): Promise<Searched> {
  const { reports, ...results } = await searchTogether(tools, source, [format]);
  const [report] = reports;
  if (!report) throw new Error("Nothing was searched");
  return { ...results, report };
}

/**
 * Searches formats that share their samples, as the variants of a stream do. Without groups the samples are evenly
 * spaced.
 */
export async function searchTogether(
  { ffmpeg, ffprobe, folder }: Tools,
  source: string,
  formats: readonly string[],
  groups: readonly KeyframeGroup[] = [],
): Promise<Omit<Searched, "report"> & { readonly reports: readonly TargetMetadata[] }> {
  const videos = formats.map(videoOf).map((output): SearchedVideo => {
    const { video } = output;
    if (!video || video.codec === "copy") throw new Error("There is no video to encode");
    return { output, video: { ...video, codec: video.codec } };
  });
  const probe = await probeFile(ffprobe, source);
  const track = chooseTracks(probe).video;
  const cost = { keep: 0, encode: 0, measure: 0 };
  const capabilities = { ...ALL_SOFTWARE, filters: [...ALL_SOFTWARE.filters, "libvmaf"], ffmpegVersion: "", cpus: 2 };
  const reports = await searchRateFactors(
    { source, probe, videos, groups, range: { fromMs: 0, toMs: track?.durationMs ?? 0 } },
    {
      folder,
      log: createLogger({ write: () => undefined, now: () => 0, level: "error" }),
      signal: new AbortController().signal,
      capabilities,
      run: async ({ argv }, cwd) => {
        const measures = argv.some((argument) => argument.includes("libvmaf="));
        cost[measures ? "measure" : argv.includes("ffvhuff") ? "keep" : "encode"] += await timed(ffmpeg, argv, cwd);
        return true;
      },
    },
  );
  return { reports, cpuSeconds: cost.keep + cost.encode + cost.measure, cost };
}

/** An encoded clip, in a folder of its own. */
export type EncodedClip = {
  readonly folder: string;
  readonly file: string;
  readonly spec: VideoOutput;
  readonly probe: MediaProbe;
  readonly kbps: number;
  readonly cpuSeconds: number;
};

/** Encodes the whole clip with a rate factor. */
export async function encodeClip(
  { ffmpeg, ffprobe, ...tools }: Tools,
  source: string,
  format: string,
  rateFactor: number,
): Promise<EncodedClip> {
  const output = videoOf(`${format}:x:quality=vmaf93`);
  const rate = { vmaf: 93, maxrateKbps: null, rateFactor };
  const spec: VideoOutput = { ...output, video: output.video && { ...output.video, rate } };
  const probe = await probeFile(ffprobe, source);
  const folder = await mkdtemp(join(tools.folder, "encode-"));
  const capabilities = { ...ALL_SOFTWARE, filters: [...ALL_SOFTWARE.filters, "libvmaf"] };
  const { commands } = planEncode({ source, probe, outputs: [spec], capabilities });
  const [command] = commands;
  let cpuSeconds = 0;
  for (const { argv } of command?.runs ?? []) cpuSeconds += await timed(ffmpeg, argv, folder);
  const file = join(folder, command?.outputs[0]?.files[0] ?? "");
  const seconds = (chooseTracks(probe).video?.durationMs ?? 1000) / 1000;
  return { folder, file, spec, probe, kbps: ((await stat(file)).size * 8) / 1000 / seconds, cpuSeconds };
}

/** Encodes the whole clip with a rate factor, and measures every second frame at the clip's own size. */
export async function encodeWith(tools: Tools, source: string, format: string, rateFactor: number): Promise<Encode> {
  const { folder, file, kbps, cpuSeconds } = await encodeClip(tools, source, format, rateFactor);
  const compared = "settb=1/1000,setpts=N*40,format=yuv420p";
  const graph = `[0:v]${compared}[a];[1:v]${compared}[b];[a][b]libvmaf=n_threads=2:n_subsample=2:log_fmt=json:log_path=log.json`;
  await timed(tools.ffmpeg, ["-v", "error", "-i", file, "-i", source, "-lavfi", graph, "-f", "null", "-"], folder);
  const log = JSON.parse(await readFile(join(folder, "log.json"), "utf8")) as {
    frames: { metrics: { vmaf: number } }[];
  };
  const frames = log.frames.slice(1).map(({ metrics }) => metrics.vmaf);
  return { rateFactor, kbps, cpuSeconds, frames, ...summarizeVmaf(frames) };
}
