// Encodes a clip in chunks that are joined, and as a whole, and decodes both for comparison.

import { execFile } from "node:child_process";
import { appendFile, mkdtemp, readFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import type { OutputSpec } from "#shared/job/output-spec.ts";
import { chunkSpans } from "#shared/plan/chunks/choose-split-points.ts";
import { chunkableSource } from "#shared/plan/chunks/chunkable-source.ts";
import type { PlannedRun } from "#shared/plan/command/planned-run.ts";
import { ALL_SOFTWARE } from "#shared/plan/encoders/software-encoders.ts";
import type { PlannedOutput } from "#shared/plan/outputs/output-plan.ts";
import { planAudio } from "#shared/plan/tasks/plan-audio.ts";
import { type ChunkTrack, planChunk } from "#shared/plan/tasks/plan-chunk.ts";
import { planEncode } from "#shared/plan/tasks/plan-encode.ts";
import { planJoin } from "#shared/plan/tasks/plan-join.ts";
import { type OutputOptions, specOf } from "#shared/testing/output-specs.ts";
import { toolEnvironment } from "../../ffmpeg/sandbox/tool-environment.ts";
import { readFrameIndex } from "../../source/frame-index/frame-index.ts";
import { FFMPEG, FFPROBE, probeClip, REFERENCE_FFMPEG, tested } from "../plan-runs.ts";

const { ffprobe } = tested;
const options = { env: toolEnvironment(), maxBuffer: 64 * 1024 * 1024 } as const;
const execute = promisify(execFile);

/** Short, so that chunks of clips of a few seconds do not start before the file. */
const PREROLL_MS = 3700;

/** Changes the arguments of every run, for the whole clip and for chunks. A run without arguments is skipped. */
export type Tweak = (argv: readonly string[]) => string[];

/** Writes the files that a run reads besides its source. */
type Prepare = (argv: readonly string[], cwd: string) => Promise<void>;
type Change = { readonly tweak: Tweak; readonly prepare: Prepare };

const RATES = "-preset -crf -b:v -maxrate -bufsize -profile:v -x264-params -pass -passlogfile".split(" ");

/** Makes x264 lossless, so that output frames equal input frames: removes options for rate and speed. */
export const lossless: Tweak = (argv) => {
  if (argv.includes("-pass") && argv[argv.indexOf("-pass") + 1] === "1") return [];
  const swapped: string[] = [];
  for (let at = 0; at < argv.length; at++) {
    const option = argv[at] ?? "";
    if (RATES.includes(option)) at += 1;
    else swapped.push(...(option === "libx264" ? [option, "-preset", "ultrafast", "-bf", "2", "-qp", "0"] : [option]));
  }
  return swapped;
};

export type Made = { readonly folder: string; readonly outputs: readonly PlannedOutput[] };
export type Both = { readonly whole: Made; readonly joined: Made; readonly chunks: readonly (readonly ChunkTrack[])[] };

/** Makes outputs of a clip as a whole, and in chunks that start at the first split points after these seconds. */
export async function makeBoth(
  clip: string,
  requests: readonly OutputOptions[],
  at: readonly number[],
  tweak: Tweak,
  prepare: Prepare = async () => undefined,
  watermarks: ReadonlyMap<string, string> = new Map(),
): Promise<Both> {
  const probe = await probeClip(clip);
  const outputs = requests.map(specOf);
  const capabilities = { ...ALL_SOFTWARE, ffmpegVersion: tested.ffmpeg.version };
  const request = { source: clip, probe, outputs, capabilities, watermarks };
  const whole = await madeOf(planEncode(request).commands, clip, { tweak, prepare });
  const joined = await makeChunked(request, at, { tweak, prepare });
  return { whole, ...joined };
}

type Request = Parameters<typeof planEncode>[0] & { readonly outputs: readonly OutputSpec[] };

async function makeChunked(request: Request, at: readonly number[], change: Change): Promise<Omit<Both, "whole">> {
  const { source, probe, outputs } = request;
  const streamIndex = probe.streams.find(({ codec_type }) => codec_type === "video")?.index ?? 0;
  const reading = await readFrameIndex(ffprobe, { path: source }, streamIndex, AbortSignal.timeout(60_000));
  if (!reading.ok) throw new Error(reading.error);
  const chunkable = chunkableSource(reading.value, probe);
  const splits = at.flatMap(
    (second) => chunkable.splitPoints.find(({ frameUs }) => frameUs >= second * 1e6 - 500) ?? [],
  );
  const spans = chunkSpans(chunkable, splits);
  if (spans.length !== at.length + 1) throw new Error("Too few split points");
  const folder = await mkdtemp(path.join(path.dirname(source), "joined-"));
  const chunks: (readonly ChunkTrack[])[] = [];
  for (const chunk of spans) {
    const { command, failures } = planChunk({ ...request, chunk, prerollMs: PREROLL_MS });
    if (!command || failures.length > 0) throw new Error(failures[0]?.failure.message);
    const chunkFolder = await mkdtemp(path.join(path.dirname(source), "chunk-"));
    await runAll(command.runs, chunkFolder, change);
    for (const { file } of command.tracks)
      await join(path.join(chunkFolder, file), path.join(folder, file), chunk.index === 0);
    chunks.push(command.tracks);
  }
  const audio = planAudio(request);
  await runAll(audio.command?.runs ?? [], folder, change);
  const last = planJoin({ probe, outputs, capabilities: ALL_SOFTWARE });
  await runAll(last.runs, folder, { ...change, tweak: (argv) => [...argv] });
  return { joined: { folder, outputs: last.outputs }, chunks };
}

async function madeOf(
  commands: readonly { runs: readonly PlannedRun[]; outputs: readonly PlannedOutput[] }[],
  clip: string,
  change: Change,
): Promise<Made> {
  const folder = await mkdtemp(path.join(path.dirname(clip), "whole-"));
  for (const { runs } of commands) await runAll(runs, folder, change);
  return { folder, outputs: commands.flatMap((command) => command.outputs).toSorted((a, b) => a.output - b.output) };
}

async function runAll(runs: readonly PlannedRun[], cwd: string, { tweak, prepare }: Change): Promise<void> {
  for (const argv of runs.map((run) => tweak(run.argv)).filter(({ length }) => length > 0)) {
    await prepare(argv, cwd);
    const { stderr } = await execute(FFMPEG, argv, { ...options, cwd, env: toolEnvironment(cwd) });
    // Decoding that starts within an open GOP reports missing references. Those frames are trimmed.
    const errors = stderr
      .split("\n")
      .filter((line) => !/^$|mmco: unref short failure|Last message repeated/.test(line));
    if (errors.length > 0) throw new Error(errors.join("\n"));
  }
}

/** Appends a chunk to a track. Throws when its header differs from the first chunk's. */
async function join(chunk: string, track: string, isFirst: boolean): Promise<void> {
  const bytes = await readFile(chunk);
  const head = bytes.subarray(0, bytes.indexOf("moof") - 4);
  const trackHead = isFirst ? head : (await readFile(track)).subarray(0, head.length);
  if (!head.equals(trackHead)) throw new Error("Chunk header differs");
  await appendFile(track, isFirst ? bytes : bytes.subarray(head.length));
}

/** The decoded content of a file. */
export type Shown = {
  /** True if the container has presentation times. Otherwise times and keyframes are guesses. */
  readonly isTimed: boolean;
  readonly frames: readonly { readonly hash: string; readonly seconds: number; readonly isKey: boolean }[];
  /** The hash of all audio samples; null without audio. */
  readonly audio: string | null;
  /** Start and end of each track, in seconds. */
  readonly spans: readonly (readonly [start: number, end: number])[];
};

const Probed = {
  entries: "stream=codec_type,start_time,duration:packet=codec_type,pts_time,duration_time,flags",
} as const;
type Probed = {
  readonly packets: readonly { codec_type: string; pts_time?: string; duration_time?: string; flags: string }[];
  readonly streams: readonly { codec_type: string }[];
};

/** Decodes a file. */
export async function look(file: string): Promise<Shown> {
  const argv = ["-v", "error", "-show_entries", Probed.entries, "-of", "json", file];
  const probed = JSON.parse((await execute(FFPROBE, argv, options)).stdout) as Probed;
  const keys = new Set(
    probed.packets
      .filter(
        ({ codec_type, pts_time, flags }) => codec_type === "video" && pts_time !== undefined && flags.startsWith("K"),
      )
      .map(({ pts_time }) => Number(pts_time).toFixed(4)),
  );
  const kinds = probed.streams.map(({ codec_type }) => codec_type);
  const times = "-copyts -fps_mode passthrough -enc_time_base:v -1 -f framehash -hash murmur3".split(" ");
  const decode = ["-v", "error", "-copyts", "-i", file, "-map", "0:v", ...times, "-"];
  const video = kinds.includes("video") ? (await execute(REFERENCE_FFMPEG, decode, options)).stdout : "";
  const hash = ["-v", "error", "-i", file, "-map", "0:a", "-f", "hash", "-hash", "md5", "-"];
  const audio = kinds.includes("audio") ? (await execute(REFERENCE_FFMPEG, hash, options)).stdout.trim() : null;
  const spans = kinds.flatMap((kind) => {
    // AVI has no presentation times.
    const timed = probed.packets.filter(({ codec_type, pts_time }) => codec_type === kind && pts_time !== undefined);
    const starts = timed.map(({ pts_time }) => Number(pts_time));
    const ends = timed.map(({ pts_time, duration_time = "0" }) => Number(pts_time) + Number(duration_time));
    return timed.length === 0 ? [] : [[Math.min(...starts), Math.max(...ends)] as const];
  });
  return { isTimed: keys.size > 0, frames: framesOf(video, keys), audio, spans };
}

function framesOf(text: string, keys: ReadonlySet<string>): Shown["frames"] {
  const [, num = 1, den = 1] = (/^#tb 0: (\d+)\/(\d+)$/m.exec(text) ?? []).map(Number);
  const rows = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  return rows.map((row) => {
    const [, , pts = "", , , hash = ""] = row.split(",").map((field) => field.trim());
    const seconds = (Number(pts) * num) / den;
    return { hash, seconds, isKey: keys.has(seconds.toFixed(4)) };
  });
}
