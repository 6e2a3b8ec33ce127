// Measures the overhead of the service: the wall time of a job minus the wall time of the same ffmpeg command by hand,
// in pairs. `npm run bench -- [pairs]` starts its own system on free ports and prints a line for each pair, then the
// medians.

import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { ALL_SOFTWARE } from "#shared/plan/encoders/software-encoders.ts";
import { planEncode } from "#shared/plan/tasks/plan-encode.ts";
import { parseJobRequest } from "#shared/request/job-request.ts";
import { Copra } from "../client/index.ts";
import { locateFfmpeg } from "../encoder-node/ffmpeg/discover/locate.ts";
import { probeFile } from "../encoder-node/source/probe/probe.ts";
import { demoJob } from "../local/demo/demo-job.ts";
import { serveLoopback } from "../local/demo/loopback-server.ts";
import { sendFile } from "../local/demo/send-file.ts";
import { readSettings } from "../local/home/settings.ts";
import { startStack } from "../local/stack/stack.ts";
import { median, timeJob } from "./speed/job-timing.ts";

const run = promisify(execFile);

const show = (ms: number): string => `${(ms / 1000).toFixed(2)} s`;

/** Wall time in ms of an ffmpeg command in an empty folder. */
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
  const inputs = "-f lavfi -i testsrc2=size=1920x1080:rate=30000/1001 -f lavfi -i sine=frequency=440";
  const encode = "-t 10 -c:v libx264 -preset veryfast -pix_fmt yuv420p -c:a aac";
  await run(tools.ffmpeg.path, [...`-v error -nostdin ${inputs} ${encode}`.split(" "), clip]);

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

    const client = new Copra({ url: new URL(api).origin, key: apiKey });
    const rows: { job: number; bare: number }[] = [];
    // The first pair warms up and does not count.
    for (let pair = 0; pair <= pairs; pair++) {
      const { ms: job } = await timeJob(client, bodyOf(pair));
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
