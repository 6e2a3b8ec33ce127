// The kinds of jobs whose cost is measured.

import type { SimulatedNode } from "./node.ts";
import { type Counts, type Details, plus } from "./platform/meter.ts";
import type { MostSubrequests } from "./platform/subrequests.ts";
import { Service } from "./service.ts";
import type { Workload } from "./work.ts";

const MB = 1_000_000;
const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
const HOUR_MS = 60 * MINUTE_MS;
const SWEEP_EVERY_MS = 2 * MINUTE_MS;
/** After this time, the service keeps nothing of a job. */
const KEPT_MS = 40 * DAY_MS;

export type Kind = {
  readonly nodes: number;
  /** Null: no job is submitted, and a day passes. */
  readonly body: object | null;
  readonly workload: Workload;
  /** True if a client follows the job to its end. */
  readonly isFollowed?: boolean;
};

const SHORT: Workload = {
  seconds: 60,
  fetchMs: 2000,
  encodeMs: 15_000,
  chunkMs: 20_000,
  joinMs: 20_000,
  videoBytes: 8 * MB,
};
const VIDEOS = ["mp4:1080p", "mp4:720p", "mp4:480p", "mp4:360p", "mp4:240p", "webm:720p", "webm:480p", "mp4:hevc_720p"];
const TEN = {
  ...Object.fromEntries(VIDEOS.map((format) => [format, { path: `${format.replaceAll(":", "-")}.mp4` }])),
  "mp3:128k": { path: "audio.mp3" },
  "jpg:320x": { path: "%02d.jpg", number: 5 },
};
const TEN_OUTPUTS: Kind = {
  nodes: 1,
  body: { outputs: TEN },
  workload: { ...SHORT, seconds: 600, fetchMs: 5000, encodeMs: 5 * MINUTE_MS, videoBytes: 60 * MB },
};
const VARIANTS = ["mp4:1080p", "mp4:720p", "mp4:480p", "mp4:240p"];

/** Two jobs that differ by an hour of encoding. */
export const FIVE_MINUTES = "10 outputs, 5 min of encoding";
export const LONG = "10 outputs, 65 min of encoding";

export const KINDS: ReadonlyMap<string, Kind> = new Map<string, Kind>([
  [
    "2 outputs, 15 s of encoding",
    { nodes: 1, body: { outputs: { "mp4:720p": { path: "a.mp4" }, "jpg:320x": { path: "a.jpg" } } }, workload: SHORT },
  ],
  [FIVE_MINUTES, TEN_OUTPUTS],
  ["the same, followed to its end", { ...TEN_OUTPUTS, isFollowed: true }],
  [LONG, { ...TEN_OUTPUTS, workload: { ...TEN_OUTPUTS.workload, encodeMs: 65 * MINUTE_MS } }],
  [
    "a video in 288 chunks, 100 nodes",
    {
      nodes: 100,
      body: { settings: { ultrafast: true }, outputs: { "mp4:1080p": { path: "a.mp4" } } },
      workload: {
        ...SHORT,
        seconds: 14_400,
        fetchMs: 30_000,
        chunkMs: 36_000,
        joinMs: MINUTE_MS,
        videoBytes: 3000 * MB,
      },
    },
  ],
  [
    "an HLS stream of 10 min, 4 variants",
    {
      nodes: 1,
      body: { outputs: { httpstream: { path: "s", hls: { path: "hls" }, variants: VARIANTS } } },
      workload: { ...SHORT, seconds: 600, encodeMs: 5 * MINUTE_MS },
    },
  ],
  ["a node that is idle for 24 h", { nodes: 1, body: null, workload: SHORT }],
]);

export type Measured = {
  readonly counts: Counts;
  readonly details: Details;
  readonly logged: readonly string[];
  readonly subrequests: MostSubrequests;
};

/**
 * Measures a job of a kind, from its request to the deletion of its data. `fetchMs`: how long a storage or a receiver takes
 * for a request.
 */
export async function measureKind(name: string, root: string, fetchMs = 100): Promise<Measured> {
  const kind = KINDS.get(name);
  if (!kind) throw new Error(`No such kind: ${name}. There are: ${[...KINDS.keys()].join(", ")}`);
  const service = new Service({ root, seed: 1, isExact: true, fetchMs });
  await service.start();
  const { meter, time, logged, subrequests } = service.platform;
  const key = await service.until(service.newAccount("client"));
  // A key in use costs a row an hour, however many jobs it creates: its first use is before the job.
  await service.until(service.get(key, "/session"));
  const nodes = await service.until(connectNodes(service, kind));
  await time.run(time.now + MINUTE_MS);
  meter.take();
  meter.details.clear();
  if (!kind.body) {
    await time.run(time.now + DAY_MS);
    return { counts: meter.take(), details: meter.details, logged, subrequests };
  }
  const id = await service.until(service.submit(key, kind.body));
  if (kind.isFollowed) void service.follow(key, id);
  await runToEnd(service);
  const running = meter.take();
  for (const node of nodes) node.die();
  await time.run(time.now + MINUTE_MS);
  meter.take();
  await time.run(time.now + KEPT_MS);
  await service.until(service.platform.sweep());
  const counts = plus(running, meter.take());
  return {
    counts: { ...counts, databaseWritten: counts.databaseWritten + sweptRows(service) },
    details: meter.details,
    logged,
    subrequests,
  };
}

/** Measures the creation of jobs by requests of `size` jobs each, until the objects of the jobs hibernate. */
export async function measureCreation(root: string, jobs: number, size: number): Promise<Counts> {
  const service = new Service({ root, seed: 1, isExact: true });
  await service.start();
  const { meter, time } = service.platform;
  const key = await service.until(service.newAccount("client"));
  await time.run(time.now + MINUTE_MS);
  meter.take();
  const body = { outputs: { "mp4:720p": { path: "a.mp4" } } };
  for (let created = 0; created < jobs; created += size) {
    const idempotencyKey = String(created);
    if (size === 1) await service.until(service.submit(key, body, idempotencyKey));
    else await service.until(service.submitBatch(key, Array(size).fill(body), idempotencyKey));
  }
  await time.run(time.now + MINUTE_MS);
  return meter.take();
}

/** The rows of jobs that sweeps have written or deleted. */
const sweptRows = ({ platform: { sweepMeter } }: Service): number =>
  [...sweepMeter.details].reduce((sum, [detail, count]) => {
    return /^databaseWritten .*\b(update|delete from) ["`]?jobs\b/i.test(detail) ? sum + count : sum;
  }, 0);

async function connectNodes(service: Service, { nodes, workload }: Kind): Promise<SimulatedNode[]> {
  const { random } = service.platform;
  /** Chunks differ: results that always arrive together would make reports look cheaper than they are. */
  const workloadOf = (): Workload => ({ ...workload, chunkMs: workload.chunkMs * (0.75 + 0.5 * random()) });
  const all: SimulatedNode[] = [];
  for (let number = 1; number <= nodes; number++) {
    const token = await service.newToken(`node-${number}`);
    const options = { nodeId: `node-${number}`, token, slots: { inspect: 1, encode: 1 } };
    const node = service.node({ ...options, latencyMs: 10 + 30 * random(), workloadOf });
    await node.link.connect();
    all.push(node);
  }
  return all;
}

/** Sweeps as the cron job does, until an hour after the job's webhook. */
async function runToEnd(service: Service): Promise<void> {
  const { time, internet } = service.platform;
  const giveUpAt = time.now + 4 * HOUR_MS;
  for (let endAt = giveUpAt; time.now < endAt; ) {
    await time.run(time.now + SWEEP_EVERY_MS);
    await service.until(service.platform.sweep());
    if (internet.delivered.length > 0) endAt = Math.min(endAt, time.now + HOUR_MS);
  }
  const [last] = internet.delivered;
  if (!last?.body.includes("job.completed")) {
    const logged = service.platform.logged.slice(0, 20).join("\n");
    throw new Error(`The job has not completed: ${last?.body}\n${logged}`);
  }
}
