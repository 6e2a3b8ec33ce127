// Both Workers as they are deployed, in workerd: each reaches the other's objects.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { convertV4MiniflareOptions, Miniflare } from "miniflare";
import { afterAll, beforeAll, expect, it } from "vitest";
import { PROTOCOL_VERSION } from "#shared/protocol/frames.ts";
import { applyMigrations } from "../control-plane/migrations.ts";
import { ROOT } from "../home/constants.ts";
import { deploy } from "./run-deploy.ts";
import { wrangler } from "./wrangler.ts";

const ADMIN = "admin-token-of-more-than-32-characters";
const SEALING_KEYS = "k1:MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=";
const limit = (id: string) => ({ namespace_id: id, simple: { limit: 1000, period: 60 as const } });
const NOBODY = "http://127.0.0.1:9";

/** wrangler builds four times. */
const BUILD_LIMIT_MS = 240_000;

let folder: string;
let workers: Miniflare;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "copra-two-workers-"));
  await deploy(
    (args) => wrangler(args),
    ["--dry-run", "--outdir", built()],
    () => {},
  );
  workers = new Miniflare(
    convertV4MiniflareOptions({
      ...{
        host: "127.0.0.1",
        port: 0,
        cf: false,
        telemetry: { enabled: false },
        resourcePersistencePath: join(folder, "data"),
      },
      // What the two log is of no use here.
      handleStructuredLogs: () => {},
      workers: [
        {
          ...worker("copra", "main-worker.js"),
          bindings: { ADMIN_TOKEN: ADMIN, KEY_PEPPER: "pepper of a test", SEALING_KEYS, ALLOW_PRIVATE: "loopback" },
          d1Databases: { DB: "copra" },
          ratelimits: {
            CLIENT_RATE: limit("1"),
            REFUSED_RATE: limit("3"),
            ADMIN_REFUSED_RATE: limit("4"),
            SEND_RATE: limit("5"),
          },
          durableObjects: {
            JOB: { className: "JobObject", useSQLite: true },
            ACCOUNT: { className: "AccountObject", useSQLite: true },
            HUB: { className: "NodeHub", scriptName: "copra-hub", useSQLite: true },
          },
        },
        {
          ...worker("copra-hub", "hub-worker.js"),
          bindings: { SEALING_KEYS },
          durableObjects: {
            OWN: { className: "NodeHub", useSQLite: true },
            JOB: { className: "JobObject", scriptName: "copra", useSQLite: true },
          },
        },
      ],
    }),
  );
  await applyMigrations(await workers.getD1Database("DB", "copra"), join(ROOT, "migrations"));
}, BUILD_LIMIT_MS);
afterAll(async () => {
  await workers?.dispose();
  rmSync(folder, { recursive: true, force: true });
});

const built = (): string => join(folder, "built");
const worker = (name: string, file: string) => ({
  ...{ name, modules: true, script: readFileSync(join(built(), file), "utf8") },
  ...{ compatibilityDate: "2026-08-15", compatibilityFlags: ["global_fetch_strictly_public"] },
});

async function send(path: string, authorization: string, body: object): Promise<Record<string, string>> {
  const headers = { authorization, "content-type": "application/json" };
  const url = `http://copra.test/v2${path}`;
  const response = await workers.dispatchFetch(url, { method: "POST", headers, body: JSON.stringify(body) });
  expect(response.status).toBe(201);
  return (await response.json()) as Record<string, string>;
}

it("a job of the main Worker reaches a node at the hub's, which needs no secret but SEALING_KEYS", async () => {
  const { node_token: token } = await send("/admin/node-tokens", `Bearer ${ADMIN}`, { name: "rack" });
  const { api_key: key } = await send("/admin/accounts", `Bearer ${ADMIN}`, { name: "me" });
  const headers = { authorization: `Bearer ${token}`, upgrade: "websocket" };
  const { webSocket } = await workers.dispatchFetch("http://copra.test/v2/nodes/connect", { headers });
  const frames: { type: string; assignment?: { jobId: string } }[] = [];
  webSocket?.addEventListener("message", ({ data }) => frames.push(JSON.parse(String(data))));
  webSocket?.accept();
  const capabilities = { ffmpegVersion: "7.0", encoders: ["libx264", "aac"], muxers: ["mp4"], cpus: 2 };
  const about = { nodeId: "a", session: "s", capabilities, slots: { inspect: 1, encode: 1 }, running: [] };
  webSocket?.send(JSON.stringify({ type: "hello", protocol: PROTOCOL_VERSION, ...about }));
  const { id } = await send("/jobs", `Basic ${btoa(`${key}:`)}`, {
    input: { url: `${NOBODY}/a.mp4` },
    storage: {
      ...{ service: "s3other", endpoint: NOBODY, bucket: "b", region: "us-east-1", force_path_style: true },
      credentials: { access_key_id: "a", secret_access_key: "b" },
    },
    outputs: { mp4: { path: "/a.mp4" } },
    notification: { type: "http", url: NOBODY },
  });
  await expect.poll(() => frames.find(({ type }) => type === "assign")?.assignment?.jobId).toBe(id);
  expect(frames[0]?.type).toBe("welcome");
  webSocket?.close();
});
