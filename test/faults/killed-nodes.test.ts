// A node that is killed at any moment costs time and nothing else.
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { makeLongClip } from "../media.ts";
import { type ProxiedRequest, trap } from "./fault-proxy.ts";
import { type FaultWorld, isLong, startFaultWorld } from "./fault-world.ts";
import { expectKept, grantsOf } from "./promises.ts";

const NEVER = new Promise<never>(() => {});

let world: FaultWorld;
let clip: string;
beforeAll(async () => {
  world = await startFaultWorld({ nodes: 2 });
  clip = await makeLongClip(world.folder, 120, "160x90");
});
afterEach(() => world?.calm());
afterAll(() => world?.close());

const isComplete = ({ path }: ProxiedRequest): boolean => /\.encode\.\d+\/complete$/.test(path);
const isPut = ({ method }: ProxiedRequest): boolean => method === "PUT";

/** When it is killed, and the grants that are known to the control plane in the end. */
const STAGES: readonly {
  stage: string;
  reached(id: Promise<string>): Promise<unknown>;
  grants: string[];
  short?: true;
}[] = [
  {
    stage: "with half of the source fetched",
    reached: () => trap(world.proxies.source, () => true, { kind: "hang answer", afterBytes: 50_000 }),
    grants: ["inspect.2", "encode.1"],
  },
  {
    stage: "with the source probed",
    reached: () =>
      trap(world.proxies.api, ({ path }) => /inspect\.1\/complete$/.test(path), { kind: "hold", until: NEVER }),
    grants: ["inspect.1", "encode.1"],
  },
  {
    stage: "amid the encode",
    reached: (id) => world.encoding(id),
    grants: ["inspect.1", "encode.2"],
  },
  {
    stage: "amid a PUT",
    reached: () => trap(world.proxies.s3, isPut, { kind: "hold", until: NEVER, afterBytes: 10_000 }),
    grants: ["inspect.1", "encode.1", "encode.2"],
    short: true,
  },
  {
    stage: "with the result stored and not yet told",
    reached: () => trap(world.proxies.api, isComplete, { kind: "hold", until: NEVER }),
    grants: ["inspect.1", "encode.1"],
    short: true,
  },
  {
    stage: "with the result told and the answer lost",
    reached: async () => {
      await trap(world.proxies.api, isComplete, { kind: "lose answer" });
      await trap(world.proxies.api, isComplete, { kind: "hold", until: NEVER });
    },
    grants: ["inspect.1", "encode.1"],
  },
];

it.each(STAGES.filter(({ short }) => isLong || short))("is killed $stage", async ({ stage, reached, grants }) => {
  const folder = stage.replaceAll(" ", "-");
  const job = Promise.withResolvers<string>();
  const moment = reached(job.promise);
  const { id } = await world.submit({
    input: { url: world.urlOf(clip) },
    outputs: { "mp4:160x90": { path: `/${folder}/film.mp4` } },
  });
  job.resolve(id);
  await moment;
  const holder = await world.holderOf(id);
  await holder.kill();
  world.calm();
  await expectKept(world, id, { status: "job.completed", frames: { 0: 3600 }, folder, objects: ["film.mp4"] });
  expect(grantsOf(world, id)).toEqual(grants);
});
