// Searches and encodes as a node does.
import { execFile } from "node:child_process";
import { mkdtemp } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import type { VideoOutput } from "#shared/job/output-spec.ts";
import { createLogger } from "#shared/log.ts";
import { ALL_SOFTWARE } from "#shared/plan/encoders/software-encoders.ts";
import { chooseTracks } from "#shared/plan/source/source-tracks.ts";
import { planEncode } from "#shared/plan/tasks/plan-encode.ts";
import { parseOutputs } from "#shared/request/outputs/outputs-section.ts";
import type { Tool } from "../../encoder-node/ffmpeg/discover/locate.ts";
import { toolEnvironment } from "../../encoder-node/ffmpeg/sandbox/tool-environment.ts";
import { searchRateFactors } from "../../encoder-node/quality/search-rate-factor.ts";
import { probeFile } from "../../encoder-node/source/probe/probe.ts";

export type Tools = { readonly ffmpeg: Tool; readonly ffprobe: Tool; readonly folder: string };

const CAPABILITIES = { ...ALL_SOFTWARE, filters: [...ALL_SOFTWARE.filters, "libvmaf"], ffmpegVersion: "", cpus: 2 };

export async function runFfmpeg(ffmpeg: Tool, argv: readonly string[], cwd: string): Promise<void> {
  await promisify(execFile)(ffmpeg.path, argv, { cwd, env: toolEnvironment(), maxBuffer: 1e8 });
}

export function videoOf(format: string): VideoOutput {
  const parsed = parseOutputs({ [format]: { path: "/x" } }, "none");
  if (!parsed.ok) throw new Error(parsed.error.message);
  const [spec] = parsed.value;
  if (spec?.type !== "video") throw new Error(`${format} is no video`);
  return spec;
}

/** The rate factor for an output with a requested VMAF. The samples are evenly spaced. */
export async function rateFactorFor({ ffmpeg, ffprobe, folder }: Tools, source: string, output: VideoOutput) {
  const { video } = output;
  if (!video || video.codec === "copy") throw new Error("There is no video to encode");
  const probe = await probeFile(ffprobe, source);
  const tracks = chooseTracks(probe);
  const range = { fromMs: 0, toMs: tracks.video?.durationMs ?? 0 };
  const [report] = await searchRateFactors(
    { source, tracks, videos: [{ output, video: { ...video, codec: video.codec } }], groups: [], range },
    {
      folder,
      log: createLogger({ write: () => undefined, now: () => 0, level: "error" }),
      signal: new AbortController().signal,
      capabilities: CAPABILITIES,
      run: ({ argv }, cwd) => runFfmpeg(ffmpeg, argv, cwd).then(() => true),
    },
  );
  if (!report) throw new Error("Nothing was searched");
  return report.rate_factor;
}

/** Encodes an output as a node does, in a folder of its own. Returns its file. */
export async function encode({ ffmpeg, ffprobe, folder }: Tools, source: string, output: VideoOutput): Promise<string> {
  const cwd = await mkdtemp(join(folder, "encode-"));
  const probe = await probeFile(ffprobe, source);
  const { commands } = planEncode({ source, probe, outputs: [output], capabilities: CAPABILITIES });
  for (const { argv } of commands.flatMap(({ runs }) => runs)) await runFfmpeg(ffmpeg, argv, cwd);
  return join(cwd, commands[0]?.outputs[0]?.files[0] ?? "");
}
