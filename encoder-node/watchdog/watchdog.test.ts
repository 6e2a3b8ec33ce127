import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, it } from "vitest";
import { emptiedFolder } from "../../test/fixtures.ts";

const PROCESS = fileURLToPath(new URL("../testing/processes/hanging-process.ts", import.meta.url));
const LEASE = "AAAAAAAAAAAAAA.inspect.1";
const FAILURE = { token: "token-of-inspect", failure: { code: "node_failed", message: expect.any(String) } };

const spool = emptiedFolder();
let server: Server;
let posts: { path: string | undefined; body: unknown }[];
beforeEach(async () => {
  posts = [];
  server = createServer(async (request, response) => {
    posts.push({ path: request.url, body: JSON.parse(await text(request)) });
    response.end("{}");
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
});
afterEach(async () => {
  server.close();
});

/** Runs a process that hangs, until it has ended. */
async function hang(how: string, url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`) {
  const child = spawn(process.execPath, [PROCESS, how, url, spool], { stdio: ["ignore", "ignore", "pipe"] });
  const [stderr, [code, signal]] = await Promise.all([text(child.stderr), once(child, "exit")]);
  const lines = stderr.split("\n").filter((line) => line.startsWith("{"));
  return { code, signal, log: lines.map((line) => JSON.parse(line)) };
}

it.each(["loopsForever", "matchesForever", "waitsInTheSystem"])(
  "ends a process that %s, states the place, and reports the lease of the hanging code as failed",
  async (how) => {
    const { code, log } = await hang(how);
    const expected = { message: "main thread hung", lease: LEASE, stack: expect.stringContaining(how) };
    expect(log).toContainEqual(expect.objectContaining(expected));
    expect(code).toBe(1);
    expect(posts).toEqual([{ path: `/v2/nodes/leases/${LEASE}/fail`, body: FAILURE }]);
    expect(readdirSync(spool)).toEqual([]);
  },
);

it("keeps the report of a hang for the next start when the control plane cannot be reached", async () => {
  const { code } = await hang("loopsForever", "http://127.0.0.1:9");
  expect(code).toBe(1);
  const [file = ""] = readdirSync(spool);
  expect(JSON.parse(readFileSync(join(spool, file), "utf8"))).toEqual({ lease: LEASE, verb: "fail", body: FAILURE });
});

it("blames no lease when the hanging code works for no lease", async () => {
  const { code, log } = await hang("for no lease");
  expect([code, posts]).toEqual([1, []]);
  expect(log).toContainEqual(expect.objectContaining({ lease: null }));
});
