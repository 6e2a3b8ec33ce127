// A node that is killed at any time costs time and nothing else.
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { makeLongClip } from "../media.ts";
import { type ProxiedRequest, trap } from "./fault-proxy.ts";
import { type FaultWorld, isLong, startFaultWorld } from "./fault-world.ts";
import { attemptsOf, expectKept } from "./promises.ts";

const NEVER = new Promise<never>(() => {});

let world: FaultWorld;
let clip: string;
beforeAll(async () => {
  world = await startFaultWorld({ nodes: 2 });
  clip = await makeLongClip(world.folder, 30, "160x90");
});
afterEach(() => world?.calm());
afterAll(() => world?.close());

const isComplete = ({ path }: ProxiedRequest): boolean => /\.encode\.\d+\/complete$/.test(path);
const isPut = ({ method }: ProxiedRequest): boolean => method === "PUT";

/** The stages at which the node is killed, and the attempts that the control plane knows at the end. */
const STAGES: readonly {
  stage: string;
  reached(id: Promise<string>): Promise<unknown>;
  attempts: string[];
  /** True if the killed node returns while no other node can take the work. Its result must count. */
  returns?: true;
  short?: true;
}[] = [
  {
    stage: "with half of the source fetched",
    reached: () => trap(world.proxies.source, () => true, { kind: "hang answer", afterBytes: 50_000 }),
    attempts: ["inspect.2", "encode.1"],
  },
  {
    stage: "with the source probed",
    reached: () =>
      trap(world.proxies.api, ({ path }) => /inspect\.1\/complete$/.test(path), { kind: "hold", until: NEVER }),
    attempts: ["inspect.1", "encode.1"],
    returns: true,
  },
  { stage: "during the encode", reached: (id) => world.encoding(id), attempts: ["inspect.1", "encode.2"] },
  {
    stage: "during a PUT",
    reached: () => trap(world.proxies.s3, isPut, { kind: "hold", until: NEVER, afterBytes: 10_000 }),
    attempts: ["inspect.1", "encode.1", "encode.2"],
  },
  {
    stage: "with the result stored and not yet reported",
    reached: () => trap(world.proxies.api, isComplete, { kind: "hold", until: NEVER }),
    attempts: ["inspect.1", "encode.1"],
    returns: true,
    short: true,
  },
  {
    stage: "with the result reported and the answer lost",
    reached: async () => {
      await trap(world.proxies.api, isComplete, { kind: "lose answer" });
      await trap(world.proxies.api, isComplete, { kind: "hold", until: NEVER });
    },
    attempts: ["inspect.1", "encode.1"],
    returns: true,
  },
];

const rows = STAGES.filter(({ short }) => isLong || short);
it.each(rows)("completes the job of a node killed $stage", async ({ stage, reached, attempts, returns = false }) => {
  const folder = stage.replaceAll(" ", "-");
  const job = Promise.withResolvers<string>();
  const isReached = reached(job.promise);
  const { id } = await world.submit({
    input: { url: world.urlOf(clip) },
    outputs: { "mp4:160x90": { path: `/${folder}/video.mp4` } },
  });
  job.resolve(id);
  await isReached;
  const holder = await world.holderOf(id);
  if (returns) for (const [at, node] of world.nodes.entries()) if (node !== holder) world.links[at]?.disconnect();
  await holder.kill();
  if (returns) await holder.connected();
  world.calm();
  await expectKept(world, id, { status: "job.completed", frames: { 0: 900 }, folder, objects: ["video.mp4"] });
  // The node's next process reports that it gives up the task, if the first process had noted the task.
  const hasWorked = ({ path }: ProxiedRequest): boolean => !path.endsWith("/fail");
  expect(attemptsOf(world, id, hasWorked)).toEqual(attempts);
});
