// Nodes that fall silent: frozen, cut off, or asked to end. What they say late is refused, and nobody waits for them.
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { makeLongClip } from "../media.ts";
import type { FaultNode } from "./fault-node.ts";
import { type ProxiedRequest, trap } from "./fault-proxy.ts";
import { type FaultWorld, isLong, startFaultWorld } from "./fault-world.ts";
import { expectKept, grantsOf } from "./promises.ts";

const NEVER = new Promise<never>(() => {});
/** Asked to end, it hands back what still runs after a second. */
const HASTY = { argv: ["--drain-seconds", "1"] };

let world: FaultWorld;
let clip: string;
beforeAll(async () => {
  world = await startFaultWorld({ nodes: [{}, {}, HASTY] });
  clip = await makeLongClip(world.folder, 120, "160x90");
});
afterEach(async () => {
  world?.calm();
  for (const node of world?.nodes ?? []) node.start();
});
afterAll(() => world?.close());

const FRAMES = { 0: 3600 };
const begin = async (folder: string): Promise<string> => {
  const outputs = { "mp4:160x90": { path: `/${folder}/film.mp4` } };
  return (await world.submit({ input: { url: world.urlOf(clip) }, outputs })).id;
};
const kept = (id: string, folder: string, limitMs = 150_000) =>
  expectKept(world, id, { status: "job.completed", frames: FRAMES, folder, objects: ["film.mp4"] }, limitMs);

const putInto =
  (folder: string) =>
  ({ method, path }: ProxiedRequest): boolean =>
    method === "PUT" && path.includes(`/${folder}/`);
const linkOf = (node: FaultNode) => world.links[world.nodes.indexOf(node)];
/** What a node has logged of a job's first encode. */
const saidOf = (node: FaultNode, id: string): unknown[] =>
  node.lines().flatMap(({ message, lease }) => (lease === `${id}.encode.1` ? [message] : []));
/** By a cancel frame, or by the answer to a report. */
const DROPPED = expect.toBeOneOf(["Task cancelled", "The job no longer wants this work"]);

it("gives the work of a node that is frozen, and of one that is cut off, to another, and refuses what they say late", async () => {
  const release = Promise.withResolvers<void>();
  const putBegins = trap(world.proxies.s3, putInto("frozen"), {
    kind: "hold",
    until: release.promise,
    afterBytes: 10_000,
  });
  const frozen = await begin("frozen");
  await putBegins;
  const cut = await begin("cut");
  await world.encoding(cut);
  const [sleeper, lonely] = [await world.holderOf(frozen), await world.holderOf(cut)];
  sleeper.freeze();
  linkOf(lonely)?.cut();
  for (const id of [frozen, cut]) await world.stack.waitForJob(id, 150_000);

  sleeper.thaw();
  linkOf(lonely)?.restore();
  release.resolve();
  await expect.poll(() => saidOf(sleeper, frozen), { timeout: 60_000 }).toContainEqual(DROPPED);
  await expect.poll(() => saidOf(lonely, cut), { timeout: 60_000 }).toContainEqual(DROPPED);
  await kept(frozen, "frozen");
  await kept(cut, "cut");
  expect(lonely).not.toBe(sleeper);
});

it("lets a node that is cut off for three seconds go on", async () => {
  const id = await begin("short-cut");
  await world.encoding(id);
  const link = linkOf(await world.holderOf(id));
  link?.cut();
  await sleep(3000);
  link?.restore();
  await kept(id, "short-cut");
  expect(grantsOf(world, id)).toEqual(["inspect.1", "encode.1"]);
});

it.runIf(isLong)(
  "gets by with one node that is cut off for five minutes",
  async () => {
    const id = await begin("long-cut");
    await world.encoding(id);
    const only = await world.holderOf(id);
    await Promise.all(world.nodes.map((node) => (node === only ? null : node.terminate())));
    linkOf(only)?.cut();
    await sleep(5 * 60_000);
    linkOf(only)?.restore();
    await kept(id, "long-cut");
  },
  480_000,
);

describe("a node that is asked to end", () => {
  /** Those without the deadline of a second, or that one. */
  const others = (hasty: boolean): FaultNode[] => world.nodes.filter((node) => (node === world.nodes[2]) !== hasty);

  const WAYS = [
    { how: "with time", hasty: false, signals: 1, isHeld: false, grants: ["inspect.1", "encode.1"] },
    { how: "past its deadline", hasty: true, signals: 1, isHeld: true, grants: ["inspect.1", "encode.1", "encode.2"] },
    { how: "twice", hasty: false, signals: 2, isHeld: true, grants: ["inspect.1", "encode.1", "encode.2"] },
  ];

  it.each(WAYS.filter(({ how }) => isLong || how === "with time"))(
    "$how leaves with code 0, and its work gets done",
    async ({ how, hasty, signals, isHeld, grants }) => {
      const folder = how.replaceAll(" ", "-");
      await Promise.all(others(hasty).map((node) => node.terminate()));
      const release = Promise.withResolvers<void>();
      const until = isHeld ? NEVER : release.promise;
      const putBegins = trap(world.proxies.s3, putInto(folder), { kind: "hold", until, afterBytes: 10_000 });
      const id = await begin(folder);
      await putBegins;
      const leaving = await world.holderOf(id);
      for (const node of others(hasty)) node.start();
      const left = leaving.terminate(signals);
      await expect.poll(() => isDraining(leaving)).toBe(true);
      release.resolve();
      expect(await left).toBe(0);
      expect([...leaving.leftovers(), ...leaving.strays()]).toEqual([]);
      await kept(id, folder);
      expect(grantsOf(world, id)).toEqual(grants);
    },
  );

  const isDraining = (node: FaultNode): boolean => node.lines().some(stops);
  const stops = ({ message }: { message?: string }): boolean => message?.startsWith("Stopping:") ?? false;
});
