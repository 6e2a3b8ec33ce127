// Damaged files of all kinds. Each is encoded, or fails with a code and a message, and leaves nothing behind.
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { isErrorCode } from "#shared/errors.ts";
import { type Lab, openLab, type Verdict } from "./lab.ts";
import { mutated } from "./mutate.ts";

/** Small valid files, by ffmpeg's options for them. */
const X264 = "-c:v libx264 -preset ultrafast -pix_fmt yuv420p -g 5";
const SEEDS: Readonly<Record<string, string>> = {
  "a.mp4": `${X264} -bf 2 -c:a aac`,
  "fragmented.mp4": `${X264} -c:a aac -movflags +frag_keyframe+empty_moov`,
  "a.mov": "-c:v mjpeg -c:a pcm_s16le",
  "a.mkv": "-c:v libx265 -preset ultrafast -x265-params log-level=none -pix_fmt yuv420p -c:a flac",
  "a.webm": "-c:v libvpx-vp9 -deadline realtime -cpu-used 8 -pix_fmt yuv420p -c:a libopus",
  "a.ts": `${X264} -c:a mp2`,
  "a.avi": "-c:v mpeg4 -c:a mp3",
  "a.flv": "-c:v flv1 -ar 44100 -c:a mp3",
  "a.mpg": "-c:v mpeg2video -c:a mp2 -f mpeg",
  "a.mxf": "-c:v mpeg2video -ar 48000 -c:a pcm_s16le",
  "a.asf": "-c:v msmpeg4 -c:a wmav2",
  "a.ogg": "-vn -c:a libvorbis",
  "a.flac": "-vn",
  "a.wav": "-vn",
  "a.mp3": "-vn",
  "a.gif": "-an",
  "a.png": "-an -frames:v 1",
  "a.jpg": "-an -frames:v 1",
  "a.webp": "-an -frames:v 1",
};

const LONG = process.env.COPRA_SOAK === "1";
/** Number of mutants, and of mutants at a time: a node has four slots for inspections. */
const COUNT = LONG ? 2000 : 30;
const AT_A_TIME = 2;
/** Seeds of mutants that once did harm. The short form tries them, too. */
const KNOWN: readonly number[] = [101];

/** Limit per mutant, for an inspection and three encodes on a busy machine. */
const MOST_MS = 60_000;
/**
 * ffmpeg fills a gap in the audio with silence in memory: 3.1 GB for 4.7 h (seed 1109). All other mutants of 2,000 need
 * less than 1.5 GB.
 */
const MOST_MIB = 4096;

let lab: Lab;
const originals: [name: string, bytes: Buffer][] = [];
beforeAll(async () => {
  lab = await openLab();
  for (const [name, options] of Object.entries(SEEDS)) originals.push([name, await lab.make(name, options)]);
});
afterAll(() => lab.close());

type Trial = Verdict & { readonly seed: number; readonly name: string };

async function trialOf(seed: number): Promise<Trial> {
  const [name = "", bytes = Buffer.alloc(0)] = originals[seed % originals.length] ?? [];
  const path = join(lab.folder, `mutant-${seed}`);
  await writeFile(path, mutated(bytes, seed));
  const verdict = await lab.judge(path);
  await writeFile(path, "");
  return { seed, name, ...verdict };
}

function faultsOf({ outcomes, messages, tookMs, peakMiB }: Trial): string[] {
  const unexplained = outcomes.filter((outcome, at) => outcome !== "made" && !(isErrorCode(outcome) && messages[at]));
  return [
    ...unexplained.map((outcome) => `fails without a reason: ${outcome}`),
    ...(outcomes.includes("node_failed") ? [`blames the node: ${messages.join("; ")}`] : []),
    ...(tookMs > MOST_MS ? [`takes ${tookMs} ms`] : []),
    ...(peakMiB > MOST_MIB ? [`takes ${peakMiB} MiB`] : []),
  ];
}

it("encodes undamaged files of all kinds", async () => {
  for (const [name] of originals) {
    const { outcomes } = await lab.judge(join(lab.folder, name));
    expect([name, outcomes.includes("made")]).toEqual([name, true]);
  }
});

it(`encodes ${COUNT} damaged files, or reports why not`, { timeout: LONG ? 7_200_000 : 180_000 }, async () => {
  const trials: Trial[] = [];
  const seeds = [...KNOWN, ...Array.from({ length: COUNT }, (_, at) => at)].values();
  const run = async (): Promise<void> => {
    for (const seed of seeds) trials.push(await trialOf(seed));
  };
  await Promise.all(Array.from({ length: AT_A_TIME }, run));
  if (LONG) console.log(summary(trials));
  const faulty = trials.flatMap((trial) =>
    faultsOf(trial).map((fault) => `${trial.name}, seed ${trial.seed}: ${fault}`),
  );
  expect(faulty).toEqual([]);
  expect(await lab.leftovers()).toEqual([]);
  // Otherwise the damage was so great that only headers were read, or so small that it had no effect.
  const encoded = trials.filter(({ outcomes }) => outcomes.includes("made")).length;
  expect(encoded).toBeGreaterThan(trials.length / 5);
  expect(encoded).toBeLessThan(trials.length);
});

function summary(trials: readonly Trial[]): string {
  const counts = Map.groupBy(
    trials.flatMap(({ outcomes }) => outcomes),
    (outcome) => outcome,
  );
  const words = Map.groupBy(
    trials.flatMap(({ outcomes, messages }) => messages.filter((_, at) => outcomes[at] === "encoding_failed")),
    (message) => message.replace(/\d+/g, "n"),
  );
  const top = (by: "tookMs" | "peakMiB"): string[] =>
    trials
      .toSorted((a, b) => b[by] - a[by])
      .slice(0, 5)
      .map((trial) => `${trial.name} ${trial.seed}: ${trial[by]}`);
  const bySize = (groups: Map<string, unknown[]>) =>
    [...groups].map(([key, { length }]) => [length, key]).toSorted(([a], [b]) => Number(b) - Number(a));
  return JSON.stringify(
    { outcomes: bySize(counts), slowest: top("tookMs"), largest: top("peakMiB"), words: bySize(words) },
    null,
    1,
  );
}
