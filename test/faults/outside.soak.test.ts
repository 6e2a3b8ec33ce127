// Sources, storages and webhook endpoints that misbehave. The job completes all the same, or its error names the cause.
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import * as z from "zod";
import { locateFfmpeg } from "../../encoder-node/ffmpeg/discover/locate.ts";
import { toolEnvironment } from "../../encoder-node/ffmpeg/sandbox/tool-environment.ts";
import { makeLongClip } from "../media.ts";
import { startFormReceiver } from "../services/form-receiver.ts";
import { startFaultProxy } from "./fault-proxy.ts";
import { type FaultWorld, isLong, startFaultWorld } from "./fault-world.ts";
import { any, FRAMES, isPart, LARGE_FRAMES, lost, MAKES, SOURCES, STORAGES, WEBHOOKS } from "./outside-faults.ts";
import { all, inTurn, markOf, type Row, setRows } from "./outside-rows.ts";
import { attemptsOf, type Expected, expectKept, multipartUploads } from "./promises.ts";

/** A promise to hold requests with, and its release. */
const held = () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { until: promise, release: resolve };
};
const [dead, half] = [held(), held()];
const OTHERS: Row[] = [
  { name: "half", s3: all(isPart, { kind: "hold", until: half.until }) },
  { name: "dead", webhook: all(any, { kind: "hold", until: dead.until }) },
  { name: "gone", webhook: all(any, { kind: "answer", status: 410 }) },
];

const ROWS = [...SOURCES, ...STORAGES, ...WEBHOOKS].filter(({ long }) => !long || isLong);
const LIMIT_MS = 300_000;

let world: FaultWorld;
let clips: { readonly small: string; readonly large: string };
const ids = new Map<string, string>();
const idOf = (name: string): string => ids.get(name) ?? "";

beforeAll(async () => {
  world = await startFaultWorld({ nodes: 2 });
  clips = { small: await makeLongClip(world.folder, FRAMES / 30, "160x90"), large: await makeNoise(world.folder) };
  setRows(world, [...ROWS, ...OTHERS]);
  for (const row of ROWS) {
    const { name, makes = "video" } = row;
    const mark = markOf(name);
    const { id } = await world.submit({
      input: { url: `${world.urlOf(clips[makes === "large" ? "large" : "small"])}?${mark}` },
      outputs: MAKES[makes].outputs(`/${mark}`),
      notification: { type: "http", url: `${world.proxies.webhook.origin}/${mark}`, events: true },
    });
    ids.set(name, id);
  }
  for (const id of ids.values()) await world.stack.waitForJob(id, LIMIT_MS);
}, LIMIT_MS);
afterAll(() => world?.close());

/** A small video without faults, except faults of its webhook endpoint. */
function smallJob(name: string, more: object = {}) {
  const mark = markOf(name);
  return {
    input: { url: `${world.urlOf(clips.small)}?plain` },
    outputs: MAKES.video.outputs(`/${mark}`),
    notification: { type: "http", url: `${world.proxies.webhook.origin}/${mark}`, ...more },
  };
}

const Log = z.object({ notifications: z.array(z.object({ status: z.string(), attempts: z.int() })) });
const deliveries = async (id: string): Promise<z.infer<typeof Log>["notifications"]> =>
  Log.parse((await world.stack.request("GET", `/jobs/${id}/notifications`)).body).notifications;

const run = promisify(execFile);

/** A video that hardly compresses: 75 frames of noise, some 20 MB. */
async function makeNoise(folder: string): Promise<string> {
  const { ffmpeg } = await locateFfmpeg(process.env);
  const path = join(folder, "noise.mp4");
  const noise = "color=gray:size=640x360:rate=25,noise=alls=100:allf=t";
  const encoder = ["-c:v", "libx264", "-preset", "ultrafast", "-qp", "4", "-pix_fmt", "yuv420p"];
  const argv = ["-f", "lavfi", "-i", noise, "-frames:v", String(LARGE_FRAMES), ...encoder, path];
  await run(ffmpeg.path, ["-v", "error", "-nostdin", ...argv], { env: toolEnvironment() });
  return path;
}

describe.each([
  ["a source", SOURCES],
  ["a storage", STORAGES],
  ["a webhook's endpoint", WEBHOOKS],
])("%s", (_, rows) => {
  it.each(rows.filter(({ long }) => !long || isLong))("$name", async ({ name, makes = "video", attempts, fails }) => {
    const { objects, frames } = MAKES[makes];
    const stored: Partial<Expected> = objects ? { folder: markOf(name), objects } : {};
    const expected: Expected = fails
      ? { status: "job.failed", folder: markOf(name), objects: [] }
      : { status: "job.completed", frames, ...stored };
    const job = await expectKept(world, idOf(name), expected, LIMIT_MS);
    if (fails) expect(job.outputs).toMatchObject([{ error_code: fails }]);
    if (attempts) expect(attemptsOf(world, idOf(name))).toEqual(attempts);
  });
});

it("leaves no half-done upload at the storage once its job has ended", async () => {
  const { outputs, objects, frames } = MAKES.large;
  const folder = markOf("half");
  const { id } = await world.submit({
    input: { url: `${world.urlOf(clips.large)}?plain` },
    outputs: outputs(`/${folder}`),
  });
  await expect.poll(() => multipartUploads(world), { timeout: LIMIT_MS }).toHaveLength(1);
  half.release();
  await expectKept(world, id, { status: "job.completed", frames, folder, objects });
});

describe("an endpoint that", () => {
  it("is dead delays neither its own job nor other jobs", async () => {
    const { release } = dead;
    const job = await world.submit(smallJob("dead", { events: true }));
    expect(await world.stack.waitForJob(job.id)).toMatchObject({ status: "job.completed" });
    const other = await world.submit(smallJob("quick"));
    await expectKept(world, other.id, { status: "job.completed", frames: { 0: FRAMES } });
    expect((await deliveries(job.id)).map(({ status }) => status)).not.toContain("delivered");
    release();
    await expectKept(world, job.id, { status: "job.completed", frames: { 0: FRAMES } });
  });

  it.each<[string, string, () => string]>([
    [
      "is gone for good (410) is not called again",
      "abandoned",
      () => `${world.proxies.webhook.origin}/${markOf("gone")}`,
    ],
    [
      "speaks no TLS is tried again later",
      "due",
      () => `${world.proxies.webhook.origin}/tls`.replace("http:", "https:"),
    ],
    ["does not exist is tried again later", "due", () => "http://127.0.0.1:9/hook"],
  ])("%s, and its job completes", async (_, status, url) => {
    const { id } = await world.submit({ ...smallJob("late"), notification: { type: "http", url: url() } });
    expect(await world.stack.waitForJob(id)).toMatchObject({ status: "job.completed" });
    await expect.poll(() => deliveries(id), { timeout: 30_000 }).toMatchObject([{ status, attempts: 1 }]);
  });
});

it("a form whose answer is lost arrives twice with the same key, so that the receiver can detect it", async () => {
  const receiver = await startFormReceiver("encoded_video");
  const proxy = await startFaultProxy(receiver.origin);
  // Skip the earlier check that a receiver exists.
  proxy.use(inTurn(({ method }) => method === "POST", lost));
  try {
    const job = { ...smallJob("form"), storage: { url: `${proxy.origin}/in` } };
    const { id } = await world.stack.submit(job);
    expect(await world.stack.waitForJob(id)).toMatchObject({ status: "job.completed" });
    const [first, second, ...others] = receiver.received;
    expect([first?.idempotencyKey, others]).toEqual([second?.idempotencyKey, []]);
    expect(first?.idempotencyKey).toMatch(/^[0-9a-f-]{36}$/);
    expect(Buffer.compare(first?.bytes ?? Buffer.of(), second?.bytes ?? Buffer.of())).toBe(0);
  } finally {
    await proxy.close();
    await receiver.close();
  }
});
