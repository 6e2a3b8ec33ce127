// The watchdog ends a node whose main thread hangs. Its work goes to a single further node at most.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { makeLongClip } from "../media.ts";
import { type FaultWorld, startFaultWorld } from "./fault-world.ts";
import { HANGING_SOURCE } from "./hang-on-source.ts";
import { attemptsOf, expectKept } from "./promises.ts";

const MODULE = new URL("./hang-on-source.ts", import.meta.url).href;
/** A short limit that is still longer than a busy machine suspends a process. */
const NODE = { imports: [MODULE], env: { COPRA_NODE_HANG_MS: "6000" } };

const HUNG = "main thread hung";

let world: FaultWorld;
beforeAll(async () => {
  world = await startFaultWorld({ nodes: [NODE, NODE, NODE] });
});
afterAll(() => world?.close());

it("ends two nodes that hang with a source, fails its job, and spares the third node", async () => {
  const source = join(world.folder, "hanging.mp4");
  writeFileSync(source, HANGING_SOURCE);
  const { id } = await world.submit({ input: { url: world.urlOf(source) }, outputs: { mp4: { path: "/a.mp4" } } });
  const job = await world.stack.waitForJob(id);
  expect(job).toMatchObject({ status: "job.failed", input: { error_code: "node_failed" } });
  expect(attemptsOf(world, id)).toEqual(["inspect.1", "inspect.2"]);

  const lines = world.nodes.flatMap((node) => node.lines().filter(({ message }) => message === HUNG));
  const leases = lines.map(({ lease }) => lease).toSorted();
  expect(leases).toEqual([`${id}.inspect.1`, `${id}.inspect.2`]);
  await expect.poll(() => world.nodes.filter((node) => node.pid() === 0).length).toBe(2);

  for (const node of world.nodes) node.start();
  const clip = await makeLongClip(world.folder, 10, "160x90");
  const outputs = { "mp4:160x90": { path: "/good/video.mp4" } };
  const good = await world.submit({ input: { url: world.urlOf(clip) }, outputs });
  await expectKept(world, good.id, { status: "job.completed", frames: { 0: 300 }, folder: "good" });
});
