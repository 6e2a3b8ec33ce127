// copra plan: shows the plan of a job.
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { fraction, MediaProbe, type ProbedStream, rotationOf } from "#shared/media/media-probe.ts";
import { shellCommand } from "#shared/shell-quote.ts";
import type { AssumedSource, Copra, DryRunPlan, JobRequest, NewProbe } from "../../client/index.ts";
import { clientOf } from "../client.ts";
import type { Run } from "../command-spec.ts";
import type { Env } from "../connection/folders.ts";
import type { Context, Options } from "../context.ts";
import { EXIT, usageError } from "../exit.ts";
import { printable } from "../terminal/printable.ts";
import { table } from "../terminal/table.ts";
import { buildJob, newFolder, UPLOADED_LATER, withInput } from "./job-request.ts";
import { nameOf, sourceOfCommand } from "./source.ts";

export const plan: Run = async (context, [given], options) => showPlan(context, given, options);

/** Shows the plan for the given source, or for the source in the job's file. Returns the exit code. */
export async function showPlan(context: Context, given: string | undefined, options: Options): Promise<number> {
  const { env, output, now, signal, copra, target } = await clientOf(context);
  const source = sourceOfCommand(given, env, options);
  const name = given === undefined ? "output" : nameOf(given);
  const job = buildJob({ options, name, local: target.local, folder: newFolder(now()) });
  const input = source?.kind === "remote" ? source.input : (job.sections.input ?? (source && UPLOADED_LATER));
  if (!input) throw usageError("Name a source: a file, a URL or s3://bucket/key");
  const request = withInput(job, input);
  const probed =
    source?.kind === "file" ? await probeFile(source.path, env) : await probeRemote(context, copra, request);
  const dryRun = await copra.jobs.plan(request, probed ?? {}, { signal });
  const { refusals: failures } = dryRun;
  output.data(dryRun, () => planText(dryRun, output.colors.bold));
  if (probed === null) output.words(assumption(dryRun.assumed_source));
  return failures.length > 0 ? EXIT.failed : EXIT.done;
}

const assumption = ({ width, height, fps, duration, audio }: DryRunPlan["assumed_source"]): string =>
  `Assumed source: ${width}x${height}, ${fps} fps, ${duration} s, ${audio ? "with" : "without"} audio`;

type Planned = Omit<DryRunPlan, "dry_run" | "assumed_source" | "input" | "storage">;

/** The outputs, the renditions of streams, the errors and the ffmpeg commands. */
export function planText({ outputs, commands, refusals: failures }: Planned, bold: (text: string) => string): string {
  const rows = outputs.map(({ key, format, path, skipped, condition }) => [
    key,
    format,
    path ?? "",
    skipped ? `skipped: ${condition ?? ""}` : "",
  ]);
  const renditions = outputs.flatMap(({ key, renditions = [] }) =>
    renditions.map(({ video, audio, width, height, fps, packages }) => [
      `${key} ${video === null ? "audio only" : `${height}p`}`,
      video === null ? "" : `${video} ${width ?? ""}x${height ?? ""} ${fps ?? ""} fps`,
      audio ?? "no audio",
      packages.join(", "),
    ]),
  );
  return [
    table([["OUTPUT", "FORMAT", "PATH", ""].map(bold), ...rows]),
    ...(renditions.length > 0 ? ["", table([["RENDITION", "VIDEO", "AUDIO", "IN"].map(bold), ...renditions])] : []),
    ...failures.map(({ key, error }) => `\n${key}: ${error}`),
    ...commands.map((command) => `\n${bold(`# ${command.outputs.join(", ")}`)}\n${shellCommand(command.argv)}`),
  ].join("\n");
}

/** Time that a plan waits for a node to probe the source. */
const PROBE_WAIT_S = 20;

/** Returns null and reports the reason if no node has probed the source in time. */
async function probeRemote(
  { output, signal }: Context,
  copra: Copra,
  { input, settings }: JobRequest,
): Promise<AssumedSource | null> {
  const { queue, require } = settings ?? {};
  // Probes read the whole source.
  const { start: _start, end: _end, ...source } = input as Readonly<Record<string, unknown>>;
  const request = { input: source, settings: { queue, require } } as NewProbe;
  const { id, status, error } = await copra.probes.create(request, { signal, waitSeconds: PROBE_WAIT_S });
  if (status === "completed") return { probe: id };
  const why = error === undefined ? `No node has read it within ${PROBE_WAIT_S} s` : printable(error);
  output.words(`The source could not be read: ${why}`);
  return null;
}

const TIME_LIMIT_MS = 15_000;

/** Returns null if this machine has no ffprobe, or ffprobe cannot read the file. */
async function probeFile(path: string, env: Env): Promise<AssumedSource | null> {
  const argv = ["-v", "error", "-of", "json", "-show_streams", "-show_format", `file:${path}`];
  try {
    const options = { timeout: TIME_LIMIT_MS, maxBuffer: 2 ** 24 };
    const { stdout } = await promisify(execFile)(env.FFPROBE_PATH || "ffprobe", argv, options);
    return assumedSource(MediaProbe.parse(JSON.parse(stdout)));
  } catch {
    return null;
  }
}

/**
 * Returns the source facts for a dry run (worker/http/dry-run/assumed-source.ts). Omits values out of range, so that
 * the defaults apply.
 */
export function assumedSource({ streams, format }: MediaProbe): AssumedSource {
  const video = streams.find(({ codec_type }) => codec_type === "video");
  const seconds = Number(format.duration);
  const fps = fraction(video?.avg_frame_rate) ?? 0;
  const degrees = video ? rotationOf(video) : 0;
  const rotation = ([90, 180, 270] as const).find((known) => known === degrees);
  return {
    ...(within(video?.width, 16, 16_384) ? { width: video?.width } : {}),
    ...(within(video?.height, 16, 16_384) ? { height: video?.height } : {}),
    ...(within(fps, 1, 240) ? { fps: Math.round(fps * 1000) / 1000 } : {}),
    ...(seconds > 0 ? { duration: Math.min(86_400, seconds) } : {}),
    ...(rotation === undefined ? {} : { rotation }),
    tracks: streams.flatMap((stream) => trackOf(stream) ?? []).slice(0, MAX_TRACKS),
  };
}

/** The API reads no more. */
const MAX_TRACKS = 64;

function trackOf({ codec_type: type, codec_name, tags, channels, disposition = {} }: ProbedStream) {
  if (type !== "audio" && type !== "subtitle") return null;
  const { language, title } = tags ?? {};
  return {
    type,
    ...(codec_name ? { codec: codec_name } : {}),
    ...(language ? { language: language.slice(0, 100) } : {}),
    ...(title ? { title: title.slice(0, 100) } : {}),
    ...(within(channels, 1, 64) ? { channels: channels } : {}),
    dispositions: Object.keys(disposition).filter((name) => disposition[name] === 1),
  } as const;
}

const within = (value: number | undefined, least: number, most: number): boolean =>
  value !== undefined && value >= least && value <= most;
