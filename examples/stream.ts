// Makes a stream for HLS and DASH players, with thumbnails for the seek bar.
// Usage: COPRA_KEY=k-… node examples/stream.ts <URL of a video>
import { env } from "node:process";
import { setTimeout as sleep } from "node:timers/promises";

const { COPRA_URL = "http://127.0.0.1:8787", COPRA_KEY, COPRA_STORAGE = '{"service":"coconut"}' } = env;
const { COPRA_WEBHOOK = "https://example.com/webhook" } = env;
const headers = { authorization: `Basic ${btoa(`${COPRA_KEY}:`)}` };

type Stream = { key: string; status: string; error?: string; urls?: { format: string; url: string }[] };
type Job = { id: string; status: string; progress: string; completed_at: string | null; outputs: Stream[] };

const request = async (path: string, init: RequestInit = {}): Promise<Job> => {
  const response = await fetch(`${COPRA_URL}/v2${path}`, { ...init, headers });
  if (!response.ok) throw new Error(await response.text());
  return (await response.json()) as Job;
};

const body = JSON.stringify({
  input: { url: process.argv[2] },
  storage: JSON.parse(COPRA_STORAGE),
  outputs: {
    httpstream: {
      path: "examples/stream",
      hls: { path: "hls" },
      dash: { path: "dash" },
      // Sprite sheets, and a WebVTT file that maps times to them.
      thumbnails: true,
      // Without `variants` the service chooses the renditions by the size of the source.
    },
  },
  notification: { type: "http", url: COPRA_WEBHOOK },
});

let job = await request("/jobs", { method: "POST", body });
while (job.completed_at === null) {
  await sleep(1000);
  job = await request(`/jobs/${job.id}`);
  console.error(`job ${job.id}: ${job.progress}`);
}
for (const { urls = [], error } of job.outputs) {
  for (const { format, url } of urls) console.log(`${format}: ${url}`);
  if (error) console.error(error);
}
process.exitCode = job.status === "job.completed" ? 0 : 1;
