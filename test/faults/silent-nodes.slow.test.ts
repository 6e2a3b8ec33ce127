// Nodes that stop responding: frozen, disconnected or terminated. Their late reports are rejected, and no job waits for
// them.
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { makeLongClip } from "../media.ts";
import type { FaultNode } from "./fault-node.ts";
import { type ProxiedRequest, trap } from "./fault-proxy.ts";
import { type FaultWorld, startFaultWorld } from "./fault-world.ts";
import { attemptsOf, expectKept } from "./promises.ts";

/** Drain limit of 1 s; then the node hands back its running work. */
const HASTY = { argv: ["--drain-seconds", "1"] };

let world: FaultWorld;
let clip: string;
beforeAll(async () => {
  world = await startFaultWorld({ nodes: [{}, {}, HASTY] });
  clip = await makeLongClip(world.folder, 60, "160x90");
});
afterEach(async () => {
  world?.calm();
  for (const node of world?.nodes ?? []) node.start();
});
afterAll(() => world?.close());

const FRAMES = { 0: 1800 };
const begin = async (folder: string): Promise<string> => {
  const outputs = { "mp4:160x90": { path: `/${folder}/video.mp4` } };
  return (await world.submit({ input: { url: world.urlOf(clip) }, outputs })).id;
};
const expectVideo = (id: string, folder: string) =>
  expectKept(world, id, { status: "job.completed", frames: FRAMES, folder, objects: ["video.mp4"] });

const putInto =
  (folder: string) =>
  ({ method, path }: ProxiedRequest): boolean =>
    method === "PUT" && path.includes(`/${folder}/`);
const linkOf = (node: FaultNode) => world.links[world.nodes.indexOf(node)];
/** Messages that a node has logged for a job's first encode. */
const loggedBy = (node: FaultNode, id: string): unknown[] =>
  node.lines().flatMap(({ message, lease }) => (lease === `${id}.encode.1` ? [message] : []));
/** Dropped by a cancel frame, or by the answer to a report. */
const DROPPED = expect.toBeOneOf(["task cancelled", "report superseded"]);

it("moves work from a frozen and a disconnected node to another node, and rejects their late reports", async () => {
  const release = Promise.withResolvers<void>();
  const putBegins = trap(world.proxies.s3, putInto("frozen"), { until: release.promise, afterBytes: 10_000 });
  const frozen = await begin("frozen");
  await putBegins;
  const offline = await begin("offline");
  await world.encoding(offline);
  const [sleeper, lonely] = [await world.holderOf(frozen), await world.holderOf(offline)];
  sleeper.freeze();
  linkOf(lonely)?.disconnect();
  for (const id of [frozen, offline]) await world.stack.waitForJob(id);

  sleeper.thaw();
  linkOf(lonely)?.restore();
  release.resolve();
  await expect.poll(() => loggedBy(sleeper, frozen)).toContainEqual(DROPPED);
  await expect.poll(() => loggedBy(lonely, offline)).toContainEqual(DROPPED);
  await expectVideo(frozen, "frozen");
  await expectVideo(offline, "offline");
  expect(lonely).not.toBe(sleeper);
});

it("lets a node that is terminated end its upload, and leaves nothing behind", async () => {
  const release = Promise.withResolvers<void>();
  const putBegins = trap(world.proxies.s3, putInto("ended"), { until: release.promise, afterBytes: 10_000 });
  const id = await begin("ended");
  await putBegins;
  const leaving = await world.holderOf(id);
  const left = leaving.terminate();
  const isDraining = (): boolean => leaving.lines().some(({ message }) => message === "draining started");
  await expect.poll(isDraining).toBe(true);
  release.resolve();
  expect(await left).toBe(0);
  expect([...leaving.leftovers(), ...leaving.strays()]).toEqual([]);
  await expectVideo(id, "ended");
  expect(attemptsOf(world, id)).toEqual(["inspect.1", "encode.1"]);
});

it("hands the work of a node over that is terminated and exceeds its deadline", async () => {
  await Promise.all(world.nodes.slice(0, 2).map((node) => node.terminate()));
  const putBegins = trap(world.proxies.s3, putInto("late"), {
    until: new Promise<never>(() => {}),
    afterBytes: 10_000,
  });
  const id = await begin("late");
  await putBegins;
  for (const node of world.nodes.slice(0, 2)) node.start();
  expect(await world.nodes[2]?.terminate()).toBe(0);
  await expectVideo(id, "late");
  expect(attemptsOf(world, id)).toEqual(["inspect.1", "encode.1", "encode.2"]);
});
