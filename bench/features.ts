// Measures the CPU time of audio tracks, loudness and captions: of whole tasks of a node, as a multiple of the same
// task without them. `node local/bootstrap.mjs bench/features.ts [seconds] [rounds]` prints the median of the rounds.
import { readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { processSource } from "../encoder-node/testing/jobs/process-source.ts";
import { closeServers } from "../encoder-node/testing/range-server.ts";
import { openWorkshop } from "../encoder-node/testing/source-workshop.ts";
import { timeText } from "../shared/media/clock-time.ts";
import { median } from "./speed/job-timing.ts";

const TASKS: readonly (readonly [name: string, format: string, params: Readonly<Record<string, unknown>>])[] = [
  ["mp4", "mp4", {}],
  ["a second audio track", "mp4", { audio: [{ from: 1 }, { from: 2 }] }],
  ["loudness: measure", "mp4", { loudness: "measure" }],
  ["loudness: -16", "mp4", { loudness: -16 }],
  ["subtitles: all", "mp4", { subtitles: "all" }],
  ["burn", "mp4", { burn: { from: 1 } }],
  ["vtt alone", "vtt", { from: 1 }],
];

/** CPU seconds of this process and of its children that have ended (proc(5): fields 14 to 17, in 1/100 s). */
function cpuSeconds(): number {
  const fields = readFileSync("/proc/self/stat", "utf8").replace(/^.*\)/s, "").trim().split(" ");
  return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) / 100;
}

async function main(seconds: number, rounds: number): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "copra-features-"));
  try {
    const cues = Array.from({ length: seconds }, (_, at) =>
      [at * 1000, at * 1000 + 900].map((ms) => timeText(ms, ",")),
    );
    await writeFile(
      join(folder, "a.srt"),
      cues.map(([from, to], at) => `${at}\n${from} --> ${to}\nTwo\nlines\n`).join("\n"),
    );
    const noise = `anoisesrc=c=pink:a=0.3:r=48000:d=${seconds}`;
    const clip = `testsrc2=s=1920x1080:r=25:d=${seconds},noise=alls=6:allf=t,format=yuv420p`;
    const inputs = `-f lavfi -i ${clip} -f lavfi -i ${noise}:seed=1 -f lavfi -i ${noise}:seed=2 -i a.srt`;
    const options = "-map 0 -map 1 -map 2 -map 3 -ac 2 -c:v libx264 -preset veryfast -crf 18 -c:a aac -c:s srt";
    const source = await openWorkshop(folder).make("source.mkv", `${inputs} ${options}`);
    const costs = TASKS.map((): number[] => []);
    for (let round = 0; round < rounds; round++) {
      for (const [at, [, format, params]] of TASKS.entries()) {
        const before = cpuSeconds();
        const { outputs } = await processSource(source, [{ format, params }]);
        if (!outputs[0]?.ok) throw new Error(outputs[0]?.failure.message);
        costs[at]?.push(cpuSeconds() - before);
      }
    }
    console.log("| task | CPU s | mp4 = 1 |\n| --- | --- | --- |");
    const base = median(costs[0] ?? []);
    for (const [at, [name]] of TASKS.entries()) {
      const cost = median(costs[at] ?? []);
      console.log(`| ${name} | ${cost.toFixed(1)} | ${(cost / base).toFixed(3)} |`);
    }
  } finally {
    closeServers();
    await rm(folder, { recursive: true, force: true });
  }
}

await main(Number(process.argv[2] ?? 20), Number(process.argv[3] ?? 3));
