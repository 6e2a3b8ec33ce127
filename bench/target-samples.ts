// Measures how well the samples of a requested VMAF stand for videos whose scenes are of unlike complexity, with even
// ones and with those that are chosen by the bits of the source. `node local/bootstrap.mjs bench/target-samples.ts`
// prints tables: of many videos that are mixed from encoded scenes, and of a few that are searched and encoded.
import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { createLogger } from "#shared/log.ts";
import type { KeyframeGroup } from "#shared/plan/target/sample-windows.ts";
import { scoreOf } from "#shared/plan/target/score.ts";
import { locateFfmpeg } from "../encoder-node/ffmpeg/build/locate.ts";
import { toolEnvironment } from "../encoder-node/ffmpeg/sandbox/tool-environment.ts";
import { readKeyframeGroups } from "../encoder-node/quality/keyframe-groups.ts";
import { probeFile } from "../encoder-node/source/probe/probe.ts";
import { CLIPS, makeClip } from "./target-quality/clips.ts";
import { type Encode, encodeWith, searchTogether, type Tools } from "./target-quality/encodes.ts";
import { type SceneClip, sampleErrors } from "./target-quality/mixed-videos.ts";

const VMAF = 93;
/** Seconds of the mixed videos, and how many there are of each. */
const LENGTHS = [24, 60, 120, 300];
const MIXED = 300;
/** Rate factors of their sources: from an editor's to a phone's. */
const SOURCE_FACTORS = [10, 18, 23];
const [PIECE_SECONDS, PIECES] = [5, 3];
const FORMAT = "mp4:h264";
type Scene = readonly [clip: string, seconds: number];
/** A minute each. */
const VIDEOS: readonly (readonly Scene[])[] = [
  [
    ["talk", 18],
    ["grain", 6],
    ["animation", 12],
    ["motion", 8],
    ["screen", 10],
    ["detail", 6],
  ],
  [
    ["animation", 22],
    ["motion", 12],
    ["talk", 16],
    ["detail", 10],
  ],
  [
    ["screen", 15],
    ["grain", 15],
    ["animation", 15],
    ["talk", 15],
  ],
];

/** Encodes each clip as a source, and that once more, as all videos that are mixed from it have it. */
async function sceneClips(tools: Tools, sourceFactor: number): Promise<SceneClip[]> {
  const scenes: SceneClip[] = [];
  for (const clip of Object.keys(CLIPS)) {
    const lossless = await makeClip(tools, clip, PIECE_SECONDS * PIECES);
    const path = join(tools.folder, "scene.mp4");
    const keyframes = `keyint=${25 * PIECE_SECONDS}:scenecut=0`;
    const encode = `-c:v libx264 -preset veryfast -crf ${sourceFactor} -x264-params ${keyframes}`.split(" ");
    await run(tools, ["-i", lossless, ...encode, path]);
    const groups = await groupsOf(tools, path);
    const { frames } = await encodeWith(tools, path, FORMAT, 24);
    const each = Math.floor(frames.length / PIECES);
    scenes.push(
      groups.map(({ bytes }, at) => ({
        ...{ bytes, ms: PIECE_SECONDS * 1000 },
        vmaf: frames.slice(at * each, (at + 1) * each),
      })),
    );
  }
  return scenes;
}

async function measureMixed(tools: Tools): Promise<void> {
  console.log("| source | length, samples | mean error, even | by bits | 95 % are below, even | by bits |");
  console.log("| --- | --- | --- | --- | --- | --- |");
  for (const factor of SOURCE_FACTORS) {
    const scenes = await sceneClips(tools, factor);
    for (const seconds of LENGTHS) {
      const { samples, even, byBits } = sampleErrors(scenes, seconds * 1000, MIXED);
      const sizes = [even, byBits].map((errors) => errors.map(Math.abs).toSorted((a, b) => a - b));
      const means = sizes.map((errors) => errors.reduce((sum, error) => sum + error, 0) / errors.length);
      const most = sizes.map((errors) => errors[Math.floor(errors.length * 0.95)] ?? 0);
      const cells = [...means, ...most].map((value) => value.toFixed(2));
      console.log(`| crf ${factor} | ${[`${seconds} s, ${samples}`, ...cells].join(" | ")} |`);
    }
  }
}

const run = ({ ffmpeg }: Tools, argv: readonly string[]) =>
  promisify(execFile)(ffmpeg.path, ["-v", "error", "-y", ...argv], { env: toolEnvironment() });

async function groupsOf({ ffprobe }: Tools, path: string): Promise<KeyframeGroup[]> {
  const log = createLogger({ write: () => undefined, now: () => 0, level: "error" });
  const probe = await probeFile(ffprobe, path);
  return readKeyframeGroups({ path, probe }, { ffprobe, log, signal: new AbortController().signal });
}

/** Encodes the scenes as a camera or an editor would, and returns the file. */
async function makeVideo(tools: Tools, scenes: readonly Scene[]): Promise<string> {
  const clips: string[] = [];
  for (const [clip, seconds] of scenes) clips.push(await makeClip(tools, clip, seconds));
  const graph = `${clips.map((_, at) => `[${at}:v]`).join("")}concat=n=${clips.length}:v=1:a=0[v]`;
  const encode = "-map [v] -c:v libx264 -preset veryfast -crf 14 -g 125".split(" ");
  const file = join(tools.folder, "video.mp4");
  await run(tools, [...clips.flatMap((clip) => ["-i", clip]), "-filter_complex", graph, ...encode, file]);
  return file;
}

async function measureVideo(tools: Tools, scenes: readonly Scene[]): Promise<void> {
  const path = await makeVideo(tools, scenes);
  const groups = await groupsOf(tools, path);
  const encodes = new Map<number, Encode>();
  for (const [name, known] of [
    ["even", []],
    ["by bits", groups],
  ] as const) {
    const { reports, cpuSeconds } = await searchTogether(tools, path, [`${FORMAT}:x:quality=vmaf${VMAF}`], known);
    const [report] = reports;
    if (!report?.measured) throw new Error("Nothing was measured");
    const { rateFactor, measured } = report;
    const whole = encodes.get(rateFactor) ?? (await encodeWith(tools, path, FORMAT, rateFactor));
    encodes.set(rateFactor, whole);
    const [score, sampled] = [scoreOf(whole), scoreOf(measured)];
    const cells = [
      ...[scenes.map(([clip, seconds]) => `${clip} ${seconds}`).join(", "), name, rateFactor, sampled.toFixed(1)],
      ...[score.toFixed(1), (score - sampled).toFixed(1), Math.round(whole.kbps)],
      (cpuSeconds / whole.cpuSeconds).toFixed(2),
    ];
    console.log(`| ${cells.join(" | ")} |`);
  }
}

async function measureSearches(tools: Tools): Promise<void> {
  console.log(
    "\n| scenes, s | samples | rate factor | score in samples | of the whole | difference | kbit/s | search |",
  );
  console.log("| --- | --- | --- | --- | --- | --- | --- | --- |");
  for (const scenes of VIDEOS) await measureVideo(tools, scenes);
}

// Those of distributions lack libvmaf.
const { ffmpeg, ffprobe } = await locateFfmpeg({ ...process.env, PATH: "" });
const folder = await mkdtemp(join(tmpdir(), "copra-samples-"));
try {
  await measureMixed({ ffmpeg, ffprobe, folder });
  await measureSearches({ ffmpeg, ffprobe, folder });
} finally {
  await rm(folder, { recursive: true, force: true });
}
