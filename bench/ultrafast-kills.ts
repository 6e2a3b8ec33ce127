// Kills processes during ultrafast jobs: `node local/bootstrap.mjs bench/ultrafast-kills.ts [runs]`. Each run kills a
// node, and every third run also the control plane, at another time of the job. The job must complete, its output must
// equal that of a run without kills, and the scratch bucket must be empty afterwards. Prints a line for each run, and
// fails when one of these does not hold.
import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { AwsClient } from "aws4fetch";
import { locateFfmpeg } from "../encoder-node/ffmpeg/build/locate.ts";
import { toolEnvironment } from "../encoder-node/ffmpeg/sandbox/tool-environment.ts";
import { type ApiClient, apiClient, type JobView } from "../local/demo/api-client.ts";
import { storageOf } from "../local/demo/demo-job.ts";
import { serveLoopback } from "../local/demo/loopback-server.ts";
import { sendFile } from "../local/demo/send-file.ts";
import { SCRATCH_BUCKET } from "../local/home/constants.ts";
import { startStack } from "../local/stack/stack.ts";

const run = promisify(execFile);
const NODES = 3;
const SECONDS = 75;

type Stack = Awaited<ReturnType<typeof startStack>>;

/** The timestamps of all frames, and a hash of the audio packets. */
async function fingerprint(url: string): Promise<string> {
  const { ffmpeg } = await locateFfmpeg(process.env);
  const options = { env: toolEnvironment(), maxBuffer: 1e8 };
  const times = ["-map", "0:v", "-c", "copy", "-f", "framecrc", "-"];
  const frames = await run(ffmpeg.path, ["-v", "error", "-i", url, ...times], options);
  const audio = await run(
    ffmpeg.path,
    ["-v", "error", "-i", url, "-map", "0:a", "-c", "copy", "-f", "md5", "-"],
    options,
  );
  const decoded = await run(ffmpeg.path, ["-v", "error", "-i", url, "-f", "null", "-"], options);
  if (decoded.stderr !== "") throw new Error(decoded.stderr);
  const timestamps = frames.stdout
    .split("\n")
    .flatMap((line) => (/^0,/.test(line) ? [Number(line.split(",")[2])] : []));
  return `${timestamps.toSorted((a, b) => a - b).join(" ")} ${audio.stdout}`;
}

async function scratchObjects({ s3 }: ReturnType<Stack["describe"]>): Promise<number> {
  const { accessKeyId, secretAccessKey, region, endpoint } = s3;
  const client = new AwsClient({ accessKeyId, secretAccessKey, region, service: "s3" });
  const response = await client.fetch(`${endpoint}/${SCRATCH_BUCKET}`);
  return [...(await response.text()).matchAll(/<Key>/g)].length;
}

const jobOf = (api: ApiClient, id: string): Promise<JobView | null> => api.job(id).catch(() => null);

/** Submits a job and kills the `victims`, each after its time; returns the job after its end. */
async function encode(stack: Stack, sourceUrl: string, path: string, victims: readonly Victim[]): Promise<JobView> {
  const { api: apiUrl, apiKey } = stack.describe();
  const api = apiClient(apiUrl, apiKey);
  const { id } = await api.submit({
    input: { url: sourceUrl },
    storage: storageOf(stack.describe()),
    notification: { type: "http", url: "http://127.0.0.1:9/" },
    outputs: { "mp4:320x180::quality=3": { path } },
    settings: { ultrafast: true },
  });
  const kills = victims.map(async ({ afterMs, pid }) => {
    await sleep(afterMs);
    process.kill(pid(), "SIGKILL");
  });
  await Promise.all(kills);
  for (;;) {
    const job = await jobOf(api, id);
    if (job?.completed_at) return job;
    await sleep(250);
  }
}

type Victim = { readonly afterMs: number; readonly pid: () => number };

async function main(runs = "20"): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "copra-kills-"));
  const { ffmpeg } = await locateFfmpeg(process.env);
  const source = join(folder, "source.mp4");
  const inputs = ["-f", "lavfi", "-i", "testsrc2=s=320x180:r=30000/1001", "-f", "lavfi", "-i", "sine=440:r=48000"];
  const encoded = ["-t", String(SECONDS), "-c:v", "libx264", "-preset", "veryfast", "-g", "90", "-c:a", "aac"];
  await run(ffmpeg.path, ["-v", "error", "-y", ...inputs, ...encoded, source]);
  const server = await serveLoopback((request, response) => sendFile(request, response, source));
  const stack = await startStack(
    { home: join(folder, "home"), port: 0, s3Port: 0, nodes: NODES },
    { notify: () => {} },
  );
  let failures = 0;
  try {
    const { endpoint, bucket } = stack.describe().s3;
    const startedAt = performance.now();
    await encode(stack, server.origin, "reference.mp4", []);
    const referenceMs = performance.now() - startedAt;
    const expected = await fingerprint(`${endpoint}/${bucket}/reference.mp4`);
    console.log(`without kills: ${(referenceMs / 1000).toFixed(1)} s`);
    for (let at = 0; at < Number(runs); at++) {
      // Spread over the whole job, so that every stage is hit.
      const afterMs = ((at + 0.5) / Number(runs)) * referenceMs;
      const node: Victim = { afterMs, pid: () => stack.describe().pids.nodes[at % NODES] ?? 0 };
      const controlPlane: Victim = { afterMs: referenceMs - afterMs, pid: () => stack.describe().pids.controlPlane };
      const begun = performance.now();
      const job = await encode(stack, server.origin, `run-${at}.mp4`, at % 3 === 2 ? [node, controlPlane] : [node]);
      const wall = (performance.now() - begun) / 1000;
      const isSame =
        job.status === "job.completed" && (await fingerprint(`${endpoint}/${bucket}/run-${at}.mp4`)) === expected;
      for (let wait = 0; wait < 60 && (await scratchObjects(stack.describe())) > 0; wait++) await sleep(500);
      const left = await scratchObjects(stack.describe());
      if (!isSame || left > 0) failures += 1;
      const killed = `node after ${(afterMs / 1000).toFixed(1)} s${at % 3 === 2 ? ", control plane" : ""}`;
      console.log(
        `run ${at + 1}: ${killed} killed; ${job.status} in ${wall.toFixed(1)} s, ${isSame ? "the same output" : "A DIFFERENT OUTPUT"}, ${left} scratch objects left`,
      );
    }
  } finally {
    await stack.stop(0);
    await server.close();
    await rm(folder, { recursive: true, force: true });
  }
  console.log(failures === 0 ? "All runs passed." : `${failures} runs failed.`);
  process.exitCode = failures === 0 ? 0 : 1;
}

await main(process.argv[2]);
