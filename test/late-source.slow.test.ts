// Sources that become unreadable while their outputs are encoded. The input fails, although it was transferred.
import { readFileSync } from "node:fs";
import { type IncomingMessage, request, type ServerResponse } from "node:http";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import { TaskList } from "#shared/api/task-responses.ts";
import { parseRange } from "#shared/network/http-headers.ts";
import { type LoopbackServer, serveLoopback } from "../local/demo/loopback-server.ts";
import { makeGenerated } from "./clip-cache.ts";
import { fileFolder, untilEnd } from "./fixtures.ts";
import { look } from "./look.ts";
import type { JobView } from "./services/api-client.ts";
import { startWebhookReceiver } from "./services/webhook-receiver.ts";
import { startTestStack, type TestStack } from "./stack.ts";

const BYTES_PER_SECOND = 3_000_000;
/** At this rate the clip takes a minute, so that a node does not wait for the rest. */
const SLOW_BYTES_PER_SECOND = 500_000;
const SLICE_BYTES = 40_000;

const folder = fileFolder();
let clip: Buffer;
let stack: TestStack;
const webhooks = untilEnd(await startWebhookReceiver());
const servers: LoopbackServer[] = [];

beforeAll(async () => {
  const video = "testsrc2=s=640x360:r=30:d=8,noise=alls=30:allf=t";
  const coded = ["-c:v", "libx264", "-preset", "ultrafast", "-qp", "27", "-movflags", "+faststart"];
  await makeGenerated(["-f", "lavfi", "-i", video, ...coded], join(folder, "clip.mp4"));
  clip = readFileSync(join(folder, "clip.mp4"));
  stack = await startTestStack({ nodes: 2 });
});
afterAll(async () => {
  await stack?.stop();
  await Promise.all(servers.map(({ close }) => close()));
});

async function serve(handler: (incoming: IncomingMessage, response: ServerResponse) => unknown): Promise<string> {
  const server = await serveLoopback((incoming, response) => void handler(incoming, response));
  servers.push(server);
  return server.origin;
}

/** Serves the clip so slowly that nodes read it during the encode. Denies the bytes from `endsAt` on. */
const denyingHost = (endsAt: number): Promise<string> =>
  serve(async ({ headers }, response) => {
    if (rangeOf(headers.range).start >= endsAt) return response.writeHead(403).end();
    return sendSlowly(headers.range, response, { bytesPerSecond: BYTES_PER_SECOND, isOver: (at) => at >= endsAt });
  });

/** Serves the clip even more slowly. When `broken` resolves, it breaks all connections and accepts no others. */
const breakingHost = (broken: Promise<void>): Promise<string> => {
  let isBroken = false;
  void broken.then(() => {
    isBroken = true;
  });
  return serve(async ({ headers }, response) => {
    if (isBroken) return response.destroy();
    return sendSlowly(headers.range, response, { bytesPerSecond: SLOW_BYTES_PER_SECOND, isOver: () => isBroken });
  });
};

function rangeOf(header: string | undefined): { start: number; end: number; isPart: boolean } {
  const range = parseRange(header, clip.length);
  return range && range !== "beyond" ? { ...range, isPart: true } : { start: 0, end: clip.length - 1, isPart: false };
}

async function sendSlowly(
  header: string | undefined,
  response: ServerResponse,
  { bytesPerSecond, isOver }: { bytesPerSecond: number; isOver: (at: number) => boolean },
): Promise<unknown> {
  response.on("error", () => undefined);
  const { start, end, isPart } = rangeOf(header);
  const part = isPart ? { "content-range": `bytes ${start}-${end}/${clip.length}` } : {};
  const length = { "accept-ranges": "bytes", "content-length": end + 1 - start };
  response.writeHead(isPart ? 206 : 200, { etag: '"clip"', ...length, ...part });
  for (let at = start; at <= end && !response.destroyed; at += SLICE_BYTES) {
    if (isOver(at)) return response.destroy();
    response.write(clip.subarray(at, Math.min(at + SLICE_BYTES, end + 1)));
    await sleep((SLICE_BYTES / bytesPerSecond) * 1000);
  }
  return response.end();
}

/** Serves the clip once, like a URL that is valid for a single request. */
const hostOfOneRequest = (): Promise<string> => {
  let requests = 0;
  return serve((_, response) => {
    requests += 1;
    if (requests > 1) return response.writeHead(403).end();
    return response.writeHead(200, { "content-length": clip.length }).end(clip);
  });
};

/** A proxy of the storage that holds requests until `open` resolves. Nodes encode only after the storage check. */
const storageBehind = (open: Promise<void>): Promise<string> =>
  serve(async (incoming, response) => {
    await open;
    const { method, url, headers } = incoming;
    const { port } = new URL(stack.s3.endpoint);
    const passed = request({ method, path: url, headers, port, host: "127.0.0.1" }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    incoming.pipe(passed.on("error", () => response.destroy()));
  });

async function submit(name: string, url: string, more: object = {}): Promise<string> {
  const outputs = {
    "mp4:240p::quality=3": { path: `late/${name}.mp4` },
    "jpg:160x": { path: `late/${name}.jpg`, offsets: [0] },
  };
  const notification = { type: "http", url: webhooks.url, events: true };
  const { id } = await stack.submit({ input: { url: `${url}/clip.mp4` }, outputs, notification, ...more });
  return id;
}

const viewOf = async (id: string): Promise<unknown> => (await stack.request("GET", `/jobs/${id}`)).body;

/** The job and its events after its end. */
async function endOf(id: string): Promise<{ job: JobView; events: unknown[] }> {
  const job = await stack.waitForJob(id);
  await webhooks.waitFor(({ body }) => body?.job_id === id && body.event === "job.failed");
  const ofJob = webhooks.events().filter(({ body }) => body?.job_id === id);
  return { job, events: ofJob.map(({ body }) => body?.event) };
}

const FAILED = {
  status: "job.failed",
  progress: "100%",
  input: { status: "input.failed", error_code: expect.stringMatching(/^input_/), error: expect.any(String) },
};

it("fails the input when its host serves the header and the first frames, and then always 403", async () => {
  const id = await submit("denied", await denyingHost(clip.length * 0.6));
  const { job, events } = await endOf(id);
  expect(job).toMatchObject(FAILED);
  expect(job.outputs[0]).toMatchObject({ status: "video.failed", error_code: job.input.error_code });
  expect(events.filter((event) => String(event).startsWith("input."))).toEqual(["input.transferred", "input.failed"]);
  expect(events.at(-1)).toBe("job.failed");
});

it("keeps an output that was stored before the host broke its connections", async () => {
  const broken = Promise.withResolvers<void>();
  const id = await submit("broken", await breakingHost(broken.promise));
  await expect.poll(() => viewOf(id)).toMatchObject({ outputs: [{}, { status: "image.created" }] });
  broken.resolve();
  const { job, events } = await endOf(id);
  expect(job).toMatchObject({ ...FAILED, outputs: [{ status: "video.failed" }, { status: "image.created" }] });
  expect((await look(String(job.outputs[1]?.urls?.[0]))).video).toMatchObject({ width: 160, height: 90 });
  expect(events).toEqual([...["input.transferred", "output.completed", "input.failed", "output.failed", "job.failed"]]);
});

it("fails the input when its URL is valid for the first node only, and restarts it when the job is retried", async () => {
  const checked = Promise.withResolvers<void>();
  const endpoint = await storageBehind(checked.promise);
  const id = await submit("once", await hostOfOneRequest(), { storage: { ...stack.storage, endpoint } });
  await expect.poll(() => viewOf(id)).toMatchObject({ input: { status: "input.transferred" } });
  const { tasks } = TaskList.parse((await stack.request("GET", `/jobs/${id}/tasks`)).body);
  const node = tasks.find(({ kind }) => kind === "inspect")?.node;
  const admin = { authorization: `Bearer ${stack.adminToken}` };
  const cordon = (how: string) => stack.request("POST", `/admin/nodes/${node}/${how}`, undefined, admin);
  expect((await cordon("cordon")).status).toBe(200);
  checked.resolve();
  const { job, events } = await endOf(id);
  await cordon("uncordon");
  expect(job).toMatchObject({
    ...FAILED,
    input: { status: "input.failed", error_code: "input_http_403" },
    outputs: [{ error_code: "input_http_403" }, { error_code: "input_http_403" }],
  });
  expect(events).toEqual([...["input.transferred", "input.failed", "output.failed", "output.failed", "job.failed"]]);
  const { body } = await stack.request("POST", `/jobs/${id}/retry`);
  expect(body).toMatchObject({ status: "job.starting", input: { status: "input.starting" } });
});
