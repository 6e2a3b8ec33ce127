// The faults of a run. Each is injected once, while the fleet is busy.
import { assertNever } from "#shared/errors.ts";
import { regionOf } from "./scenario.ts";
import type { World } from "./world.ts";

const MINUTE_MS = 60_000;
/** Jobs of a burst, per node. */
const BURST = 10;

export async function injectFault(world: World): Promise<void> {
  const { scenario, service, time, notes } = world;
  notes.set("fault at", time.now);
  switch (scenario.fault) {
    case "none":
      return;
    case "hub reset":
      for (const [name, object] of service.platform.objects) {
        if (name.startsWith("NodeHub")) object.reset({ dropsSockets: false });
      }
      return;
    case "deploy":
      return deploy(world);
    case "database stall":
      service.platform.database.stalledUntil = time.now + MINUTE_MS;
      return;
    case "region lost":
      return loseRegion(world);
    case "bad node":
      world.observations.badNode = "node-0";
      return;
    case "spot kills":
      return killSpots(world);
    case "poison job":
      return world.submit(0, { kills: true });
    case "burst":
      await Promise.all(
        Array.from({ length: BURST * scenario.nodes }, (_, at) => world.submit(at % scenario.accounts)),
      );
      return;
    case "greedy account":
      await Promise.all(Array.from({ length: BURST * scenario.nodes }, () => world.submit(0)));
      return;
    default:
      return assertNever(scenario.fault);
  }
}

/** All objects lose their memory, and all sockets close at once. */
async function deploy({ service, nodes, time, notes }: World): Promise<void> {
  const { objects, meter } = service.platform;
  const before = meter.details.get(TOKEN_READS) ?? 0;
  const at = time.now;
  const connects = nodes.reduce((sum, node) => sum + node.connects, 0);
  for (const object of objects.values()) object.reset({ dropsSockets: true });
  const isBack = (): boolean => nodes.every((node) => node.isConnected && (node.welcomedAt ?? 0) > at);
  while (!isBack() && time.now < at + 10 * MINUTE_MS) await time.sleep(100);
  notes.set("back after s", (time.now - at) / 1000);
  notes.set("D1 reads of nodes", (meter.details.get(TOKEN_READS) ?? 0) - before);
  notes.set("connections", nodes.reduce((sum, node) => sum + node.connects, 0) - connects);
}
const TOKEN_READS = "queries of node tokens";

/** A third of the nodes cannot be reached for five minutes; then they return. */
async function loseRegion({ scenario, nodes, time, addNode }: World): Promise<void> {
  const lost = nodes.flatMap((_, number) => (regionOf(number).name === "us" ? [number] : []));
  for (const number of lost) nodes[number]?.die({ isSilent: true });
  await time.sleep(5 * MINUTE_MS);
  for (const number of lost) await addNode(scenario.nodes + number);
}

/** A tenth of the nodes is taken away, each with half a minute's notice; another machine replaces it. */
async function killSpots({ scenario, nodes, time, addNode }: World): Promise<void> {
  for (let number = 0; number < scenario.nodes; number += 10) {
    nodes[number]?.announceEnd(30_000);
    time.after(30_000, () => {
      nodes[number]?.die({ isSilent: true });
      void addNode(scenario.nodes + number);
    });
    await time.sleep(1000);
  }
}
