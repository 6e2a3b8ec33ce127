// A run: a control plane, nodes of three regions, accounts that submit jobs, and a fault in the middle.
import type { SimulatedNode } from "../node.ts";
import { Service } from "../service.ts";
import type { Workload } from "../work.ts";
import { injectFault } from "./faults.ts";
import { Observations } from "./observations.ts";
import { drawPriority, drawWorkload, HOUR_MS, regionOf, type Scenario } from "./scenario.ts";
import type { World } from "./world.ts";

/** Nodes that share a token. */
const NODES_PER_TOKEN = 64;
/** Time limit for the remaining jobs after the last submission. */
const FINISH_MS = 12 * HOUR_MS;
const SWEEP_EVERY_MS = 120_000;

export async function runFleet(scenario: Scenario, root: string): Promise<World> {
  const service = new Service({ root, seed: scenario.seed, isExact: false });
  await service.start();
  const { time, internet, meter } = service.platform;
  const observations = new Observations(time);
  internet.receive = (delivered) => observations.notified(delivered);
  const world = await service.until(populate(scenario, service, observations));
  await time.run(time.now + 120_000);
  meter.take();
  meter.details.clear();
  const startedAt = time.now;
  submitAll(world);
  sweepForever(world);
  time.after(0.4 * scenario.hours * HOUR_MS, () => void injectFault(world));
  const endsAt = startedAt + scenario.hours * HOUR_MS;
  await time.run(endsAt);
  await time.run(endsAt + FINISH_MS, () => observations.ended >= observations.jobs.size);
  world.notes.set("seconds", (time.now - startedAt) / 1000);
  return world;
}

async function populate(scenario: Scenario, service: Service, observations: Observations): Promise<World> {
  const { platform } = service;
  const keys: string[] = [];
  for (let account = 0; account < scenario.accounts; account++)
    keys.push(await service.newAccount(`account-${account}`));
  const tokens = new Map<number, Promise<string>>();
  const nodes: SimulatedNode[] = [];
  const addNode = async (number: number): Promise<SimulatedNode> => {
    const group = Math.floor(number / NODES_PER_TOKEN);
    const token = tokens.get(group) ?? service.newToken(`token-${group}`);
    tokens.set(group, token);
    const { latencyMs, position } = regionOf(number);
    const node = service.node({
      nodeId: `node-${number}`,
      token: await token,
      slots: { inspect: 1, encode: 1 },
      latencyMs,
      position,
      observer: observations,
      workloadOf: ({ jobId }) => observations.workloadOf(jobId, `node-${number}`),
    });
    nodes.push(node);
    await node.link.connect();
    return node;
  };
  let submitted = 0;
  const submit = async (account: number, changes: Partial<Workload> = {}): Promise<void> => {
    const priority = drawPriority(platform.random);
    const workload = { ...drawWorkload(scenario, platform.random), ...changes };
    const submittedAt = platform.time.now;
    const body = { ...BODY, settings: { priority } };
    const id = await service.submit(keys[account % keys.length] ?? "", body, `job-${submitted++}`);
    observations.submitted(id, { account, priority, workload, submittedAt });
  };
  await Promise.all(Array.from({ length: scenario.nodes }, (_, number) => addNode(number)));
  return { scenario, service, time: platform.time, observations, nodes, addNode, submit, notes: new Map() };
}

const BODY = { outputs: { "mp4:720p": { path: "a.mp4" }, "jpg:320x": { path: "a.jpg" } } };

/** Submits jobs at random times (a Poisson process), each for a random account. */
function submitAll({ scenario, service, time, submit }: World): void {
  const { random } = service.platform;
  const meanMs = (scenario.hours * HOUR_MS) / scenario.jobs;
  let left = scenario.jobs;
  const next = (): void => {
    if (left-- <= 0) return;
    void submit(Math.floor(scenario.accounts * random()));
    time.after(-Math.log(1 - random()) * meanMs, next);
  };
  next();
}

function sweepForever({ service, time }: World): void {
  const sweep = (): void => {
    void service.platform.sweep().catch(() => undefined);
    time.after(SWEEP_EVERY_MS, sweep);
  };
  time.after(SWEEP_EVERY_MS, sweep);
}
