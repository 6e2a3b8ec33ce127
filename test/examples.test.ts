// Runs every program in examples/ against the local system, with the command in its first lines.
import { type ChildProcessByStdio, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, it } from "vitest";
import { few, SLOW } from "../encoder-node/testing/few.ts";
import { ROOT } from "../local/home/constants.ts";
import { fileFolder, untilEnd } from "./fixtures.ts";
import { makeClip } from "./media.ts";
import { startSourceServer } from "./services/source-server.ts";
import { sharedStack } from "./stack.ts";

const run = promisify(execFile);
const EXAMPLES = join(ROOT, "examples");

const folder = fileFolder();
const stack = sharedStack();
const sources = untilEnd(await startSourceServer(folder));
let receiver: ChildProcessByStdio<null, Readable, null>;
let environment: NodeJS.ProcessEnv;
/** Lines that the example webhook receiver has printed. */
const received: string[] = [];

beforeAll(async () => {
  receiver = spawn(process.execPath, [join(EXAMPLES, "verify-webhook.ts")], {
    env: { ...process.env, COPRA_WEBHOOK_SECRET: stack.webhookSecret, PORT: "0" },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const lines = createInterface(receiver.stdout).on("line", (line) => received.push(line));
  const [listening] = await once(lines, "line");
  environment = {
    ...process.env,
    COPRA_URL: stack.api.replace(/\/v2$/, ""),
    COPRA_KEY: stack.apiKey,
    COPRA_WEBHOOK: `http://127.0.0.1:${JSON.parse(String(listening).slice("listening on ".length)).port}/`,
  };
});
afterAll(async () => {
  receiver?.kill();
});

const start = async (name: string, clip: string, env = environment): Promise<string> => {
  const file = join(EXAMPLES, name);
  const program = name.endsWith(".sh") ? "bash" : process.execPath;
  const { stdout } = await run(program, [file, sources.urlOf(clip)], { env });
  return stdout;
};

const urlsIn = (output: string): string[] => output.match(/http:\S+/g) ?? [];

/** Byte sizes of the files at all URLs in the output. */
const sizesOf = (output: string): Promise<number[]> =>
  Promise.all(urlsIn(output).map(async (url) => (await (await fetch(url)).arrayBuffer()).byteLength));

few(1).each<[string, RegExp[]]>([
  ["submit-job.sh", [/examples\/submit\/360p\.mp4$/, /examples\/submit\/thumbnail\.jpg$/]],
  ["follow-job.ts", [/examples\/follow\/360p\.mp4$/, /examples\/follow\/audio\.mp3$/]],
  ["stream.ts", [/hls\/master\.m3u8$/, /dash\/master\.mpd$/]],
])("%s prints the URLs of its outputs", async (name, expected) => {
  const output = await start(name, await makeClip("ntsc.mp4", folder));
  expect(urlsIn(output)).toEqual(expected.map((pattern) => expect.stringMatching(pattern)));
  expect(Math.min(...(await sizesOf(output)))).toBeGreaterThan(100);
});

// test/ultrafast.slow.test.ts has several nodes and a long enough source.
it("ultrafast.ts prints the number of chunks, or the reason why there are none", SLOW, async () => {
  const output = await start("ultrafast.ts", await makeClip("ntsc.mp4", folder));
  expect(output).toMatch(/^chunks: 0 \(.+\)\n.*240p\.mp4\n$/);
});

it("verify-webhook.ts accepts the service's webhooks and rejects others", async () => {
  const completed = (): string[] => received.filter((line) => line.startsWith("job.completed of job "));
  await expect.poll(() => new Set(completed()).size).toBeGreaterThan(0);
  const forged = await fetch(String(environment.COPRA_WEBHOOK), { method: "POST", body: "{}" });
  expect(forged.status).toBe(401);
  await expect.poll(() => received.at(-1)).toBe("rejected: the signature is not valid");
});

it("verify-webhook.ts does not start without a secret", async () => {
  const unset = { ...environment, COPRA_WEBHOOK_SECRET: "" };
  const failed = await start("verify-webhook.ts", "", unset).catch((error: object) => error);
  expect(failed).toMatchObject({ code: 1, stderr: expect.stringContaining("Set COPRA_WEBHOOK_SECRET") });
});

it.each(["submit-job.sh", "follow-job.ts", "stream.ts", "ultrafast.ts"])(
  "%s prints why a request fails",
  async (name) => {
    const COPRA_KEY = "k-unknown";
    const clip = join(folder, "ntsc.mp4");
    const failed = await start(name, clip, { ...environment, COPRA_KEY }).catch((error: object) => error);
    expect(failed).toMatchObject({ code: 1, stderr: expect.stringContaining("authentication_failed") });
  },
);

it("cluster.ts completes its jobs on two instances", SLOW, async () => {
  const argv = ["local/bootstrap.mjs", "examples/cluster.ts", "--jobs", "2", "--quiet"];
  const { stdout } = await run(process.execPath, argv, { cwd: ROOT });
  expect(stdout).toMatch(/jobs +2 of 2 completed in \d+ s\nwebhooks +2 of 2 arrived once, 0 more than once\n/);
});

/** test/upload-links.test.ts runs this example in a browser. It has a page and a backend, so it may be longer. */
const PAGE = "upload-page.ts";
/** A system of its own. */
const CLUSTER = "cluster.ts";

it("tests run every example, and no example is longer than 60 lines", () => {
  const files = readdirSync(EXAMPLES).filter((name) => name !== "README.md");
  expect(files.toSorted()).toEqual([
    CLUSTER,
    "follow-job.ts",
    "stream.ts",
    "submit-job.sh",
    "ultrafast.ts",
    PAGE,
    "verify-webhook.ts",
  ]);
  for (const file of files.filter((name) => name !== PAGE && name !== CLUSTER))
    expect(readFileSync(join(EXAMPLES, file), "utf8").split("\n").length).toBeLessThanOrEqual(61);
});
