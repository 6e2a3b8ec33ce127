// Submits a job with fetch and waits for its end by server-sent events, without polling.
// Usage: COPRA_KEY=k-… node examples/follow-job.ts <URL of a video>
import { env } from "node:process";

const { COPRA_URL = "http://127.0.0.1:8787", COPRA_KEY, COPRA_STORAGE = '{"service":"coconut"}' } = env;
const { COPRA_WEBHOOK = "https://example.com/webhook" } = env;
const headers = { authorization: `Basic ${btoa(`${COPRA_KEY}:`)}` };

type Job = {
  id: string;
  status: string;
  progress: string;
  input: { status: string; error?: string };
  outputs: { key: string; status: string; url?: string; error?: string }[];
};

async function submit(source: string): Promise<Job> {
  const body = JSON.stringify({
    input: { url: source },
    storage: JSON.parse(COPRA_STORAGE),
    outputs: { "mp4:360p": { path: "examples/follow/360p.mp4" }, mp3: { path: "examples/follow/audio.mp3" } },
    notification: { type: "http", url: COPRA_WEBHOOK },
  });
  const response = await fetch(`${COPRA_URL}/v2/jobs`, { method: "POST", headers, body });
  if (!response.ok) throw new Error(await response.text());
  return (await response.json()) as Job;
}

/** Reads a stream of events. Returns the ended job, or null when the connection closed before the end. */
async function readEvents(id: string): Promise<Job | null> {
  const response = await fetch(`${COPRA_URL}/v2/jobs/${id}/events`, { headers });
  if (!response.ok || !response.body) throw new Error(await response.text());
  let buffer = "";
  for await (const text of response.body.pipeThrough(new TextDecoderStream())) {
    buffer += text;
    // A blank line ends an event.
    for (let end = buffer.indexOf("\n\n"); end >= 0; end = buffer.indexOf("\n\n")) {
      const [, type, data = ""] = /^event: (\w+)\n(?:id: .*\n)?data: (.*)/m.exec(buffer.slice(0, end)) ?? [];
      buffer = buffer.slice(end + 2);
      // Other events are about the tasks of the job.
      if (type !== "job" && type !== "end") continue;
      const job: Job = JSON.parse(data);
      console.error(`${job.progress} ${job.outputs.map(({ key, status }) => `${key} ${status}`).join(", ")}`);
      if (type === "end") return job;
    }
  }
  return null;
}

const { id } = await submit(process.argv[2] ?? "");
let job = await readEvents(id);
// A deploy of the service closes the stream. Connect again: the first event is always the current job.
while (job === null) job = await readEvents(id);
if (job.input.error) console.error(job.input.error);
for (const { key, url, error } of job.outputs) console.log(`${key}: ${url ?? error}`);
process.exitCode = job.status === "job.completed" ? 0 : 1;
