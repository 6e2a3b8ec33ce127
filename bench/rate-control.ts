// Compares the rate control of a format without a bitrate with the default bitrate as a mean, and with ffmpeg's defaults.
// `node local/bootstrap.mjs bench/rate-control.ts 360p FILE...` prints the bytes and the VMAF of each.
// With `--vmaf 93`, it compares a requested VMAF with one fixed bitrate for all files instead.
import { mkdtemp, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { parseArgs } from "node:util";
import { PRESETS } from "#shared/format/presets.ts";
import { percentile } from "#shared/plan/quality/summarize-quality.ts";
import { summarizeVmaf } from "#shared/plan/vmaf/score.ts";
import { locateFfmpeg } from "../encoder-node/ffmpeg/discover/locate.ts";
import { encode, rateFactorFor, runFfmpeg, videoOf } from "./rate-control/encodes.ts";

type Score = { readonly bytes: number; readonly mean: number; readonly p5: number; readonly p1: number };

const { values, positionals } = parseArgs({ options: { vmaf: { type: "string" } }, allowPositionals: true });
const [preset = "360p", ...files] = positionals;
const mean = PRESETS.get(preset)?.bitrateKbps ?? 0;
if (!mean || files.length === 0) throw new Error("Usage: bench/rate-control.ts PRESET [--vmaf VMAF] FILE ...");

const { ffmpeg, ffprobe } =
  // Builds of distributions lack libvmaf.
  await locateFfmpeg({ ...process.env, PATH: "" });
const folder = await mkdtemp(join(tmpdir(), "copra-rates-"));
const tools = { ffmpeg, ffprobe, folder };

/** The frames that the encoder gets, without loss: the size of the preset, at most six seconds. */
async function reference(file: string): Promise<string> {
  const size = PRESETS.get(preset)?.size.height ?? 360;
  const box = `${Math.round((size * 16) / 9 / 2) * 2}:${size}`;
  const fitted = `scale=${box}:force_original_aspect_ratio=decrease,pad=${box}:-1:-1,setsar=1,format=yuv420p`;
  const path = join(folder, "reference.mkv");
  const lossless = ["-c:v", "libx264", "-qp", "0", "-preset", "ultrafast", "-g", "25"];
  await runFfmpeg(
    ffmpeg,
    ["-v", "error", "-y", "-i", file, "-t", "6", "-an", "-vf", fitted, ...lossless, path],
    folder,
  );
  return path;
}

async function encodePlain(source: string): Promise<string> {
  const path = join(folder, "plain.mp4");
  await runFfmpeg(ffmpeg, ["-v", "error", "-y", "-i", source, path], folder);
  return path;
}

/** Compares by frame number: containers round times differently. ffmpeg converts if the color tags differ. */
async function score(file: string, source: string): Promise<Score> {
  const numbered = "settb=1/25,setpts=N,setparams=colorspace=bt709";
  const measure = "libvmaf=n_threads=2:log_fmt=json:log_path=log.json";
  const graph = `[0:v]${numbered}[a];[1:v]${numbered}[b];[a][b]${measure}`;
  await runFfmpeg(ffmpeg, ["-v", "error", "-i", file, "-i", source, "-lavfi", graph, "-f", "null", "-"], folder);
  const log = JSON.parse(await readFile(join(folder, "log.json"), "utf8")) as {
    frames: { metrics: { vmaf: number } }[];
  };
  // The first frame has no motion score.
  const scores = log.frames
    .slice(1)
    .map(({ metrics }) => metrics.vmaf)
    .toSorted((a, b) => a - b);
  const { mean, percentile_1: p1 } = summarizeVmaf(scores);
  return { bytes: (await stat(file)).size, mean, p5: percentile(scores, 0.05), p1 };
}

const printed = ({ bytes, mean, p5, p1 }: Score): string =>
  `${Math.round(bytes / 1000)} kB, ${[mean, p5, p1].map((value) => value.toFixed(1)).join(" ")}`;

async function compareDefaults(): Promise<void> {
  console.log(`| clip | mean ${mean}k | mp4:${preset} | ffmpeg's defaults |\n| --- | --- | --- | --- |`);
  const totals = [0, 0, 0];
  for (const file of files) {
    const source = await reference(file);
    const scores: Score[] = [];
    for (const format of [`mp4:${preset}_${mean}k:x`, `mp4:${preset}:x`]) {
      scores.push(await score(await encode(tools, source, videoOf(format)), source));
    }
    scores.push(await score(await encodePlain(source), source));
    for (const [index, { bytes }] of scores.entries()) totals[index] = (totals[index] ?? 0) + bytes;
    console.log(`| ${basename(file)} | ${scores.map(printed).join(" | ")} |`);
  }
  console.log(`| all | ${totals.map((bytes) => `${(bytes / (totals[0] ?? 1)).toFixed(2)} ×`).join(" | ")} |`);
}

/** Fixed bitrates, as multiples of the default bitrate. */
const MULTIPLES = [0.25, 0.5, 0.75, 1, 1.25, 1.75, 2.5];

async function compareTarget(vmaf: string): Promise<void> {
  const rates = MULTIPLES.map((multiple) => Math.round(multiple * mean));
  console.log(`| ${["clip", `quality=vmaf${vmaf}`, ...rates.map((rate) => `${rate}k`)].join(" | ")} |`);
  console.log(`|${" --- |".repeat(rates.length + 2)}`);
  const columns: Score[][] = [[], ...rates.map(() => [])];
  for (const file of files) {
    const source = await reference(file);
    const output = videoOf(`mp4:h264:x:quality=vmaf${vmaf}`);
    const rateFactor = await rateFactorFor(tools, source, output);
    const rate = { vmaf: Number(vmaf), maxrateKbps: null, rateFactor };
    const searched = { ...output, video: output.video && { ...output.video, rate } };
    const fixed = rates.map((kbps) => videoOf(`mp4:${preset}_${kbps}k:x`));
    const scores: Score[] = [];
    for (const each of [searched, ...fixed]) scores.push(await score(await encode(tools, source, each), source));
    for (const [at, each] of scores.entries()) columns[at]?.push(each);
    console.log(`| ${basename(file)} | ${scores.map(printed).join(" | ")} |`);
  }
  const sums = columns.map((scores) => ({
    bytes: scores.reduce((sum, { bytes }) => sum + bytes, 0),
    p5: scores.reduce((sum, { p5 }) => sum + p5, 0) / scores.length,
  }));
  const all = sums.map(({ bytes, p5 }) => `${Math.round(bytes / 1000)} kB, ${p5.toFixed(1)}`);
  console.log(`| all: 5th percentile | ${all.join(" | ")} |`);
}

await (values.vmaf === undefined ? compareDefaults() : compareTarget(values.vmaf));
await rm(folder, { recursive: true, force: true });
