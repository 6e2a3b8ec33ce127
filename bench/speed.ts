// Compares the speed of a single job with the ffmpeg commands that an engineer would type: `node local/bootstrap.mjs
// bench/speed.ts typical [rounds] [seconds]`, `… short [rounds]`, `… throttled [rounds] [seconds] [rate]`. Each starts
// its own system.
import { createWriteStream } from "node:fs";
import { mkdir, mkdtemp, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { Copra, type JobRequest } from "../client/index.ts";
import { locateFfmpeg } from "../encoder-node/ffmpeg/discover/locate.ts";
import { storageOf } from "../local/demo/demo-job.ts";
import { serveLoopback } from "../local/demo/loopback-server.ts";
import { sendFile } from "../local/demo/send-file.ts";
import { readSettings } from "../local/home/settings.ts";
import { type Stack, startStack } from "../local/stack/stack.ts";
import { commandPerOutput, singleCommand, timeByHand, type Wanted } from "./speed/by-hand.ts";
import { makeGrainClip } from "./speed/clips.ts";
import { median, timeJob } from "./speed/job-timing.ts";
import { PacedLink, startPacedProxy } from "./speed/pacing.ts";

type Bench = {
  readonly ffmpeg: string;
  readonly folder: string;
  readonly stack: Stack;
  readonly client: Copra;
  readonly sourceUrl: string;
  /** Target of uploads by hand. */
  readonly uploadUrl: string;
};

const seconds = (ms: number): string => (ms / 1000).toFixed(2);

/** Runs all rows in each round, one after the other, so that other load on the machine affects all rows. */
async function compare(
  rounds: number,
  rows: Readonly<Record<string, (round: number) => Promise<number>>>,
): Promise<Record<string, number[]>> {
  const times: Record<string, number[]> = Object.fromEntries(Object.keys(rows).map((name) => [name, []]));
  for (let round = 0; round < rounds; round++) {
    for (const [name, measure] of Object.entries(rows)) {
      const ms = await measure(round);
      times[name]?.push(ms);
      console.log(`round ${round + 1}  ${name}: ${seconds(ms)} s`);
    }
  }
  return times;
}

/** Prints the job's time relative to each other row: the median over the rounds, as a multiple and in seconds more. */
function printRatios({ job = [], ...others }: Record<string, readonly number[]>): void {
  console.log("\n| | median s | job, this = 1 | job, s more |\n| --- | --- | --- | --- |");
  console.log(`| job | ${seconds(median(job))} | 1.00 | |`);
  for (const [name, times] of Object.entries(others)) {
    const ratio = median(job.map((ms, at) => ms / (times[at] ?? Number.NaN)));
    const more = median(job.map((ms, at) => ms - (times[at] ?? Number.NaN)));
    console.log(`| ${name} | ${seconds(median(times))} | **${ratio.toFixed(2)}** | ${seconds(more)} |`);
  }
}

const outputsOf = ({ videos, thumbnails }: Wanted, folder: string): JobRequest["outputs"] => ({
  ...Object.fromEntries(
    videos.map(({ size, kbps }) => {
      const [, height] = size.split(":");
      return [`mp4:${height}p`, { path: `${folder}/${kbps}.mp4` }];
    }),
  ),
  ...(thumbnails > 0 ? { "jpg:320x": { path: `${folder}/%02d.jpg`, number: thumbnails } } : {}),
});

const jobOf = (bench: Bench, wanted: Wanted, folder: string): JobRequest => ({
  input: { url: bench.sourceUrl },
  storage: storageOf(bench.stack.describe()),
  outputs: outputsOf(wanted, folder),
  notification: { type: "http", url: "http://127.0.0.1:9/" },
});

/** Sizes and bitrates of the service for these formats. */
const SMALL = [
  { size: "1280:720", kbps: 2000 },
  { size: "854:480", kbps: 1000 },
  { size: "426:240", kbps: 500 },
] as const;

async function typical(bench: Bench, rounds: number, length: number): Promise<void> {
  const wanted: Wanted = { videos: SMALL, thumbnails: 10, seconds: length };
  const byHand = (commands: string[][], name: string) => (round: number) =>
    timeByHand(bench.ffmpeg, commands, join(bench.folder, `${name}-${round}`), bench);
  const times = await compare(rounds, {
    job: async (round) => {
      const { id, ms } = await timeJob(bench.client, jobOf(bench, wanted, `typical-${round}`));
      await printTimeline(bench.stack.home, id);
      return ms;
    },
    "one command for all outputs": byHand(singleCommand(wanted), "single"),
    "a script with one command for each output": byHand(commandPerOutput(wanted), "script"),
  });
  printRatios(times);
}

async function short(bench: Bench, rounds: number): Promise<void> {
  const wanted: Wanted = { videos: SMALL.slice(0, 1), thumbnails: 0, seconds: 2 };
  const times = await compare(rounds, {
    job: async (round) => {
      const { id, ms } = await timeJob(bench.client, jobOf(bench, wanted, `short-${round}`));
      await printTimeline(bench.stack.home, id);
      return ms;
    },
    "job, read every 20 ms": async (round) =>
      (await timeJob(bench.client, jobOf(bench, wanted, `read-${round}`), "read")).ms,
    "the command with its transfers": (round) =>
      timeByHand(bench.ffmpeg, singleCommand(wanted), join(bench.folder, `short-${round}`), bench),
  });
  printRatios(times);
}

/** Throttles source and storage: each transfer takes `rate` times as long as the command alone. */
async function throttled(bench: Bench, rounds: number, length: number, rate: number): Promise<void> {
  const wanted: Wanted = { videos: [{ size: "1920:1080", kbps: 4000 }], thumbnails: 0, seconds: length };
  const alone = await timeByHand(bench.ffmpeg, singleCommand(wanted), join(bench.folder, "alone"), bench);
  const bytesIn = (await stat(join(bench.folder, "source.mp4"))).size;
  const bytesOut = (await stat(join(bench.folder, "alone", "4000.mp4"))).size;
  const linkMs = alone * rate;
  const [down, up] = [new PacedLink((bytesIn / linkMs) * 1000), new PacedLink((bytesOut / linkMs) * 1000)];
  const port = (url: string): number => Number(new URL(url).port);
  const { s3 } = bench.stack.describe();
  const source = await startPacedProxy(port(bench.sourceUrl), new PacedLink(1e12), down);
  const storage = await startPacedProxy(port(s3.endpoint), up, null);
  console.log(`in ${seconds(linkMs)} s (${bytesIn} bytes), encode ${seconds(alone)} s, out ${seconds(linkMs)} s`);
  const slowed = { ...bench, sourceUrl: `${source.origin}/source.mp4` };
  try {
    const times = await compare(rounds, {
      job: async (round) => {
        const job = {
          ...jobOf(slowed, wanted, `throttled-${round}`),
          storage: storageOf({ s3: { ...s3, endpoint: storage.origin } }),
        };
        const { id, ms } = await timeJob(bench.client, job);
        await printTimeline(bench.stack.home, id);
        return ms;
      },
    });
    const most = Math.max(alone, linkMs);
    console.log(`job / max(in, encode, out): ${(median(times.job ?? []) / most).toFixed(2)}`);
  } finally {
    source.close();
    storage.close();
  }
}

/** Prints the lines about a job in the logs of the node and the control plane, with ms since the first line. */
async function printTimeline(home: string, id: string): Promise<void> {
  if (process.env.LOG_LEVEL !== "debug") return;
  const texts = await Promise.all(
    ["node-1", "control-plane"].map((name) => readFile(join(home, `${name}.log`), "utf8").catch(() => "")),
  );
  const lines = texts
    .flatMap((text) => text.split("\n"))
    .filter((line) => line.includes(id))
    .map((line) => ({ line, at: Date.parse(/\d{4}-\d\d-\d\dT[\d:.]+Z/.exec(line)?.[0] ?? "") }))
    .toSorted((a, b) => a.at - b.at);
  for (const { line, at } of lines) console.log(`${at - (lines[0]?.at ?? 0)}  ${line.slice(0, 300)}`);
}

async function main([kind = "typical", rounds = "3", ...more]: readonly string[]): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "copra-speed-"));
  const { ffmpeg } = await locateFfmpeg(process.env);
  const length = kind === "short" ? 2 : Number(more[0] ?? 30);
  const clip = join(folder, "source.mp4");
  await makeGrainClip(ffmpeg.path, clip, length);
  const stack = await startStack(
    readSettings({ COPRA_HOME: join(folder, "home"), COPRA_PORT: "0", COPRA_S3_PORT: "0" }),
  );
  await mkdir(join(folder, "uploads"));
  const server = await serveLoopback((request, response) => {
    if (request.method !== "PUT") return void sendFile(request, response, clip);
    const name = (request.url ?? "").replaceAll("/", "-");
    void pipeline(request, createWriteStream(join(folder, "uploads", name))).then(() => response.end());
  });
  try {
    const { api, apiKey } = stack.describe();
    const urls = { sourceUrl: `${server.origin}/source.mp4`, uploadUrl: `${server.origin}/put` };
    const bench = {
      ffmpeg: ffmpeg.path,
      folder,
      stack,
      client: new Copra({ url: new URL(api).origin, key: apiKey }),
      ...urls,
    };
    // The first job after a start takes longer: the runtime loads the Worker's objects.
    const first: Wanted = { videos: SMALL.slice(2), thumbnails: 0, seconds: length };
    await timeJob(bench.client, jobOf(bench, first, "first"));
    if (kind === "short") await short(bench, Number(rounds));
    else if (kind === "throttled") await throttled(bench, Number(rounds), length, Number(more[1] ?? 1));
    else await typical(bench, Number(rounds), length);
  } finally {
    await stack.stop(0);
    await server.close();
    await rm(folder, { recursive: true, force: true });
  }
}

await main(process.argv.slice(2));
