// Files that are uploaded during their encode, in the whole system: the stored parts, and the leftovers of faults.
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { makeLongClip } from "../media.ts";
import { type ProxiedRequest, trap } from "./fault-proxy.ts";
import { type FaultWorld, startFaultWorld } from "./fault-world.ts";
import { expectKept, multipartUploads, objectsIn } from "./promises.ts";

const SECONDS = 12;
const FRAMES = SECONDS * 30;
const NEVER = new Promise<never>(() => {});
const LIMIT_MS = 300_000;

let world: FaultWorld;
let clip: string;
beforeAll(async () => {
  world = await startFaultWorld({ nodes: 2 });
  clip = await makeLongClip(world.folder, SECONDS);
});
afterEach(() => world?.calm());
afterAll(() => world?.close());

const submit = async (folder: string): Promise<string> => {
  const outputs = { "mp4:mpeg4_1920x1080_60000k": { path: `/${folder}/video.mp4` } };
  return (await world.submit({ input: { url: world.urlOf(clip) }, outputs })).id;
};
/** True for the second part of a file; the first part is stored last. */
const isEarlyPart = ({ method, path }: ProxiedRequest): boolean => method === "PUT" && /partNumber=2\b/.test(path);
/** The part numbers that were stored for a folder, in the order of the requests. */
const partsOf = (folder: string): number[] =>
  world.proxies.s3.requests.flatMap(({ method, path }) => {
    const [, number] = /partNumber=(\d+)/.exec(path) ?? [];
    return method === "PUT" && path.includes(`/${folder}/`) && number ? [Number(number)] : [];
  });

it("stores a file's first part last, so that players can start before the end", { timeout: LIMIT_MS }, async () => {
  const id = await submit("plain");
  const job = await expectKept(
    world,
    id,
    { status: "job.completed", frames: { 0: FRAMES }, folder: "plain", objects: ["video.mp4"] },
    LIMIT_MS,
  );
  const parts = partsOf("plain");
  expect(parts.length).toBeGreaterThanOrEqual(3);
  expect(parts[0]).toBe(2);
  expect(new Set(parts).size).toBe(parts.length);
  const start = await fetch(String(job.outputs[0]?.url), { headers: { range: "bytes=0-99999" } });
  const bytes = Buffer.from(await start.arrayBuffer());
  const size = bytes.readUInt32BE(0);
  expect([bytes.toString("latin1", 4, 8), bytes.toString("latin1", size + 4, size + 8)]).toEqual(["ftyp", "moov"]);
  const { body } = await world.stack.request("GET", `/metadata/jobs/${id}`);
  const stored = Number(start.headers.get("content-range")?.split("/")[1]);
  expect(JSON.stringify(body)).toContain(`"size":"${stored}"`);
});

it("leaves no parts behind after a node is killed during an early upload", { timeout: LIMIT_MS }, async () => {
  const reached = trap(world.proxies.s3, isEarlyPart, { kind: "hold", until: NEVER, afterBytes: 10_000 });
  const id = await submit("killed");
  await reached;
  await (await world.holderOf(id)).kill();
  world.calm();
  const whole = { status: "job.completed", frames: { 0: FRAMES }, folder: "killed", objects: ["video.mp4"] };
  await expectKept(world, id, whole, LIMIT_MS);
});

it("leaves no parts behind after the job is cancelled during an early upload", { timeout: LIMIT_MS }, async () => {
  const reached = trap(world.proxies.s3, isEarlyPart, { kind: "hold", until: NEVER, afterBytes: 10_000 });
  const id = await submit("cancelled");
  await reached;
  expect((await world.stack.request("DELETE", `/jobs/${id}`)).status).toBe(200);
  world.calm();
  await expect.poll(() => multipartUploads(world), { timeout: 30_000 }).toEqual([]);
  await expect.poll(() => world.nodes.flatMap((node) => node.leftovers()), { timeout: 30_000 }).toEqual([]);
  expect(await objectsIn(world, "cancelled")).toEqual([]);
});

it("completes early uploads despite expired signatures and broken connections", { timeout: LIMIT_MS }, async () => {
  let count = 0;
  const body = "<Error><Code>AccessDenied</Code><Message>Request has expired</Message></Error>";
  world.proxies.s3.use((request) => {
    if (!/partNumber=/.test(request.path)) return null;
    count += 1;
    if (count === 1) return { kind: "answer", status: 403, body };
    return count % 3 === 0 ? { kind: "reset", afterBytes: 100_000 } : null;
  });
  const id = await submit("faulty");
  const whole = { status: "job.completed", frames: { 0: FRAMES }, folder: "faulty", objects: ["video.mp4"] };
  await expectKept(world, id, whole, LIMIT_MS);
});
