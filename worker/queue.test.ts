import { createExecutionContext, createMessageBatch, getQueueResult } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeEach, expect, it } from "vitest";
import worker from "./index.ts";
import { jobBody, SECRET_KEY, useAccount } from "./testing/jobs.ts";

const account = useAccount(beforeEach);
const credentials = { access_key_id: "AKID", secret_access_key: SECRET_KEY };
const { storage, notification } = jobBody();
const input = { service: "s3other", endpoint: "https://s3.example.com", region: "us-east-1", credentials };
const TEMPLATE = { input, storage, notification, outputs: { mp4: { path: "{{ vars.stem }}.mp4" } } };
/** As Cloudflare documents it (R2, event notifications). */
const event = (action: string, key: string) => ({
  account: "3f4b7e3dcab231cbfdaa90a6a28bd548",
  action,
  bucket: "clips",
  object: { key, size: 65_536, eTag: "c846ff7a18f28c2e262116d6e8719ef0" },
  eventTime: "2026-11-24T19:36:44.379Z",
});

async function deliver(bodies: unknown[], variables: { BUCKET_EVENTS_URL?: string }) {
  const messages = bodies.map((body, at) => ({ id: String(at), timestamp: new Date(), attempts: 1, body }));
  const batch = createMessageBatch("copra-bucket-events", messages);
  const context = createExecutionContext();
  await worker.queue(batch, { ...env, ...variables }, context);
  const { retryBatch } = await getQueueResult(batch, context);
  return retryBatch.retry;
}

it("makes a job of each object that a queue of R2's events names, and has a refused batch delivered again", async () => {
  await account.request("PUT", "/v2/templates/web", TEMPLATE);
  const { body } = await account.request("POST", "/v2/templates/web/tokens");
  const events = [
    event("PutObject", "a.mov"),
    event("DeleteObject", "b.mov"),
    event("CompleteMultipartUpload", "c.mov"),
  ];
  expect(await deliver(events, { BUCKET_EVENTS_URL: body.url })).toBe(false);
  // Queues deliver at least once.
  expect(await deliver(events, { BUCKET_EVENTS_URL: body.url })).toBe(false);
  const { body: list } = await account.request("GET", "/v2/jobs");
  expect(list.jobs).toHaveLength(2);

  expect(await deliver(events, {})).toBe(true);
  expect(await deliver(events, { BUCKET_EVENTS_URL: `${body.url}x` })).toBe(true);
  expect(await deliver([{ no: "event" }], { BUCKET_EVENTS_URL: body.url })).toBe(true);
  expect((await account.request("GET", "/v2/jobs")).body.jobs).toHaveLength(2);
});
