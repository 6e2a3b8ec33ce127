// A node that is killed costs time and nothing else. test/simulation kills nodes at all other times.
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { makeLongClip } from "../media.ts";
import { type ProxiedRequest, trap } from "./fault-proxy.ts";
import { type FaultWorld, startFaultWorld } from "./fault-world.ts";
import { attemptsOf, expectKept } from "./promises.ts";

let world: FaultWorld;
let clip: string;
beforeAll(async () => {
  world = await startFaultWorld({ nodes: 2 });
  clip = await makeLongClip(world.folder, 30, "160x90");
});
afterEach(() => world?.calm());
afterAll(() => world?.close());

const isComplete = ({ path }: ProxiedRequest): boolean => /\.encode\.\d+\/complete$/.test(path);
const outputs = (folder: string) => ({ "mp4:160x90": { path: `/${folder}/video.mp4` } });
const expectVideo = (id: string, folder: string) =>
  expectKept(world, id, { status: "job.completed", frames: { 0: 900 }, folder, objects: ["video.mp4"] });

it("completes the job of a node killed during the encode on another node", async () => {
  const { id } = await world.submit({ input: { url: world.urlOf(clip) }, outputs: outputs("encode") });
  await world.encoding(id);
  await (await world.holderOf(id)).kill();
  await expectVideo(id, "encode");
  // The node's next process reports that it gives up the task.
  const hasWorked = ({ path }: ProxiedRequest): boolean => !path.endsWith("/fail");
  expect(attemptsOf(world, id, hasWorked)).toEqual(["inspect.1", "encode.2"]);
});

it("accepts the stored result of a killed node that returns while no other node is connected", async () => {
  const stored = trap(world.proxies.api, isComplete, { until: new Promise<never>(() => {}) });
  const { id } = await world.submit({ input: { url: world.urlOf(clip) }, outputs: outputs("stored") });
  await stored;
  const holder = await world.holderOf(id);
  for (const [at, node] of world.nodes.entries()) if (node !== holder) world.links[at]?.disconnect();
  await holder.kill();
  await holder.connected();
  world.calm();
  await expectVideo(id, "stored");
  expect(attemptsOf(world, id)).toEqual(["inspect.1", "encode.1"]);
});
