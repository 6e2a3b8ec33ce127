// wrangler deploys the Worker to a fake account, and workerd runs the uploaded Worker.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Miniflare } from "miniflare";
import { afterAll, beforeAll, expect, it } from "vitest";
import * as z from "zod";
import { PROTOCOL_VERSION } from "#shared/protocol/frames.ts";
import { ensureAssets } from "../assets/assets.ts";
import { ROOT } from "../home/constants.ts";
import { deploy } from "./run-deploy.ts";
import { FakeCloudflare } from "./testing/fake-cloudflare.ts";
import { runUploaded } from "./testing/run-uploaded.ts";
import { wrangler } from "./wrangler.ts";

/** The tests run wrangler five times. */
const LIMIT_MS = 480_000;

let folder: string;
let account: FakeCloudflare;
let workers: Miniflare | null = null;
const printed: string[] = [];

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "copra-with-wrangler-"));
  account = await FakeCloudflare.start();
  account.subdomain = null;
  await deployOnce();
}, LIMIT_MS);
afterAll(async () => {
  await workers?.dispose();
  await account.close();
  rmSync(folder, { recursive: true, force: true });
});

const stateFile = (): string => join(folder, "copra.json");

async function deployOnce(): Promise<void> {
  await deploy({
    run: (args, { env } = {}) => wrangler(args, { env: { ...account.env, ...env } }),
    args: ["--outdir", join(folder, "built"), "--subdomain", "someone"],
    env: account.env,
    print: (line) => printed.push(line),
    buildAssets: () => ensureAssets(),
    ask: (name) => Promise.reject(new Error(`asked for ${name}`)),
    askSubdomain: () => Promise.reject(new Error("asked for the subdomain")),
    stateFile: stateFile(),
    fetch: send,
  });
}

/** Sends a request to the uploaded service. */
async function send(input: string | URL | Request, init: RequestInit = {}): Promise<Response> {
  workers ??= await runUploaded(account, join(folder, "data"));
  const { method = "GET", headers = {}, body = null } = init;
  const response = await workers.dispatchFetch(String(input), {
    method,
    headers: Object.fromEntries(new Headers(headers)),
    ...(typeof body === "string" ? { body } : {}),
  });
  return new Response(await response.arrayBuffer(), { status: response.status, headers: [...response.headers] });
}

const State = z.object({
  services: z.record(z.string(), z.object({ access: z.object({ apiKey: z.string(), nodeToken: z.string() }) })),
});
const accessOf = () => Object.values(State.parse(JSON.parse(readFileSync(stateFile(), "utf8"))).services)[0]?.access;

it("registers a subdomain in a new account, migrates, uploads the Worker, and creates the first account", async () => {
  expect(account.unknown).toEqual([]);
  expect(account.changes[0]).toBe("register someone.workers.dev");
  expect(account.assets).toEqual(expect.arrayContaining(["/player.html", "/shell.html"]));
  expect(account.assets.filter((name) => /\.(map|tsx?)$|^\/\./.test(name))).toEqual([]);
  const deploys = account.changes.filter((change) => change.startsWith("deploy"));
  expect(deploys).toEqual(["deploy copra with ADMIN_TOKEN MASTER_SECRET"]);
  expect(account.changes.findLastIndex((change) => change.startsWith("migrate"))).toBe(account.changes.length - 2);
  expect(printed.join("\n")).toMatch(
    /Dashboard +https:\/\/copra\.someone\.workers\.dev\/dashboard#once=\S+ .*\nAPI key +\S+\n.*\nNode token +\S+/,
  );
  const options = { headers: { authorization: `Basic ${btoa(`${accessOf()?.apiKey}:`)}` } };
  expect((await send("https://copra.someone.workers.dev/v2/jobs", options)).status).toBe(200);
});

it("changes nothing in the second deploy", async () => {
  account.changes.length = 0;
  printed.length = 0;
  await deployOnce();
  expect(account.changes).toEqual([]);
  expect(printed[0]).toBe("Everything is as it should be");
});

it("gives a job to a node", async () => {
  const { apiKey, nodeToken } = accessOf() ?? {};
  const headers = { authorization: `Bearer ${nodeToken}`, upgrade: "websocket" };
  const url = "https://copra.someone.workers.dev/v2";
  const connected = await workers?.dispatchFetch(`${url}/nodes/connect`, { headers });
  const webSocket = connected?.webSocket;
  const frames: { type: string; assignment?: { jobId: string } }[] = [];
  webSocket?.addEventListener("message", ({ data }) => frames.push(JSON.parse(String(data))));
  webSocket?.accept();
  const capabilities = { ffmpegVersion: "7.0", encoders: ["libx264", "aac"], muxers: ["mp4"], cpus: 2 };
  const about = { nodeId: "a", session: "s", capabilities, slots: { inspect: 1, encode: 1 }, running: [] };
  webSocket?.send(JSON.stringify({ type: "hello", protocol: PROTOCOL_VERSION, ...about }));
  const response = await send(`${url}/jobs`, {
    method: "POST",
    headers: { authorization: `Basic ${btoa(`${apiKey}:`)}`, "content-type": "application/json" },
    body: JSON.stringify({
      input: { url: "https://example.com/a.mp4" },
      storage: {
        service: "s3other",
        endpoint: "https://s3.example.com",
        bucket: "b",
        region: "us-east-1",
        credentials: { access_key_id: "a", secret_access_key: "b" },
      },
      outputs: { mp4: { path: "/a.mp4" } },
      notification: { type: "http", url: "https://example.com/hook" },
    }),
  });
  expect(response.status).toBe(201);
  const { id } = z.object({ id: z.string() }).parse(await response.json());
  await expect.poll(() => frames.find(({ type }) => type === "assign")?.assignment?.jobId).toBe(id);
  expect(frames[0]?.type).toBe("welcome");
  webSocket?.close();
});

it("creates the database and the bucket, deploys, and applies the schema with wrangler alone", async () => {
  const empty = await FakeCloudflare.start();
  const run = (...args: string[]) => wrangler(args, { env: { ...empty.env, CI: "1" } });
  try {
    expect(await run("deploy")).toMatchObject({ code: 0 });
    expect(await run("d1", "migrations", "apply", "DB", "--remote")).toMatchObject({ code: 0 });
    const migrations = readdirSync(join(ROOT, "migrations")).filter((name) => name.endsWith(".sql"));
    expect([empty.changes, empty.unknown]).toEqual([
      [
        "create database copra",
        "create bucket copra-storage",
        "deploy copra",
        ...migrations.toSorted().map((name) => `migrate ${name}`),
      ],
      [],
    ]);
    expect(empty.assets).toContain("/shell.html");
  } finally {
    await empty.close();
  }
});
