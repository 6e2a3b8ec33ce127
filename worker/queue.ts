// Events of R2, which only a queue delivers. They go to the URL of a template, as other storages call it.
import { excerpt } from "#shared/excerpt.ts";
import type { Env } from "./bindings.ts";
import { app } from "./http/app.ts";
import { log } from "./log.ts";

/** Queues may deliver the batch again: each version of an object becomes one job. */
export async function ingestBatch(batch: MessageBatch, env: Env, context: ExecutionContext): Promise<void> {
  const body = JSON.stringify(batch.messages.map((message) => message.body));
  const url = env.BUCKET_EVENTS_URL;
  const response = url ? await app.fetch(new Request(url, { method: "POST", body }), env, context) : null;
  if (response?.ok) return;
  const reason = response === null ? "BUCKET_EVENTS_URL is not set" : excerpt(await response.text());
  log.warn("bucket events not taken", { queue: batch.queue, messages: batch.messages.length, reason });
  batch.retryAll();
}
