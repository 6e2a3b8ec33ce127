// Times a job from the POST to the response that shows its end.
import { setTimeout as sleep } from "node:timers/promises";
import type { ApiClient } from "../../local/demo/api-client.ts";

const POLL_MS = 20;

/** Wall time in ms. Throws when the job, or an output of it, fails. */
export async function timeJob(client: ApiClient, body: unknown): Promise<{ readonly id: string; readonly ms: number }> {
  const startedAt = performance.now();
  const { id } = await client.submit(body);
  for (;;) {
    const job = await client.job(id);
    if (job.status === "job.completed") return { id, ms: performance.now() - startedAt };
    if (job.status !== "job.starting") throw new Error(`The job ended as ${job.status}`);
    await sleep(POLL_MS);
  }
}

export const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
