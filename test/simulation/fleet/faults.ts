// The faults of a run. Each is injected once, while the fleet is busy.
import { assertNever } from "#shared/errors.ts";
import { regionOf } from "./scenario.ts";
import type { World } from "./world.ts";

const MINUTE_MS = 60_000;

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
      return breakNode(world);
    case "spot kills":
      return killSpots(world);
    case "poison job":
      return world.submit(0, { kills: true });
    case "burst":
      return burst(world, (number) => number % scenario.accounts);
    case "greedy account":
      return burst(world, () => 0);
    default:
      return assertNever(scenario.fault);
  }
}

/** From now on, a single node fails each of its tasks at once. */
async function breakNode({ observations, nodes, time, notes }: World): Promise<void> {
  const bad = nodes.find(({ isBusy }) => !isBusy) ?? nodes[0];
  if (!bad) return;
  observations.badNode = bad.nodeId;
  const before = observations.assignments.get(bad.nodeId) ?? 0;
  await time.sleep(3 * MINUTE_MS);
  notes.set("tasks that the bad node got in three minutes", (observations.assignments.get(bad.nodeId) ?? 0) - before);
}

/** Submits many jobs at once, in the order of their numbers. */
async function burst({ scenario, observations, submit, time }: World, accountOf: (number: number) => number) {
  const count = scenario.burst * scenario.nodes;
  observations.fairness.begin(count / 2);
  const submitted: Promise<void>[] = [];
  for (let number = 0; number < count; number++) {
    submitted.push(submit(accountOf(number)));
    if (number % 100 === 99) await time.sleep(100);
  }
  await Promise.all(submitted);
}

/** All objects lose their memory, and all sockets close at once. */
async function deploy({ service, nodes, time, notes }: World): Promise<void> {
  const { objects, meter } = service.platform;
  const reads = (): number =>
    [...meter.details].reduce(
      (sum, [detail, count]) => (/^queries select .*"node_tokens"/.test(detail) ? sum + count : sum),
      0,
    );
  // Exclude reports: they are authenticated by the token, too. Only connections count.
  const posts = (): number =>
    [...meter.details].reduce(
      (sum, [detail, count]) => (/^workerRequests POST .v2.nodes/.test(detail) ? sum + count : sum),
      0,
    );
  const before = reads() - posts();
  const at = time.now;
  const connects = nodes.reduce((sum, node) => sum + node.link.connects, 0);
  for (const object of objects.values()) object.reset({ dropsSockets: true });
  const isBack = (): boolean => nodes.every(({ link }) => link.isConnected && (link.welcomedAt ?? 0) > at);
  while (!isBack() && time.now < at + 10 * MINUTE_MS) await time.sleep(100);
  notes.set("back after s", (time.now - at) / 1000);
  // A pending report is counted already, but its query is not.
  notes.set("D1 reads of nodes that returned", Math.max(0, reads() - posts() - before));
  notes.set("connections", nodes.reduce((sum, node) => sum + node.link.connects, 0) - connects);
}

/** Half of the nodes are unreachable for five minutes; then they return. */
async function loseRegion({ scenario, nodes, time, addNode }: World): Promise<void> {
  const lost = nodes.flatMap((_, number) => (regionOf(number).name === "eu" ? [number] : []));
  for (const number of lost) nodes[number]?.die({ isSilent: true });
  await time.sleep(5 * MINUTE_MS);
  for (const number of lost) await addNode(scenario.nodes + number);
}

/** A tenth of the nodes disappears, each with half a minute's notice. Other machines replace them. */
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
