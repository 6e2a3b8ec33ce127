// The two documented commands, npm run wrangler:prepare and wrangler dev, with a node that connects. Runs only in
// test:soak, because wrangler needs half a minute.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { afterEach, expect, it } from "vitest";
import { ROOT } from "../local/home/constants.ts";
import { fileFolder } from "./fixtures.ts";

const SECRETS = join(ROOT, ".dev.vars");
const hadSecrets = existsSync(SECRETS);
const folder = fileFolder();
const children: ChildProcess[] = [];

afterEach(async () => {
  for (const child of children) {
    child.kill("SIGTERM");
    if (child.exitCode === null) await once(child, "exit");
  }
  if (!hadSecrets) rmSync(SECRETS, { force: true });
});

function run(args: string[], env: Record<string, string> = {}): ChildProcess {
  const child = spawn(process.execPath, args, { cwd: ROOT, stdio: "ignore", env: { ...process.env, ...env } });
  children.push(child);
  return child;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  return typeof address === "object" && address ? address.port : 0;
}

it.runIf(process.env.COPRA_SOAK === "1")("serves health requests, and a node connects", async () => {
  const persist = ["--persist-to", join(folder, "state")];
  const [prepared] = await once(run(["local/deploy/prepare-dev.ts"]), "exit");
  expect(prepared).toBe(0);
  const url = `http://127.0.0.1:${await freePort()}`;
  const port = new URL(url).port;
  const wrangler = join("node_modules", "wrangler", "bin", "wrangler.js");
  run([wrangler, "dev", "--ip", "127.0.0.1", "--port", port, "--inspector-port", "0", ...persist]);
  const nodes = async (): Promise<unknown> =>
    (await fetch(`${url}/v2/health`).then((response) => response.json())).nodes;
  await expect.poll(() => nodes().catch(() => null), { timeout: 120_000 }).toBe(0);
  const [, token] = /ADMIN_TOKEN="([^"]+)"/.exec(readFileSync(SECRETS, "utf8")) ?? [];
  const created = await fetch(`${url}/v2/admin/node-tokens`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify({ name: "rack" }),
  });
  const { node_token: nodeToken } = await created.json();
  run(["encoder-node/main.ts", "--url", url, "--work", join(folder, "work"), "--isolation", "best-effort"], {
    COPRA_NODE_TOKEN: nodeToken,
  });
  await expect.poll(nodes, { timeout: 60_000 }).toBe(1);
});
