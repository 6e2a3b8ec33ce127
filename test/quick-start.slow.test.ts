// Runs the exact commands of docs/quick-start.md, with the test's folders, ports and file names; nothing is cloned.
// Prints their times without testing them, because they depend on the machine.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import { sampleClip } from "../local/demo/sample.ts";
import { FakeCloudflare } from "../local/deploy/testing/fake-cloudflare.ts";
import { ROOT } from "../local/home/constants.ts";
import { emptiedFolder, fileFolder } from "./fixtures.ts";

const PAGE = readFileSync(join(ROOT, "docs", "quick-start.md"), "utf8");
/** The commands of a section's blocks, without comments. */
const commandsOf = (title: string): string[] =>
  [...(PAGE.split(`\n## ${title}\n`)[1]?.split("\n## ")[0] ?? "").matchAll(/```sh\n(.*?)```/gs)].flatMap(
    ([, text = ""]) =>
      text
        .split("\n")
        .map((line) => line.replace(/\s+#.*$/, "").trim())
        .filter((line) => line !== ""),
  );

const clip = fileFolder();
const folder = emptiedFolder();
let env: Record<string, string | undefined>;
const children: ChildProcess[] = [];

beforeAll(async () => {
  await sampleClip(clip);
});

beforeEach(async () => {
  mkdirSync(join(folder, "home"));
  // The demo makes the sample if it is missing.
  for (const copy of ["video.mov", "home/sample.mp4"]) copyFileSync(join(clip, "sample.mp4"), join(folder, copy));
  const [port, s3Port] = [await freePort(), await freePort()];
  env = { ...process.env, COPRA_HOME: join(folder, "home"), COPRA_PORT: port, COPRA_S3_PORT: s3Port };
});
afterEach(async () => {
  for (const child of children.splice(0)) {
    if (child.exitCode !== null || child.signalCode !== null) continue;
    child.kill("SIGTERM");
    await once(child, "exit");
  }
});

async function freePort(): Promise<string> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  return typeof address === "object" && address ? String(address.port) : "0";
}

/** Starts a command of the page; `printed` returns its output so far. */
function begin(command: string): { child: ChildProcess; printed: () => string } {
  const text = command
    .replaceAll("/srv/copra", join(folder, "home"))
    .replace("video.mov", join(folder, "video.mov"))
    .replace("-o out", `-o ${join(folder, "out")}`);
  const child = spawn("bash", ["-c", `exec ${text.replace(/^(\w+=\S+ )/, "env $1")}`], {
    cwd: ROOT,
    env,
    stdio: "pipe",
  });
  children.push(child);
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream?.on("data", (data) => (output += data));
  return { child, printed: () => output };
}

/** Runs a command of the page, which must succeed; returns its output. */
async function run(command: string): Promise<string> {
  const { child, printed } = begin(command);
  if (child.exitCode === null) await once(child, "close");
  expect([command, child.exitCode, child.exitCode === 0 ? "" : printed()]).toEqual([command, 0, ""]);
  return printed();
}

/** The command that contains a text. */
function commandWith(commands: readonly string[], text: string): string {
  const match = commands.find((command) => command.includes(text));
  if (match === undefined) throw new Error(`The page has no command with ${text}`);
  return match;
}

const seconds = (from: number): string => `${((performance.now() - from) / 1000).toFixed(1)} s`;

it("on this machine: runs the demo, then starts a service and encodes a file", async () => {
  const commands = commandsOf("On this machine, to try it");
  const from = performance.now();
  expect(await run(commandWith(commands, "npm run demo"))).toContain("Encoding a sample clip");
  const demo = seconds(from);
  const start = performance.now();
  const service = begin(commandWith(commands, "npm start"));
  await expect.poll(service.printed, { interval: 250 }).toContain("/dashboard#once=");
  const started = seconds(start);
  const encode = performance.now();
  await run(commandWith(commands, "copra -- encode"));
  expect(readdirSync(join(folder, "out"))).toHaveLength(1);
  console.info(`demo ${demo}, start ${started}, file to file ${seconds(encode)}`);
});

it("on a server: starts a service, prints a sign-in link, and encodes a file", async () => {
  const commands = commandsOf("On one machine, for good");
  const start = performance.now();
  const service = begin(commandWith(commands, "copra -- serve"));
  await expect.poll(() => existsSync(join(folder, "home", "stack.json")), { interval: 250 }).toBe(true);
  const started = seconds(start);
  expect(await run(commandWith(commands, "copra -- dashboard"))).toContain("/dashboard#once=");
  const encode = performance.now();
  await run(commandWith(commands, "copra -- encode"));
  expect(readdirSync(join(folder, "out"))).toHaveLength(1);
  console.info(`serve ${started}, file to file ${seconds(encode)}`);
  service.child.kill("SIGTERM");
  expect(await once(service.child, "exit")).toEqual([0, null]);
});

it("on Cloudflare: builds a deploy, and changes nothing in the account", async () => {
  const account = await FakeCloudflare.start();
  env = { ...env, ...account.env, WRANGLER_SEND_METRICS: "false" };
  const from = performance.now();
  const printed = await run(commandWith(commandsOf("On Cloudflare, with machines anywhere"), "--dry-run"));
  await account.close();
  expect(account.changes).toEqual([]);
  expect(printed).toContain("env.DB (copra)");
  console.info(`deploy --dry-run ${seconds(from)}`);
});
