import { env } from "cloudflare:workers";
import { expect, inject, it, vi } from "vitest";
import { cancelJob } from "../job/decide/client-moves.ts";
import { recordEvent } from "../job/decide/job-ending.ts";
import { dueEvents } from "../job/effects/account-events.ts";
import { pendingEffects } from "../job/effects/job-effects.ts";
import { newJob } from "../job/state/job-state.ts";
import { jobOf } from "../rpc/job.ts";
import { RETENTION_MS } from "../settings.ts";
import { newSpec } from "../testing/jobs.ts";

const { endpoint, region, accessKeyId, secretAccessKey } = inject("sns");
const topic = (name: string): string => `arn:aws:sns:${region}:123456789012:${name}`;
const sns = (name: string, changes: object = {}) => ({
  type: "sns",
  region,
  topic_arn: topic(name),
  credentials: { access_key_id: accessKeyId, secret_access_key: secretAccessKey },
  ...changes,
});
const published = async (name: string): Promise<Record<string, string>[]> =>
  (await fetch(`${endpoint}?topic=${encodeURIComponent(topic(name))}`)).json();

it("delivers to each receiver the events that it wants, although another receiver does not respond", async () => {
  const silent = { type: "http", url: "http://127.0.0.1:9/hook?token=hidden", events: true, params: { a: 1 } };
  const notification = [silent, sns("several-a", { events: ["job.aborted"], metadata: true }), sns("several-b")];
  const spec = await newSpec({ notification });
  const job = jobOf(env, spec.id);
  await job.create(spec);
  await job.cancel();
  const log = async () => {
    const answer = await job.notifications();
    return answer.ok ? answer.value : [];
  };
  const [failed, delivered, ...others] = await vi.waitFor(async () => {
    const deliveries = await log();
    expect(deliveries.map(({ attempts }) => attempts)).toEqual([1, 1]);
    return deliveries;
  });
  expect(others).toEqual([]);
  expect(failed).toMatchObject({
    event: "job.aborted",
    status: "due",
    receiver: { number: 1, type: "http", to: "http://127.0.0.1:9/hook" },
  });
  expect(delivered).toMatchObject({
    event: "job.aborted",
    status: "delivered",
    receiver: { number: 2, type: "sns", to: topic("several-a") },
  });
  await job.replay(delivered?.id ?? "");
  await vi.waitFor(async () => expect(await published("several-a")).toHaveLength(2));
  expect([await published("several-b"), (await log())[0]?.attempts]).toEqual([[], 1]);
  const fact = await job.fact("request");
  const { request, left_out } = JSON.parse(fact.ok ? fact.value : "{}");
  expect(request.notification).toEqual([
    { type: "http", url: "http://127.0.0.1:9/hook", events: true },
    { type: "sns", region, topic_arn: topic("several-a"), events: ["job.aborted"], metadata: true },
    { type: "sns", region, topic_arn: topic("several-b") },
  ]);
  const secret = ["notification.0.url", "notification.1.credentials", "notification.2.credentials"];
  expect(left_out).toEqual(expect.arrayContaining(secret));
  expect(JSON.stringify([await log(), spec])).not.toMatch(/hidden|token/);
});

it("keeps the events of each receiver in order, and names the receiver to listeners", async () => {
  const url = "https://example.com/";
  const http = { type: "http", url };
  const spec = await newSpec({
    notification: [{ ...http, events: true }, http, { ...http, events: ["output.failed"] }],
  });
  const failing = recordEvent(recordEvent(newJob(spec), "input.transferred", null, 1), "output.failed", 0, 2);
  const ended = recordEvent(failing, "job.failed", null, 3);
  expect(ended.outbox.map(({ event, receiver }) => [event, receiver])).toEqual([
    ["input.transferred", 0],
    ["output.failed", 0],
    ["output.failed", 2],
    ["job.failed", 0],
    ["job.failed", 1],
  ]);
  expect(new Set(ended.outbox.map(({ id }) => id)).size).toBe(5);
  const deliveries = pendingEffects(ended, RETENTION_MS).filter(({ effect }) => effect.kind === "deliver");
  const ids = [0, 2, 4].map((at) => `deliver:${ended.outbox[at]?.id}`);
  expect(new Set(deliveries.map(({ name }) => name))).toEqual(new Set(ids));
  const receivers = dueEvents(ended).events.flatMap(({ kind, data }) =>
    kind === "notification" && "receiver" in data ? [data.receiver] : [],
  );
  expect(receivers).toEqual([1, 1, 3, 1, 2]);
});

it("names no receiver of a job with a single receiver, also in a list", async () => {
  for (const events of [true, ["job.aborted"]]) {
    for (const notification of [{ type: "none", events }, [{ type: "none", events }]]) {
      const cancelled = cancelJob(newJob(await newSpec({ notification })), 1);
      expect(cancelled?.outbox).toMatchObject([{ event: "job.aborted", state: "delivered" }]);
      expect(cancelled?.outbox[0]).not.toHaveProperty("receiver");
    }
  }
});
