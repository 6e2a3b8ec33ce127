// Encodes a video over many nodes: with `ultrafast` the nodes encode chunks of the video at the same time.
// Usage: COPRA_KEY=k-… node examples/ultrafast.ts <URL of a video that is longer than a minute>
import { env } from "node:process";
import { setTimeout as sleep } from "node:timers/promises";

const { COPRA_URL = "http://127.0.0.1:8787", COPRA_KEY, COPRA_STORAGE = '{"service":"coconut"}' } = env;
const { COPRA_WEBHOOK = "https://example.com/webhook" } = env;
const headers = { authorization: `Basic ${btoa(`${COPRA_KEY}:`)}` };

type Job = {
  id: string;
  status: string;
  progress: string;
  completed_at: string | null;
  outputs: { key: string; url?: string; error?: string }[];
  /** Present once the source was inspected. With 0 chunks the job runs normally, and `reason` explains why. */
  ultrafast?: { chunks: number; reason?: string };
};

const request = async (path: string, init: RequestInit = {}): Promise<Job> => {
  const response = await fetch(`${COPRA_URL}/v2${path}`, { ...init, headers });
  if (!response.ok) throw new Error(await response.text());
  return (await response.json()) as Job;
};

const body = JSON.stringify({
  settings: { ultrafast: true },
  input: { url: process.argv[2] },
  storage: JSON.parse(COPRA_STORAGE),
  outputs: { "mp4:240p::quality=3": { path: "examples/ultrafast/240p.mp4" } },
  notification: { type: "http", url: COPRA_WEBHOOK },
});

let job = await request("/jobs", { method: "POST", body });
while (job.completed_at === null) {
  await sleep(1000);
  job = await request(`/jobs/${job.id}`);
  console.error(`job ${job.id}: ${job.progress}`);
}
console.log(`chunks: ${job.ultrafast?.chunks ?? 0}${job.ultrafast?.reason ? ` (${job.ultrafast.reason})` : ""}`);
for (const { key, url, error } of job.outputs) console.log(`${key}: ${url ?? error}`);
process.exitCode = job.status === "job.completed" ? 0 : 1;
