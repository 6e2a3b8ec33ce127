// wrangler deploys the Worker to a fake account, and workerd runs the uploaded Worker.
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Miniflare } from "miniflare";
import { afterAll, beforeAll, expect, it } from "vitest";
import * as z from "zod";
import { ALL_SOFTWARE } from "#shared/plan/encoders/software-encoders.ts";
import { PROTOCOL_VERSION } from "#shared/protocol/frames.ts";
import { fileFolder } from "../../test/fixtures.ts";
import { ensureAssets } from "../assets/assets.ts";
import { deploy } from "./run-deploy.ts";
import { FakeCloudflare } from "./testing/fake-cloudflare.ts";
import { runUploaded } from "./testing/run-uploaded.ts";
import { wrangler } from "./wrangler.ts";

/** The tests run wrangler a dozen times. */
const LIMIT_MS = 480_000;

const folder = fileFolder();
let account: FakeCloudflare;
let workers: Miniflare | null = null;
const printed: string[] = [];

beforeAll(async () => {
  account = await FakeCloudflare.start();
  await deployOnce();
}, LIMIT_MS);
afterAll(async () => {
  await workers?.dispose();
  await account.close();
});

const stateFile = (): string => join(folder, "copra.json");

async function deployOnce(env: Record<string, string> = {}, target = account, file = stateFile()): Promise<void> {
  await ensureAssets();
  await deploy({
    run: wrangler,
    args: ["--outdir", join(folder, "built")],
    env: { ...process.env, CI: "", ...target.env, ...env },
    print: (line) => printed.push(line),
    stateFile: file,
    fetch: send,
  });
}

/** Sends a request to the uploaded service. */
async function send(input: string | URL | Request, init: RequestInit = {}): Promise<Response> {
  workers ??= runUploaded(account, join(folder, "data"));
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

it("makes what the account lacks, with new secrets, and creates the first account", async () => {
  expect(account.unknown).toEqual([]);
  expect(account.assets).toEqual(expect.arrayContaining(["/player.html", "/shell.html"]));
  expect(account.assets.filter((name) => /\.(map|tsx?)$|^\/\./.test(name))).toEqual([]);
  expect(account.changes).toEqual([
    "create database copra",
    "create bucket copra-storage",
    "deploy copra with ADMIN_TOKEN MASTER_SECRET",
  ]);
  expect(statSync(stateFile()).mode & 0o777).toBe(0o600);
  expect(printed.join("\n")).toMatch(
    /Dashboard +https:\/\/copra\.someone\.workers\.dev\/dashboard#once=\S+ .*\nAPI key +\S+\n.*\nNode token +\S+/,
  );
  const options = { headers: { authorization: `Basic ${btoa(`${accessOf()?.apiKey}:`)}` } };
  expect((await send("https://copra.someone.workers.dev/v2/jobs", options)).status).toBe(200);
});

it("migrates before an update, keeps the secrets and the access, and shows them once", async () => {
  const [before, access] = [{ ...account.workers.get("copra")?.secrets }, accessOf()];
  account.changes.length = 0;
  printed.length = 0;
  await deployOnce({ ADMIN_TOKEN: "another token of the environment" });
  expect(account.changes).toEqual([expect.stringMatching(/^migrate 0000/), "deploy copra"]);
  expect([account.workers.get("copra")?.secrets, accessOf()]).toEqual([before, access]);
  expect(printed).toEqual(["https://copra.someone.workers.dev/dashboard"]);
});

it("leaves the deployed version when the database cannot be migrated, or the token lacks a permission", async () => {
  account.changes.length = 0;
  account.denied = { start: "/d1/", code: 7403 };
  await expect(deployOnce()).rejects.toThrow(/The database could not be migrated: .*7403/);
  account.denied = { start: "/workers/", code: 10000 };
  await expect(deployOnce()).rejects.toThrow(/10000.*docs\/deploying\.md/);
  account.denied = null;
  expect(account.changes).toEqual([]);
});

it("names the remedy in an account without R2, and keeps the new secrets for the next deploy", async () => {
  const bare = await FakeCloudflare.start();
  const file = join(folder, "bare.json");
  bare.hasR2 = false;
  try {
    await expect(deployOnce({}, bare, file)).rejects.toThrow(/no R2\. Enable it .*, or remove \[\[r2_buckets\]\]/);
    expect(bare.workers.size).toBe(0);
    expect(Object.keys(JSON.parse(readFileSync(file, "utf8")).services.copra.secrets).sort()).toEqual([
      "ADMIN_TOKEN",
      "MASTER_SECRET",
    ]);
  } finally {
    await bare.close();
  }
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
  const capabilities = { ffmpegVersion: "7.0", cpus: 2, ...ALL_SOFTWARE };
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

/** Requests to a service, each with its status after a plain deploy, and after the secrets are put. */
const FIRST_REQUESTS: readonly [string, string, Record<string, string>, number, number][] = [
  ["GET", "/", { accept: "text/html" }, 503, 302],
  ["GET", "/dashboard", { accept: "text/html" }, 503, 200],
  ["GET", "/docs", { accept: "text/html" }, 200, 200],
  ["GET", "/v2/health", {}, 503, 200],
  ["GET", "/v2/health/ready", {}, 503, 200],
  ["POST", "/v2/jobs", {}, 503, 401],
  ["GET", "/v2/admin/accounts", { authorization: `Bearer ${"a".repeat(44)}` }, 503, 200],
];

it("deploys with wrangler alone, names the missing secrets, and works as soon as they are put", async () => {
  const empty = await FakeCloudflare.start();
  const run = (...args: string[]) => wrangler(args, { env: { ...empty.env, CI: "1" } });
  const statuses = async (name: string): Promise<unknown[]> => {
    const uploaded = runUploaded(empty, join(folder, name));
    try {
      const { outcome } = await (await uploaded.getWorker()).scheduled({ cron: "" });
      const answers = [];
      for (const [method, path, headers] of FIRST_REQUESTS) {
        const init = { method, headers, redirect: "manual" as const };
        const response = await uploaded.dispatchFetch(`https://copra.test${path}`, init);
        const text = await response.text();
        const names = ["MASTER_SECRET", "ADMIN_TOKEN"].every((secret) =>
          text.includes(`wrangler secret put ${secret}`),
        );
        answers.push([method, path, response.status, response.status === 503 && names]);
      }
      return [outcome, ...answers];
    } finally {
      await uploaded.dispose();
    }
  };
  try {
    expect(await run("deploy")).toMatchObject({ code: 0 });
    expect([empty.changes, empty.unknown]).toEqual([
      ["create database copra", "create bucket copra-storage", "deploy copra"],
      [],
    ]);
    expect(empty.assets).toContain("/shell.html");
    const rows = (at: 3 | 4) => FIRST_REQUESTS.map((row) => [row[0], row[1], row[at], row[at] === 503]);
    expect(await statuses("bare")).toEqual(["ok", ...rows(3)]);
    const { secrets } = empty.workers.get("copra") ?? {};
    Object.assign(secrets ?? {}, { MASTER_SECRET: "m".repeat(44), ADMIN_TOKEN: "a".repeat(44) });
    expect(await statuses("complete")).toEqual(["ok", ...rows(4)]);
  } finally {
    await empty.close();
  }
});
