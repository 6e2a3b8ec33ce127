// The command line against the local system: files in a folder, and processes that are killed meanwhile.
import { once } from "node:events";
import { mkdirSync, readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { connect, createServer, type Server } from "node:net";
import { basename, join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import * as z from "zod";
import { Usage } from "#shared/api/account-responses.ts";
import { AuditList } from "#shared/api/audit.ts";
import { CommandList, RequestView, RunningCommandList } from "#shared/api/command-responses.ts";
import { DryRunPlan, JobMetadata, NotificationLog } from "#shared/api/job-responses.ts";
import { Autoscale, NodeDetails, NodeList } from "#shared/api/node-responses.ts";
import * as operator from "#shared/api/operator-responses.ts";
import { ProbeView } from "#shared/api/probe-responses.ts";
import { TaskList } from "#shared/api/task-responses.ts";
import { UploadSummary } from "#shared/api/uploads.ts";
import { JobView } from "#shared/job/job-view.ts";
import { bareEnvironment, runCli, startCli } from "../cli/testing/run-cli.ts";
import { verifyWebhook } from "../client/index.ts";
import { serveLoopback } from "../local/demo/loopback-server.ts";
import { fileFolder } from "./fixtures.ts";
import { makeClip, makeLongClip } from "./media.ts";
import { startTestStack, type TestStack } from "./stack.ts";

const folder = fileFolder();
let stack: TestStack;
let env: Record<string, string>;

beforeAll(async () => {
  stack = await startTestStack({ nodes: 2 });
  env = { ...bareEnvironment(folder), COPRA_HOME: stack.home };
});
afterAll(async () => {
  await stack?.stop();
});

const files = (path: string): string[] =>
  readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(path.length + 1))
    .toSorted();

const Result = JobView.extend({ files: z.array(z.object({ path: z.string(), url: z.string(), bytes: z.int() })) });
let job: z.infer<typeof Result>;

describe("copra encode", () => {
  it("saves the results of a file in a folder, although a node is killed meanwhile", async () => {
    const clip = await makeLongClip(folder, 8);
    const out = join(folder, "out");
    const args = ["encode", clip, "--to", "mp4:360p", "--to", "hls", "--to", "jpg:160x:number=2", "-o", out, "--json"];
    const child = startCli(args, env);
    let words = "";
    let stdout = "";
    child.stdout.on("data", (chunk) => {
      stdout += chunk;
    });
    let killed = 0;
    child.stderr.on("data", (chunk) => {
      words += chunk;
      const progress = Number(/(\d+)% · running [^\n]*\n$/.exec(words)?.[1] ?? 0);
      if (killed > 0 || progress < 15 || progress > 80) return;
      // Either node may have the task.
      for (const pid of stack.pids().nodes) process.kill(pid, "SIGKILL");
      killed += 1;
    });
    await once(child, "close");
    expect([child.exitCode, killed]).toEqual([0, 1]);
    job = Result.parse(JSON.parse(stdout));
    const name = basename(clip).replace(/\.\w+$/, "");
    const names = files(out);
    expect(names).toEqual(
      expect.arrayContaining([`${name}-360p.mp4`, `${name}-hls/master.m3u8`, `${name}-160x-02.jpg`]),
    );
    expect(names.filter((file) => file.endsWith(".ts")).length).toBeGreaterThan(3);
    expect(job.files.map(({ path }) => path.slice(out.length + 1)).toSorted()).toEqual(names);
    for (const { path, bytes } of job.files) expect([path, statSync(path).size]).toEqual([path, bytes]);
  });

  it("exits with code 1 and a single sentence for a broken file", async () => {
    const broken = join(folder, "broken.mov");
    writeFileSync(broken, "This is not a video".repeat(100));
    const { code, stdout, stderr } = await runCli(["encode", broken, "--to", "mp4:240p", "--quiet"], env);
    expect([code, stdout, stderr]).toEqual([1, "", expect.stringMatching(/^input: [^\n]+\n$/)]);
  });

  it("creates the jobs of a file whose ids it prints", async () => {
    const outputs = { mp3: { path: "/batch.mp3" } };
    const file = join(folder, "batch.json");
    const valid = { input: { url: "http://127.0.0.1:9/clip.mp4" }, outputs };
    writeFileSync(
      file,
      JSON.stringify({
        defaults: { storage: stack.storage, notification: { type: "none" } },
        jobs: [valid, { outputs }],
      }),
    );
    const { code, stdout } = await runCli(["batch", file], env);
    const [id = "", message] = stdout.split("\n");
    expect({ code, message }).toEqual({ code: 1, message: "error: The job 'input' is not a valid object." });
    expect((await runCli(["jobs", "cancel", id], env)).stdout).toContain("aborted");
  });

  it("prints URLs if no folder is given, and uses the service's storage for other targets", async () => {
    const clip = await makeClip("ntsc.mp4", folder);
    const remote = { ...bareEnvironment(folder), COPRA_URL: stack.api, COPRA_API_KEY: stack.apiKey };
    const out = join(folder, "remote");
    const ended = await runCli(
      ["encode", clip, "--to", "mp4:240p", "--to", "dash", "--name", "a b", "-o", out],
      remote,
    );
    expect(ended).toMatchObject({ code: 0 });
    expect(files(out)).toEqual(expect.arrayContaining(["a b-240p.mp4", "a b-dash/master.mpd"]));
    expect(files(out).filter((file) => file.endsWith(".m4s")).length).toBeGreaterThan(3);
    const again = await runCli(["encode", clip, "--to", "mp3"], env);
    expect(again).toMatchObject({ code: 0, stdout: expect.stringMatching(/^http:\S+\/ntsc\.mp3\n$/) });
  });

  it("encodes the files of a watched folder", async () => {
    const inbox = join(folder, "inbox");
    const done = join(folder, "done");
    mkdirSync(inbox);
    const child = startCli(["encode", "--watch", inbox, "--to", "mp3", "-o", done], env);
    writeFileSync(join(inbox, "one.mp4"), readFileSync(await makeClip("ntsc.mp4", folder)));
    await expect.poll(() => (statSync(join(done, "one.mp3"), { throwIfNoEntry: false })?.size ?? 0) > 0).toBe(true);
    child.kill("SIGINT");
    await once(child, "close");
    expect(child.exitCode).toBe(130);
  });
});

/** The sample clip that the service offers for first jobs. */
const sample = (): string => new URL("/assets/sample.mp4", stack.api).href;

const OPERATOR = z.object({ id: z.string() });

describe("--json", () => {
  const rows: [string, () => string[], z.ZodType][] = [
    ["plan", () => ["plan", sample(), "--to", "mp4:720p"], DryRunPlan],
    ["probe", () => ["probe", sample()], ProbeView],
    ["jobs ls", () => ["jobs", "ls"], z.strictObject({ jobs: z.array(JobView), has_more: z.boolean() })],
    ["jobs count", () => ["jobs", "count"], z.object({ counts: z.record(z.string(), z.int()) })],
    ["jobs show", () => ["jobs", "show", job.id], JobView],
    ["jobs tasks", () => ["jobs", "tasks", job.id], TaskList],
    ["jobs log", () => ["jobs", "log", job.id], RunningCommandList],
    ["jobs commands", () => ["jobs", "commands", job.id], CommandList],
    ["jobs request", () => ["jobs", "request", job.id], RequestView],
    ["jobs metadata", () => ["jobs", "metadata", job.id], JobMetadata],
    ["jobs open", () => ["jobs", "open", job.id, "--print"], z.strictObject({ key: z.string(), url: z.url() })],
    ["webhooks ls", () => ["webhooks", "ls", job.id], NotificationLog],
    ["uploads ls", () => ["uploads", "ls"], z.strictObject({ uploads: z.array(UploadSummary) })],
    ["usage", () => ["usage", "--from", "2026-01-01", "--to", "2026-01-31"], Usage],
    ["nodes ls", () => ["nodes", "ls"], NodeList],
    ["nodes show", () => ["nodes", "show", "local-1"], NodeDetails],
    ["nodes cordon", () => ["nodes", "cordon", "local-1"], NodeDetails],
    ["nodes uncordon", () => ["nodes", "uncordon", "local-1"], NodeDetails],
    ["autoscale", () => ["autoscale"], Autoscale],
    ["accounts ls", () => ["accounts", "ls"], operator.AccountList],
    ["accounts create", () => ["accounts", "create", "me"], operator.NewAccount],
    ["node-tokens ls", () => ["node-tokens", "ls"], operator.NodeTokenList],
    ["node-tokens create", () => ["node-tokens", "create", "rack", "--label", "ssd"], operator.NewNodeToken],
    ["reseal", () => ["reseal"], operator.Resealed],
    [
      "whoami",
      () => ["whoami"],
      z.strictObject({ url: z.url(), source: z.string(), key: z.literal("valid"), admin_token: z.literal("valid") }),
    ],
    ["profiles", () => ["profiles"], z.strictObject({ profiles: z.array(z.object({ name: z.string() })) })],
    [
      "doctor",
      () => ["doctor"],
      z.strictObject({
        checks: z.array(
          z.object({ name: z.string(), result: z.enum(["ok", "missing", "failed"]), detail: z.string() }),
        ),
      }),
    ],
    [
      "webhooks listen --print-secret",
      () => ["webhooks", "listen", "--print-secret"],
      z.strictObject({ webhook_secret: z.string() }),
    ],
  ];
  it.each(rows)("copra %s", async (_, args, schema) => {
    const { code, stdout, stderr } = await runCli([...args(), "--json"], env);
    expect([code, code === 0 ? "" : stderr]).toEqual([0, ""]);
    schema.parse(JSON.parse(stdout));
  });

  it("copra accounts, keys and node-tokens print the ids that they create", async () => {
    const parsed = async <Value>(schema: z.ZodType<Value>, ...args: string[]): Promise<Value> => {
      const { stdout, stderr } = await runCli([...args, "--json"], env);
      expect(stderr).not.toMatch(/error/i);
      return schema.parse(JSON.parse(stdout));
    };
    const { account_id: account } = await parsed(operator.NewAccount, "accounts", "create", "other");
    const limits = await parsed(operator.AccountLimits, "accounts", "limit", account, "50");
    expect(limits.max_unfinished_jobs).toBe(50);
    expect(
      (await parsed(operator.AccountLimits, "accounts", "limit", account, "default")).max_unfinished_jobs,
    ).toBeNull();
    expect((await parsed(operator.AccountLimits, "accounts", "weight", account, "3")).weight).toBe(3);
    expect((await parsed(operator.AccountLimits, "accounts", "max-running", account, "8")).max_running).toBe(8);
    await parsed(operator.RotatedSecret, "accounts", "rotate-secret", account);
    const { id: key } = await parsed(operator.NewKey, "keys", "create", account, "--name", "shop");
    const { keys } = await parsed(operator.KeyList, "keys", "ls", account);
    expect(keys).toContainEqual(expect.objectContaining({ id: key, name: "shop", last_used_at: null }));
    await parsed(operator.Revoked, "keys", "revoke", key);
    const { entries } = await parsed(AuditList, "audit", "--all-accounts", "--object", `keys/${key}`);
    expect(entries.map(({ action }) => action).toSorted()).toEqual(["createKey", "revokeKey"]);
    const { id: token } = await parsed(operator.NewNodeToken, "node-tokens", "create", "attic", "--pool", "gpu");
    await parsed(operator.Revoked, "node-tokens", "revoke", token);
    expect((await parsed(OPERATOR.extend({ revoked: z.literal(true) }), "node-tokens", "revoke", token)).id).toBe(
      token,
    );
  });
});

it("logs in only with a valid key from standard input", async () => {
  const loginEnv = bareEnvironment(join(folder, "login"));
  const url = stack.api.replace(/\/v2$/, "");
  expect(await runCli(["login", url], loginEnv, "k-wrong\n")).toMatchObject({ code: 3, stdout: "" });
  expect(await runCli(["login", url, "--profile", "dev"], loginEnv, `${stack.apiKey}\n`)).toMatchObject({ code: 0 });
  expect(await runCli(["whoami", "--json"], loginEnv)).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('profile \\"dev\\"'),
  });
  expect(await runCli(["jobs"], loginEnv)).toMatchObject({ code: 0 });
  expect(await runCli(["logout"], loginEnv)).toMatchObject({ code: 0 });
  expect(await runCli(["jobs"], loginEnv)).toMatchObject({ code: 2 });
});

it("forwards each webhook once and signed, although the control plane is killed meanwhile", async () => {
  const { stdout } = await runCli(["webhooks", "listen", "--print-secret"], env);
  const received: string[] = [];
  const receiver = await serveLoopback(async (request, response) => {
    const body = await text(request);
    const headers = request.headers;
    const event = await verifyWebhook({ headers, body }, stdout.trim());
    received.push(`${event.event} ${event.job_id}`);
    response.end();
  });
  const child = startCli(["webhooks", "listen", "--forward-to", receiver.origin], env);
  /** Cancels a new job at once. No other test waits for its only event. */
  const abortJob = async (): Promise<string> => {
    const notification = { type: "none", events: true };
    const outputs = { mp4: { path: "never.mp4" } };
    const { id } = await stack.submit({ input: { url: "http://127.0.0.1:9/video.mp4" }, outputs, notification });
    await stack.request("DELETE", `/jobs/${id}`);
    return `job.aborted ${id}`;
  };
  await expect
    .poll(async () => received.includes(await abortJob()) || received.length > 0, { interval: 500 })
    .toBe(true);
  const before = received.length;
  const expected: string[] = [];
  for (let count = 0; count < 5; count++) expected.push(await abortJob());
  process.kill(stack.pids().controlPlane, "SIGKILL");
  for (let count = 0; count < 5; ) {
    const event = await abortJob().catch(() => null);
    if (event === null) continue;
    expected.push(event);
    count += 1;
  }
  const ours = (): string[] => received.slice(before).filter((event) => expected.includes(event));
  await expect.poll(() => ours().length).toBeGreaterThanOrEqual(expected.length);
  child.kill("SIGINT");
  await once(child, "close");
  await receiver.close();
  expect([child.exitCode, ours().toSorted()]).toEqual([0, expected.toSorted()]);
});

/** Forwards connections and counts the bytes that clients send. */
async function countingProxy(target: URL): Promise<{ url: string; sent: () => number; server: Server }> {
  let sent = 0;
  const server = createServer((client) => {
    const upstream = connect(Number(target.port), target.hostname);
    client.on("data", (chunk) => {
      sent += chunk.length;
    });
    client.pipe(upstream).pipe(client);
    for (const socket of [client, upstream]) {
      socket.on("error", () => {
        client.destroy();
        upstream.destroy();
      });
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, sent: () => sent, server };
}

const MIB = 2 ** 20;
/** 5 GiB with COPRA_UPLOAD_MIB=5120. */
const SIZE = Number(process.env.COPRA_UPLOAD_MIB ?? 224) * MIB;

it("resumes an upload that was killed, and sends less than 65 MiB again", async () => {
  const source = join(folder, "sparse.mov");
  writeFileSync(source, "x");
  truncateSync(source, SIZE);
  const proxy = await countingProxy(new URL(stack.api));
  const uploadEnv = { ...bareEnvironment(join(folder, "upload")), COPRA_URL: proxy.url, COPRA_API_KEY: stack.apiKey };
  const args = ["encode", source, "--to", "mp4:240p", "--no-wait"];
  const first = startCli(args, uploadEnv);
  await expect.poll(() => proxy.sent() / SIZE, { interval: 20 }).toBeGreaterThan(0.6);
  const [, peakKb = "0"] = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${first.pid}/status`, "utf8")) ?? [];
  first.kill("SIGKILL");
  await once(first, "close");
  const again = await runCli(args, uploadEnv);
  expect(again).toMatchObject({ code: 0, stderr: expect.stringContaining("Continues the upload after") });
  const extra = proxy.sent() - SIZE;
  console.log(`${Math.round(extra / MIB)} MiB sent again, ${Math.round(Number(peakKb) / 1024)} MiB of memory`);
  expect(extra).toBeGreaterThan(0);
  expect(extra).toBeLessThan(65 * MIB);
  expect(Number(peakKb) / 1024).toBeLessThan(250);
  proxy.server.close();
}, 1_200_000);
