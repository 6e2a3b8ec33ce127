// Measures what the service adds to ffmpeg: wall time of a job minus that of the same ffmpeg command by hand, in pairs.
// `npm run bench -- [pairs]` starts its own system on free ports and prints a line for each pair, then the medians.

import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { ALL_SOFTWARE } from "#shared/plan/encoders/software-encoders.ts";
import { planEncode } from "#shared/plan/plan-encode.ts";
import { parseJobRequest } from "#shared/request/job-request.ts";
import { locateFfmpeg } from "../encoder-node/ffmpeg/build/locate.ts";
import { probeFile } from "../encoder-node/source/probe/probe.ts";
import { type ApiClient, apiClient } from "../local/demo/api-client.ts";
import { demoJob } from "../local/demo/demo-job.ts";
import { serveLoopback } from "../local/demo/loopback-server.ts";
import { sendFile } from "../local/demo/send-file.ts";
import { readSettings } from "../local/home/settings.ts";
import { startStack } from "../local/stack/stack.ts";

const run = promisify(execFile);
const POLL_MS = 20;

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
const show = (ms: number): string => `${(ms / 1000).toFixed(2)} s`;

/** Wall time in ms of a job, from the POST to the first response that shows its end. */
async function timeJob(client: ApiClient, body: unknown): Promise<number> {
  const startedAt = performance.now();
  const { id } = await client.submit(body);
  for (;;) {
    const job = await client.job(id);
    if (job.status === "job.completed") return performance.now() - startedAt;
    if (job.status !== "job.starting") throw new Error(`The job ended as ${job.status}`);
    await sleep(POLL_MS);
  }
}

/** Wall time in ms of one ffmpeg command in an empty folder. */
async function timeCommand(ffmpeg: string, argv: readonly string[], folder: string): Promise<number> {
  await mkdir(folder);
  const startedAt = performance.now();
  await run(ffmpeg, [...argv], { cwd: folder });
  return performance.now() - startedAt;
}

async function main(): Promise<void> {
  const pairs = Number(process.argv[2] ?? 5);
  const folder = await mkdtemp(join(tmpdir(), "copra-bench-"));
  const tools = await locateFfmpeg(process.env);
  const clip = join(folder, "source.mp4");
  const inputs = [
    "-f",
    "lavfi",
    "-i",
    "testsrc2=size=1920x1080:rate=30000/1001",
    "-f",
    "lavfi",
    "-i",
    "sine=frequency=440",
  ];
  const encode = ["-t", "10", "-c:v", "libx264", "-preset", "veryfast", "-pix_fmt", "yuv420p", "-c:a", "aac", clip];
  await run(tools.ffmpeg.path, ["-v", "error", "-nostdin", ...inputs, ...encode]);

  const stack = await startStack(
    readSettings({ COPRA_HOME: join(folder, "home"), COPRA_PORT: "0", COPRA_S3_PORT: "0" }),
  );
  const source = await serveLoopback((request, response) => {
    if (request.method === "POST") response.end();
    else void sendFile(request, response, clip);
  });
  try {
    const { api, apiKey } = stack.describe();
    const bodyOf = (pair: number) =>
      demoJob(stack.describe(), `${source.origin}/source.mp4`, `${source.origin}/hook`, `bench-${pair}`);
    const parsed = parseJobRequest(bodyOf(0), "loopback");
    if (!parsed.ok) throw new Error(parsed.error.message);
    const { commands } = planEncode({
      source: clip,
      probe: await probeFile(tools.ffprobe, clip),
      outputs: parsed.value.outputs,
      capabilities: ALL_SOFTWARE,
    });
    const [run, ...more] = commands.flatMap(({ runs }) => runs);
    if (!run || more.length > 0) throw new Error("One run of ffmpeg was expected");

    const rows: { job: number; bare: number }[] = [];
    // The first pair warms up and does not count.
    for (let pair = 0; pair <= pairs; pair++) {
      const job = await timeJob(apiClient(api, apiKey), bodyOf(pair));
      const bare = await timeCommand(tools.ffmpeg.path, run.argv, join(folder, `bare-${pair}`));
      console.log(
        `${pair === 0 ? "warm-up" : `pair ${pair} `}  job ${show(job)}  ffmpeg ${show(bare)}  difference ${show(job - bare)}`,
      );
      if (pair > 0) rows.push({ job, bare });
    }
    const [job, bare] = [median(rows.map((row) => row.job)), median(rows.map((row) => row.bare))];
    console.log(
      `median   job ${show(job)}  ffmpeg ${show(bare)}  difference ${show(median(rows.map((row) => row.job - row.bare)))}  ratio ${median(rows.map((row) => row.job / row.bare)).toFixed(3)}`,
    );
  } finally {
    await stack.stop(0);
    await source.close();
    await rm(folder, { recursive: true, force: true });
  }
}

await main();
