// Secrets reach only the parts that need them. After jobs with every kind of end, this test searches all stored,
// logged, sent and answered data for each secret.
import { copyFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { AwsClient } from "aws4fetch";
import { afterAll, beforeAll, expect, it } from "vitest";
import { RequestView } from "#shared/api/command-responses.ts";
import { type LoopbackServer, serveLoopback } from "../../local/demo/loopback-server.ts";
import { loadSecrets } from "../../local/home/secrets.ts";
import { type Child, startChild } from "../../local/processes/child.ts";
import { basicAuth } from "../../local/stack/access.ts";
import { nodePlan } from "../../local/stack/process-plans.ts";
import { fileFolder } from "../fixtures.ts";
import { makeClip, makeLongClip } from "../media.ts";
import type { JobView } from "../services/api-client.ts";
import { type FormReceiver, startFormReceiver } from "../services/form-receiver.ts";
import { LIMITED_VARIABLES, makeLimitedFfmpeg } from "../services/limited-ffmpeg.ts";
import { type NodeConnection, startNodeConnection } from "../services/node-connection.ts";
import { type SourceServer, startSourceServer } from "../services/source-server.ts";
import { startWebhookReceiver, type WebhookReceiver } from "../services/webhook-receiver.ts";
import { startTestStack, type TestStack } from "../stack.ts";
import { FOR_NODES, HIDDEN_FROM_NODES, REDIRECTED, secretJobs } from "./secret-jobs.ts";
import { filesBelow, type Secrets, tracesBelow, tracesIn } from "./secret-traces.ts";

/** A PNG of a single pixel. */
const DOT = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

const folder = fileFolder();
let stack: TestStack;
let wire: NodeConnection;
let node: Child;
let sources: SourceServer;
let redirects: LoopbackServer;
let receiver: FormReceiver;
let webhooks: WebhookReceiver;
let jobs: JobView[];
let operators: Secrets;
let events: EventReader;

beforeAll(async () => {
  Object.assign(process.env, await makeLimitedFfmpeg(folder, "Arguments: $*"));
  copyFileSync(await makeLongClip(folder, 2, "160x90"), join(folder, "clip.mp4"));
  await makeClip("text.mp4", folder);
  writeFileSync(join(folder, "en.srt"), "1\n00:00:00,000 --> 00:00:01,000\nHello\n");
  writeFileSync(join(folder, "logo.png"), Buffer.from(DOT, "base64"));

  sources = await startSourceServer(folder);
  receiver = await startFormReceiver("encoded_video");
  webhooks = await startWebhookReceiver({ failFirst: 1 });
  const { "a redirect's password": password, "a redirect's signature": signature } = REDIRECTED;
  redirects = await serveLoopback((request, response) => {
    const to = request.url?.startsWith("/private") ? "10.1.2.3" : `me:${password}@127.0.0.1:9`;
    response.writeHead(302, { location: `http://${to}/video.mp4?sig=${signature}` }).end();
  });

  stack = await startTestStack({ nodes: 0 });
  const { adminToken, sealingKeys, access } = loadSecrets(stack.home);
  operators = {
    "the S3 server's key": stack.s3.secretAccessKey,
    "the API key": stack.apiKey,
    "the webhook secret": access?.webhookSecret ?? "",
    "the admin token": adminToken,
    "the sealing key": sealingKeys.split(":")[1] ?? "",
  };
  wire = await startNodeConnection(new URL(stack.api).origin);
  const settings = { home: stack.home, port: wire.port, s3Port: 0, nodes: 1 };
  node = startChild(
    nodePlan(settings, stack.nodeToken, 1),
    () => {},
    () => {},
  );
  // The service stores events only while a client listens.
  events = await listenToAccount();
  jobs = await runJobs();
});
afterAll(async () => {
  events?.stop();
  for (const name of LIMITED_VARIABLES) delete process.env[name];
  await node?.stop(0);
  await stack?.stop();
  await wire?.close();
  await Promise.all([sources?.close(), receiver?.close(), webhooks?.close(), redirects?.close()]);
});

const requests = (): ReturnType<typeof secretJobs> => secretJobs({ stack, sources, redirects, receiver, webhooks });

/** Starts all jobs and waits for their ends. */
async function runJobs(): Promise<JobView[]> {
  const { endpoint, bucket, ...keys } = stack.s3;
  const client = new AwsClient({ ...keys, service: "s3" });
  const body = Buffer.from(await (await fetch(`${sources.origin}/clip.mp4`)).arrayBuffer());
  await client.fetch(`${endpoint}/${bucket}/clip.mp4`, { method: "PUT", body });
  const entries = Object.entries(requests());
  const submitted = await Promise.all(
    entries.map(async ([name, { job }]) => ({ name, id: (await stack.submit({ name, ...job })).id })),
  );
  return Promise.all(submitted.map(({ id }) => stack.waitForJob(id)));
}

type EventReader = { readonly text: () => string; readonly stop: () => void };

/** Reads the account's event stream. */
async function listenToAccount(): Promise<EventReader> {
  const abort = new AbortController();
  const headers = { authorization: basicAuth(stack.apiKey) };
  const { body } = await fetch(`${stack.api}/events`, { headers, signal: abort.signal });
  const chunks: string[] = [];
  const read = async (): Promise<void> => {
    for await (const chunk of body?.pipeThrough(new TextDecoderStream()) ?? []) chunks.push(chunk);
  };
  read().catch(() => undefined);
  return { text: () => chunks.join(""), stop: () => abort.abort() };
}

const ofClients = (): Secrets => ({ ...FOR_NODES, ...HIDDEN_FROM_NODES, ...REDIRECTED });
const all = (): Secrets => ({ ...ofClients(), ...operators, "the node token": stack.nodeToken });

it("the jobs end as expected", () => {
  const wanted = Object.entries(requests()).map(([name, { ends }]) => `${name} ${ends}`);
  const names = Object.keys(requests());
  const ended = jobs.map(({ status }, at) => `${names[at]} ${status}`);
  expect(ended, JSON.stringify(jobs, null, 1)).toEqual(wanted);
  expect(JSON.stringify(jobs)).toContain("Arguments: ");
});

it("no secret is in the home, except in the files for secrets", async () => {
  await webhooks.waitFor(({ body }) => body?.event === "job.completed");
  const keepers = ["stack.json", "secrets.json"];
  const files = filesBelow(stack.home);
  // Check that the folder holds the files to search.
  expect(files).toEqual(expect.arrayContaining([...keepers, "control-plane.log", "node-1.log", "s3.log"]));
  expect(files.filter((path) => /\.sqlite(-wal)?$/.test(path)).length).toBeGreaterThan(jobs.length);
  expect(tracesBelow(stack.home, all(), keepers)).toEqual([]);
  for (const path of keepers) expect([path, statSync(join(stack.home, path)).mode & 0o777]).toEqual([path, 0o600]);
  expect(statSync(stack.home).mode & 0o077).toBe(0);
});

it("no log holds access data: signatures, queries of addresses, tokens of leases", () => {
  const signatures = [/X-Amz-Signature/i, /[?&]sig=/i, /X-Signature/, /authorization/i];
  for (const name of ["control-plane", "node-1", "s3"]) {
    const text = stack.log(name);
    for (const signature of signatures) expect([name, text.match(signature)]).toEqual([name, null]);
    const tokens = wire.messages.flatMap(({ text: frame }) => /"token":"(\w{44,})"/.exec(frame)?.[1] ?? []);
    expect(tokens.length).toBeGreaterThan(jobs.length);
    expect(tokens.filter((token) => text.includes(token))).toEqual([]);
  }
});

it("each log line is a JSON object with time, level and message", () => {
  for (const name of ["control-plane", "node-1", "s3"]) {
    for (const line of stack.log(name).trimEnd().split("\n")) {
      expect([name, asLine(line)]).toEqual([
        name,
        expect.objectContaining({
          time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
          level: expect.stringMatching(/^(debug|info|warn|error)$/),
          message: expect.any(String),
        }),
      ]);
    }
  }
});

function asLine(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return line;
  }
}

it("nodes receive the secrets that their work needs, and no others", () => {
  const traces = (secrets: Secrets): string[] => [
    ...new Set(
      wire.messages.flatMap(({ by, where, text }) =>
        tracesIn(`${by} ${where.replace(/[^/]*\.\d+/, "…")}`, text, secrets),
      ),
    ),
  ];
  expect(traces({ ...HIDDEN_FROM_NODES, ...operators })).toEqual([]);
  // All other secrets were there to be found. The password of an upload address is only in the header for this address.
  for (const [what, secret] of Object.entries(FOR_NODES)) expect(traces({ [what]: secret })).not.toEqual([]);
  const { "the upload address's password": password } = FOR_NODES;
  expect(traces({ password })).toEqual(["password in control plane /v2/nodes/leases/…/uploads, as Base64"]);
  expect(wire.messages.some(({ text }) => text.includes("X-Amz-Signature="))).toBe(true);
  // Nodes send no secrets.
  for (const { by, where, text } of wire.messages) if (by === "node") expect(tracesIn(where, text, all())).toEqual([]);
});

it("the commands and the request of a job are shown without secrets, folders and served addresses", async () => {
  const facts = await Promise.all(
    jobs.map(async ({ id }) => ({
      commands: (await stack.request("GET", `/jobs/${id}/commands`)).body,
      request: (await stack.request("GET", `/jobs/${id}/request`)).body,
    })),
  );
  const text = JSON.stringify(facts);
  // Check that there was something to hide: commands, their output, and addresses of the requests.
  expect(text).toMatch(/"argv":\["/);
  expect(text).toMatch(/"stderr_tail":"[^"]*Arguments: /);
  expect(facts.flatMap(({ request }) => RequestView.parse(request).left_out)).toEqual(
    expect.arrayContaining([
      "input.url",
      "input.headers",
      "notification.url",
      "storage.url",
      "input.credentials",
      "storage.credentials",
    ]),
  );
  expect(tracesIn("facts", text, all())).toEqual([]);
  expect(
    text.match(/[?&](?:X-|sig=|token=)|copra-secrets-|\/tasks\/w-|https?:\/\/127\.0\.0\.1:\d+\/\w{16}/i),
  ).toBeNull();
});

it("the events of the account include the ends of all jobs, and no secret", async () => {
  const ended = (): string[] => events.text().match(/^data: {"id":"\w+","status":"job\.(?!starting)/gm) ?? [];
  await expect.poll(() => ended().length).toBe(jobs.length);
  expect(events.text().match(/^event: notification$/gm)?.length).toBeGreaterThanOrEqual(jobs.length);
  expect(tracesIn("events", events.text(), all())).toEqual([]);
});

it("no answer of the API holds a secret", async () => {
  const answers: [string, unknown][] = [];
  const ask = async (method: string, path: string, body?: unknown): Promise<void> => {
    const answer = await stack.request(method, path, body);
    answers.push([`${method} ${path}`, answer.body], [`headers of ${path}`, [...answer.headers]]);
  };
  for (const { id } of jobs) {
    for (const path of [`/jobs/${id}`, `/jobs/${id}/events`, `/jobs/${id}/notifications`, `/metadata/jobs/${id}`]) {
      await ask("GET", path);
    }
    for (const fact of ["tasks", "commands", "request"]) await ask("GET", `/jobs/${id}/${fact}`);
    for (const key of ["input", "mp4:160x90", "httpstream"]) await ask("GET", `/metadata/jobs/${id}/${key}`);
    await ask("POST", `/jobs/${id}/notifications/msg_${id}_1/replay`);
    await ask("DELETE", `/jobs/${id}`);
  }
  await ask("GET", "/jobs?limit=100");
  await ask("GET", "/usage");
  await ask("GET", "/health");
  for (const { job } of Object.values(requests())) {
    await ask("POST", "/jobs?dry_run=true", {
      storage: stack.storage,
      notification: { type: "http", url: "http://127.0.0.1:9" },
      ...job,
    });
  }
  for (const path of ["accounts", "node-tokens"]) {
    const headers = { authorization: `Bearer ${stack.adminToken}` };
    answers.push([path, await (await fetch(`${stack.api}/admin/${path}`, { headers })).json()]);
  }
  expect(answers.flatMap(([what, body]) => tracesIn(what, JSON.stringify(body), all()))).toEqual([]);
  expect(webhooks.received.flatMap(({ raw }) => tracesIn("a notification", raw, all()))).toEqual([]);
});
