// Measures the quality at chunk boundaries: the system encodes a video of many scenes without and with chunks, and both
// results are compared with the source, second by second.
// `node local/bootstrap.mjs bench/chunk-boundaries.ts [seconds] [size]` prints a row for each kind of rate.
import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import * as z from "zod";
import { UltrafastReceipt } from "#shared/job/metadata.ts";
import { locateFfmpeg } from "../encoder-node/ffmpeg/build/locate.ts";
import { toolEnvironment } from "../encoder-node/ffmpeg/sandbox/tool-environment.ts";
import { apiClient } from "../local/demo/api-client.ts";
import { storageOf } from "../local/demo/demo-job.ts";
import { serveLoopback } from "../local/demo/loopback-server.ts";
import { sendFile } from "../local/demo/send-file.ts";
import { basicAuth } from "../local/stack/access.ts";
import { startStack } from "../local/stack/stack.ts";

const run = promisify(execFile);
const options = { env: toolEnvironment(), maxBuffer: 1e8 };
const { ffmpeg } = await locateFfmpeg(process.env);
const FPS = 25;
const NODES = 3;

/** Output formats by their kind of rate. */
const RATES = {
  "constant quality": "mp4:::quality=3",
  "constant quality, HEVC": "mp4:hevc::quality=3",
  "quality under a cap": "mp4:::quality=3,maxrate=500k",
  "mean bitrate": "mp4:500k",
} as const;

/** Scenes that need different bitrates, and have different lengths. */
const SCENES: readonly ((size: string, at: number) => string)[] = [
  (size) => `testsrc2=s=${size}:r=${FPS},rotate=0.05*sin(t),noise=alls=6:allf=t`,
  (size, at) =>
    `mandelbrot=s=${size}:r=${FPS}:maxiter=300:start_scale=${1 / (at + 1)}:end_scale=0.01:end_pts=200,noise=alls=4:allf=t`,
  (size) => `gradients=s=${size}:r=${FPS}:speed=0.02`,
  (size, at) => `cellauto=s=${size}:r=${FPS}:rule=${[18, 30, 110][at % 3]}`,
];

async function makeSource(folder: string, seconds: number, size: string): Promise<string> {
  const names: string[] = [];
  for (let [at, done] = [0, 0]; done < seconds; at++) {
    const length = Math.min(2 + ((at * 5) % 7), seconds - done);
    const name = `scene-${at}.mp4`;
    const graph = `${SCENES[at % SCENES.length]?.(size, at)},format=yuv420p`;
    const coded = ["-c:v", "libx264", "-crf", "12", "-preset", "veryfast", "-g", "50"];
    await run(
      ffmpeg.path,
      ["-v", "error", "-f", "lavfi", "-i", graph, "-t", String(length), ...coded, join(folder, name)],
      options,
    );
    names.push(name);
    done += length;
  }
  await writeFile(join(folder, "list.txt"), names.map((name) => `file ${name}\n`).join(""));
  const source = join(folder, "source.mp4");
  await run(
    ffmpeg.path,
    ["-v", "error", "-f", "concat", "-i", join(folder, "list.txt"), "-c", "copy", source],
    options,
  );
  return source;
}

/** The mean VMAF of each second of `file`. */
async function vmafOf(file: string, source: string, folder: string): Promise<number[]> {
  const log = join(folder, "vmaf.json");
  const graph = `[0:v]setpts=N[encoded];[1:v]setpts=N[source];[encoded][source]libvmaf=log_fmt=json:log_path=${log}:n_threads=2`;
  await run(ffmpeg.path, ["-v", "error", "-i", file, "-i", source, "-lavfi", graph, "-f", "null", "-"], options);
  const Log = z.object({ frames: z.array(z.object({ metrics: z.object({ vmaf: z.number() }) })) });
  const scores = Log.parse(JSON.parse(await readFile(log, "utf8"))).frames.map(({ metrics }) => metrics.vmaf);
  return Array.from({ length: Math.ceil(scores.length / FPS) }, (_, at) =>
    mean(scores.slice(at * FPS, (at + 1) * FPS)),
  );
}

const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;

async function main(seconds = "150", size = "384x216"): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "copra-chunk-boundaries-"));
  const source = await makeSource(folder, Number(seconds), size);
  const server = await serveLoopback((request, response) => sendFile(request, response, source));
  const stack = await startStack(
    { home: join(folder, "home"), port: 0, s3Port: 0, nodes: NODES },
    { notify: () => {} },
  );
  const { api: apiUrl, apiKey, s3 } = stack.describe();
  const api = apiClient(apiUrl, apiKey);

  /** Encodes the source; returns the paths of the results, and the chunk boundaries in seconds. */
  async function encode(name: string, ultrafast: boolean): Promise<{ files: string[]; boundaries: number[] }> {
    const paths = Object.keys(RATES).map((_, at) => `${name}/${at}.mp4`);
    const { id } = await api.submit({
      input: { url: server.origin },
      storage: storageOf(stack.describe()),
      notification: { type: "http", url: "http://127.0.0.1:9/" },
      outputs: Object.fromEntries(Object.values(RATES).map((format, at) => [format, { path: paths[at] }])),
      settings: { ultrafast },
    });
    let job = await api.job(id);
    for (; job.completed_at === null; job = await api.job(id)) await new Promise((done) => setTimeout(done, 500));
    if (job.status !== "job.completed") throw new Error(JSON.stringify(job));
    const files = await Promise.all(
      paths.map(async (path, at) => {
        const file = join(folder, `${name}-${at}.mp4`);
        await writeFile(file, Buffer.from(await (await fetch(`${s3.endpoint}/${s3.bucket}/${path}`)).arrayBuffer()));
        return file;
      }),
    );
    if (!ultrafast) return { files, boundaries: [] };
    const response = await fetch(`${apiUrl}/metadata/jobs/${id}`, { headers: { authorization: basicAuth(apiKey) } });
    const Metadata = z.object({ metadata: z.object({ ultrafast: UltrafastReceipt }) });
    const { chunks } = Metadata.parse(await response.json()).metadata.ultrafast;
    const ends = chunks.map((_, at) =>
      Math.round(chunks.slice(0, at + 1).reduce((sum, each) => sum + each.seconds, 0)),
    );
    return { files, boundaries: ends.slice(0, -1) };
  }

  try {
    const whole = await encode("whole", false);
    const chunked = await encode("chunks", true);
    const isAtBoundary = (second: number): boolean =>
      chunked.boundaries.includes(second) || chunked.boundaries.includes(second + 1);
    console.log(
      `${seconds} s of ${size}, chunk boundaries at ${chunked.boundaries.join(", ")} s; differences between chunks and one piece:`,
    );
    console.log(
      "| rate | kbit/s: one piece, chunks | size | VMAF | mean at boundaries | worst second at a boundary | worst elsewhere | whole: mean of worst 5 s, chunks: the same |",
    );
    console.log("| --- | --- | --- | --- | --- | --- | --- | --- |");
    for (const [at, rate] of Object.keys(RATES).entries()) {
      const [one = "", other = ""] = [whole.files[at], chunked.files[at]];
      const [before, after] = [await vmafOf(one, source, folder), await vmafOf(other, source, folder)];
      const change = after.map((value, second) => value - (before[second] ?? 0));
      const [atBoundaries, others] = [
        change.filter((_, second) => isAtBoundary(second)),
        change.filter((_, second) => !isAtBoundary(second)),
      ];
      const sizes = [(await stat(one)).size, (await stat(other)).size] as const;
      const kbps = sizes.map((bytes) => Math.round((bytes * 8) / 1000 / Number(seconds))).join(", ");
      const worst = (values: readonly number[]): string =>
        mean(values.toSorted((a, b) => a - b).slice(0, 5)).toFixed(1);
      const cells = [mean(change), mean(atBoundaries), Math.min(...atBoundaries), Math.min(...others)].map((value) =>
        value.toFixed(2),
      );
      console.log(
        `| ${rate} | ${kbps} | ${(100 * (sizes[1] / sizes[0] - 1)).toFixed(1)} % | ${cells.join(" | ")} | ${worst(before)}, ${worst(after)} |`,
      );
    }
  } finally {
    await stack.stop(0);
    await server.close();
    await rm(folder, { recursive: true, force: true });
  }
}

await main(...process.argv.slice(2));
