// Times a job from the POST to the response that shows its end.
import { setTimeout as sleep } from "node:timers/promises";
import type { Copra, Job, JobRequest } from "../../client/index.ts";

type Timed = { readonly id: string; readonly ms: number };

/**
 * The way to see the end of a job. `followed`: by the job's events, as the client and the command line do. `read`: by a
 * request every 20 ms. Each request costs 11 ms of CPU time here, taken from the encode.
 */
export type Watched = "followed" | "read";

const READ_MS = 20;

/** Wall time in ms. Throws when the job or any of its outputs fails. */
export async function timeJob(client: Copra, body: JobRequest, watched: Watched = "followed"): Promise<Timed> {
  const startedAt = performance.now();
  const { id } = await client.jobs.create(body);
  const end = watched === "followed" ? await followedEnd(client, id) : await readEnd(client, id);
  const ms = performance.now() - startedAt;
  if (end?.status !== "job.completed") throw new Error(`The job ended as ${end?.status}`);
  return { id, ms };
}

async function followedEnd({ jobs }: Copra, id: string): Promise<Job | null> {
  for await (const job of jobs.follow(id)) if (job.completed_at !== null) return job;
  return null;
}

async function readEnd({ jobs }: Copra, id: string): Promise<Job> {
  for (;;) {
    const job = await jobs.get(id);
    if (job.completed_at !== null) return job;
    await sleep(READ_MS);
  }
}

export const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
