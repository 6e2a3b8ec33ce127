// A fleet of different nodes: two without AV1, a third with AV1, and a fourth in another pool.
import { writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { locateFfmpeg } from "../encoder-node/ffmpeg/discover/locate.ts";
import { type FaultNode, type LogLine, startFaultNode } from "./faults/fault-node.ts";
import { fileFolder, untilEnd } from "./fixtures.ts";
import { makeClip } from "./media.ts";
import type { JobView } from "./services/api-client.ts";
import { startSourceServer } from "./services/source-server.ts";
import { startTestStack, type TestStack } from "./stack.ts";

const folder = fileFolder();
let stack: TestStack;
const sources = untilEnd(await startSourceServer(folder));
let clip: string;
let withoutAv1: Record<string, string>;
const nodes: FaultNode[] = [];

beforeAll(async () => {
  withoutAv1 = await makeFfmpegWithoutAv1(folder);
  clip = sources.urlOf(await makeClip("ntsc.mp4", folder));
  stack = await startTestStack({ nodes: 0 });
});
afterAll(async () => {
  for (const node of nodes) await node.end();
  await stack?.stop();
});

const originOf = ({ api }: TestStack): string => new URL(api).origin;

/** The real ffmpeg without its AV1 encoders in the list. Returns the environment for nodes. */
async function makeFfmpegWithoutAv1(home: string): Promise<Record<string, string>> {
  const { ffmpeg } = await locateFfmpeg(process.env);
  const path = join(home, "ffmpeg-without-av1");
  const script = `#!/bin/sh\ncase "$*" in *-encoders*) "${ffmpeg.path}" "$@" | grep -v av1;; *) exec "${ffmpeg.path}" "$@";; esac\n`;
  await writeFile(path, script, { mode: 0o755 });
  return { FFMPEG_PATH: path, COPRA_TOOL_FOLDERS: dirname(ffmpeg.path) };
}

type Options = { token?: string; url?: string; env?: Record<string, string>; argv?: string[] };

async function connect(name: string, { token = stack.nodeToken, url = originOf(stack), ...options }: Options = {}) {
  const node = startFaultNode({ name, url, token, home: folder, ...options });
  nodes.push(node);
  await node.connected();
  return node;
}

const submit = (format: string, path: string, settings: object = {}): Promise<JobView> =>
  stack.submit({ input: { url: clip }, outputs: { [format]: { path } }, settings });

/** The job's `waiting_for`, as its client sees it. */
async function waitingFor({ id }: JobView): Promise<unknown> {
  const { body } = await stack.request("GET", `/jobs/${id}`);
  return (body as { waiting_for?: string }).waiting_for;
}

/** The names of the nodes that did a job's tasks, without duplicates. */
const workersOf = ({ id }: JobView): string[] =>
  nodes.filter((node) => tasksOf(node).some(({ lease }) => String(lease).startsWith(id))).map(({ name }) => name);

const tasksOf = (node: FaultNode): LogLine[] => node.lines().filter(({ message }) => message === "task completed");

it("spreads work over all nodes that can do it", async () => {
  await connect("plain", { env: withoutAv1 });
  await connect("second", { env: withoutAv1 });
  const jobs = await Promise.all([0, 1, 2, 3].map((at) => submit("mp4:240p", `usual/${at}.mp4`)));
  for (const job of jobs) expect(await stack.waitForJob(job.id)).toMatchObject({ status: "job.completed" });
  expect(new Set(jobs.flatMap(workersOf))).toEqual(new Set(["plain", "second"]));
  // Each job was encoded at the node that had fetched its source.
  for (const job of jobs) expect(workersOf(job)).toHaveLength(1);
  expect(sources.requests.filter(({ method }) => method === "GET")).toHaveLength(jobs.length);
});

it("reports a missing capability, and does the work when a node has it", async () => {
  const job = await submit("mp4:av1_240p", "av1.mp4");
  await expect.poll(() => waitingFor(job)).toBe("a node with libsvtav1 or libaom-av1 in pool default");
  expect(await stack.waitForJob((await submit("mp4:240p", "beside.mp4")).id)).toMatchObject({
    status: "job.completed",
  });
  await connect("modern");
  expect(await stack.waitForJob(job.id)).toMatchObject({ status: "job.completed" });
  expect(workersOf(job)).toEqual(["modern"]);
  expect(await waitingFor(job)).toBeUndefined();
});

it("keeps pools apart", async () => {
  const job = await submit("mp4:240p", "gpu.mp4", { queue: "gpu" });
  await expect.poll(() => waitingFor(job)).toBe("a node in pool gpu");
  const response = await fetch(`${stack.api}/admin/node-tokens`, {
    method: "POST",
    headers: { authorization: `Bearer ${stack.adminToken}`, "content-type": "application/json" },
    body: JSON.stringify({ name: "gpu", pool: "gpu" }),
  });
  const { node_token: token } = (await response.json()) as { node_token: string };
  await connect("gpu", { token });
  expect(await stack.waitForJob(job.id)).toMatchObject({ status: "job.completed" });
  const usual = await Promise.all([0, 1, 2].map((at) => submit("mp4:240p", `other/${at}.mp4`)));
  for (const { id } of usual) await stack.waitForJob(id);
  expect(workersOf(job)).toEqual(["gpu"]);
  expect(usual.flatMap(workersOf)).not.toContain("gpu");
});

it("sends nothing to a node that cannot do it", () => {
  for (const node of nodes) expect(node.lines().filter(({ message }) => message === "task failed")).toEqual([]);
});
