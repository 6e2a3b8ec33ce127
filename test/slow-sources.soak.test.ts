// Sources that arrive slowly, from hosts without ranges, do not block encodes of other accounts.
import { readFileSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { afterAll, beforeAll, expect, it } from "vitest";
import { basicAuth } from "../local/stack/access.ts";
import { fileFolder, startServer, untilEnd } from "./fixtures.ts";
import { look } from "./look.ts";
import { makeClip } from "./media.ts";
import { startTestStack, type TestStack } from "./stack.ts";

const SIZE_BYTES = 50e6;
/** 20 kB/s, just above the rate below which a node aborts a transfer. */
const DRIP = { bytes: 2000, everyMs: 100 };
/**
 * After five minutes, the hub holds no encode slot for the inspections (worker/dispatch/matching/nodes/roster.ts).
 */
const ACCOUNT_LIMIT_MS = 450_000;

let stack: TestStack;
let clip: Buffer;
const slow = new Set<ServerResponse>();
const host = untilEnd(
  await startServer((request, response) => {
    if (request.url === "/clip.mp4") return void response.end(clip);
    response.writeHead(200, { "content-type": "video/mp4", "content-length": SIZE_BYTES });
    slow.add(response.on("close", () => slow.delete(response)));
  }),
);
const drip = setInterval(() => {
  for (const response of slow) response.write(Buffer.alloc(DRIP.bytes));
}, DRIP.everyMs);
const folder = fileFolder();

beforeAll(async () => {
  clip = readFileSync(await makeClip("silent.mp4", folder));
  stack = await startTestStack({ nodes: 1 });
});
afterAll(async () => {
  clearInterval(drip);
  await stack?.stop();
});

it(
  "encodes another account's video while the only node fetches four slow sources",
  async () => {
    const urlOf = (path: string): string => `${host.origin}/${path}`;
    const jobOf = (path: string) => ({
      input: { url: urlOf(path) },
      outputs: { "mp4:64x64": { path: `${path}.mp4` } },
    });
    const held = [];
    for (const name of ["a", "b", "c", "d"]) held.push(await stack.submit(jobOf(name)));
    await expect.poll(() => slow.size, { timeout: 60_000 }).toBeGreaterThan(0);

    const authorization = `Bearer ${stack.adminToken}`;
    const created = await stack.request("POST", "/admin/accounts", { name: "other" }, { authorization });
    const { api_key: key } = created.body as { api_key: string };
    const other = { authorization: basicAuth(key) };
    const { id } = await stack.submit(jobOf("clip.mp4"), other);
    const job = async () => (await stack.request("GET", `/jobs/${id}`, undefined, other)).body as JobBody;
    await expect.poll(async () => (await job()).status, { timeout: ACCOUNT_LIMIT_MS }).toBe("job.completed");
    expect((await look((await job()).outputs[0]?.url)).frames).toBeGreaterThan(0);
    // The slow sources are still being fetched.
    for (const { id: slowId } of held) {
      expect((await stack.request("GET", `/jobs/${slowId}`)).body).toMatchObject({ status: "job.starting" });
    }
    expect(slow.size).toBeGreaterThan(0);
  },
  ACCOUNT_LIMIT_MS + 120_000,
);

type JobBody = { readonly status: string; readonly outputs: readonly { readonly url?: string }[] };
