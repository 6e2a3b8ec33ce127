import { env } from "cloudflare:workers";
import { describe, expect, inject, it, vi } from "vitest";
import { openJobSecrets } from "../job/secrets/job-secrets.ts";
import { jobOf } from "../rpc/job.ts";
import { settingsOf } from "../settings.ts";
import { newSpec } from "../testing/jobs.ts";
import { deliver } from "./deliver.ts";
import { endpointOf } from "./sns.ts";

const { endpoint, region, accessKeyId, secretAccessKey } = inject("sns");

const topic = (name: string): string => `arn:aws:sns:${region}:123456789012:${name}`;
const notification = (name: string, changes: Record<string, unknown> = {}) => ({
  type: "sns",
  region,
  topic_arn: topic(name),
  credentials: { access_key_id: accessKeyId, secret_access_key: secretAccessKey },
  ...changes,
});
const publishedTo = async (name: string): Promise<Record<string, string>[]> =>
  (await fetch(`${endpoint}?topic=${encodeURIComponent(topic(name))}`)).json();

describe("a job that notifies a topic", () => {
  it("publishes its events, signed and in order, with attributes for filters of subscribers", async () => {
    const spec = await newSpec({ notification: notification("jobs.fifo", { events: true, params: { order: 7 } }) });
    const job = jobOf(env, spec.id);
    await job.create(spec);
    await job.cancel();
    const log = async () => {
      const answer = await job.notifications();
      return answer.ok ? answer.value : [];
    };
    await vi.waitFor(async () => expect((await log())[0]?.status).toBe("delivered"));
    const [message, ...others] = await publishedTo("jobs.fifo");
    expect(others).toEqual([]);
    expect(message).toEqual({
      Action: "Publish",
      Version: "2010-03-31",
      TopicArn: topic("jobs.fifo"),
      Message: expect.any(String),
      MessageGroupId: spec.id,
      MessageDeduplicationId: `msg_${spec.id}_1`,
      "MessageAttributes.entry.1.Name": "event",
      "MessageAttributes.entry.1.Value.DataType": "String",
      "MessageAttributes.entry.1.Value.StringValue": "job.aborted",
      "MessageAttributes.entry.2.Name": "job_id",
      "MessageAttributes.entry.2.Value.DataType": "String",
      "MessageAttributes.entry.2.Value.StringValue": spec.id,
      "MessageAttributes.entry.3.Name": "order",
      "MessageAttributes.entry.3.Value.DataType": "String",
      "MessageAttributes.entry.3.Value.StringValue": "7",
    });
    expect(JSON.parse(message?.Message ?? "")).toMatchObject({ job_id: spec.id, event: "job.aborted" });
    await job.replay(`msg_${spec.id}_1`);
    await vi.waitFor(async () => expect(await publishedTo("jobs.fifo")).toHaveLength(2));
    expect((await log())[0]).toMatchObject({ status: "delivered", attempts: 2, last_result: "HTTP 200" });
    expect(JSON.stringify(await log()) + JSON.stringify(spec)).not.toContain(secretAccessKey);
  });
});

describe("an attempt to publish", () => {
  const attempt = async (name: string, changes: Record<string, unknown> = {}, body = "{}") => {
    const spec = await newSpec({ notification: notification(name, changes) });
    const settings = { ...settingsOf(env), snsEndpoint: name === "nowhere" ? "http://127.0.0.1:9" : endpoint };
    const secrets = await openJobSecrets(spec, settings.sealingKeys);
    const delivery = {
      id: "msg_1",
      event: "job.completed",
      body,
      createdAt: 0,
      attempts: 0,
      earlierAttempts: 0,
      nextAt: 0,
    } as const;
    const { notification: receiver, webhook } = secrets;
    const deps = { jobId: spec.id, receiver, signWith: [webhook], settings, now: Date.now() };
    return deliver({ ...delivery, state: "due", lastResult: null }, spec.notification, deps);
  };

  const wrongKeys = { credentials: { access_key_id: accessKeyId, secret_access_key: "wrong" } };
  it.each<[string, string, Record<string, unknown>, unknown]>([
    ["is accepted", "videos", {}, { status: 200 }],
    ["fails when the keys may not publish", "denied", {}, { status: 403, code: "AuthorizationError" }],
    ["fails when the topic does not exist", "missing", {}, { status: 404, code: "NotFound" }],
    ["fails when the secret is wrong", "videos", wrongKeys, { status: 403, code: "SignatureDoesNotMatch" }],
    ["fails when SNS is busy", "busy", {}, { status: 429, code: "Throttled" }],
    ["is not led elsewhere", "moved", {}, { status: 302 }],
    ["fails without a response", "nowhere", {}, { error: expect.stringMatching(/^No response/) }],
  ])("%s", async (_, name, changes, expected) => {
    expect(await attempt(name, changes)).toEqual(expected);
  });

  it("keeps any text unchanged", async () => {
    const title = "a&b=c+d %20 é 中 🎬 \u0001 \ufffe\uffff";
    await attempt("texts", {}, JSON.stringify({ title }));
    const [message] = await publishedTo("texts");
    expect(JSON.parse(message?.Message ?? "")).toEqual({ title });
    expect(message?.Message).not.toMatch(/[\ufffe\uffff]/);
    expect(message).not.toHaveProperty("MessageGroupId");
  });
});

it.each([
  ["us-east-1", "https://sns.us-east-1.amazonaws.com/"],
  ["us-gov-west-1", "https://sns.us-gov-west-1.amazonaws.com/"],
  ["cn-north-1", "https://sns.cn-north-1.amazonaws.com.cn/"],
])("topics in %s are reached at %s", (name, url) => expect(endpointOf(name)).toBe(url));
