// Runs the load test once: starts a control plane and simulated nodes, submits jobs, and measures times and resources.
import { setTimeout as sleep } from "node:timers/promises";
import * as z from "zod";
import { storageOf } from "../../local/demo/demo-job.ts";
import { type LoopbackServer, serveLoopback } from "../../local/demo/loopback-server.ts";
import { readBody } from "../../local/demo/webhook-inbox.ts";
import { readStackFile, type StackFile } from "../../local/home/stack-file.ts";
import { connectedNodes } from "../../local/stack/readiness.ts";
import { type Stack, startStack } from "../../local/stack/stack.ts";
import { basic, call, listJobs, newAccount, newNodeToken } from "./api-calls.ts";
import { countTickets } from "./hub-tickets.ts";
import { Observations } from "./observations.ts";
import { usageOf } from "./process-tree.ts";
import { type SimulatedNode, startSimulatedNode } from "./simulated-node.ts";

export type Load = {
  readonly nodes: number;
  readonly jobs: number;
  readonly accounts: number;
  /** Number of concurrent POSTs of jobs. */
  readonly posting: number;
  /** True if outputs are stored; false if they are only reported. */
  readonly stores: boolean;
  /** Kills and restarts the control plane once so many jobs have ended; null: never. */
  readonly killAfter: number | null;
  /** The control plane's home folder, which the caller deletes. */
  readonly home: string;
  /** True if `copra serve --nodes 0 --allow-private loopback` already runs in this folder, and continues to run. */
  readonly isServed?: boolean;
};

export type LoadOutcome = {
  readonly observations: Observations;
  readonly wallMs: number;
  readonly cpuMs: number;
  /** Memory before the first job, and the maximum. */
  readonly rssBytes: { readonly idle: number; readonly most: number };
  /** Tickets that the hub still stores. */
  readonly ticketsLeft: number;
};

const SLOTS = { inspect: 1, encode: 1 };
const POLL_MS = 200;
/** The run has failed when no job has ended for this time. */
const STALLED_MS = 90_000;

export async function runLoad(load: Load): Promise<LoadOutcome> {
  const stack = load.isServed
    ? servedStack(load.home)
    : await startStack({ home: load.home, port: 0, s3Port: 0, nodes: 0 }, { notify: () => {} });
  const observations = new Observations(load.killAfter === null);
  const inbox = await openInbox(observations);
  const nodes: SimulatedNode[] = [];
  try {
    await connect(stack, load, observations, nodes);
    const before = controlPlaneUsage(stack);
    const startedAt = performance.now();
    const keys = await Promise.all(Array.from({ length: load.accounts }, () => newAccount(stack, observations)));
    const most = await submitAndWait(stack, load, observations, { inbox, keys });
    const wallMs = performance.now() - startedAt;
    const cpuMs = controlPlaneUsage(stack).cpuMs - before.cpuMs;
    await checkIndex(stack, observations, keys);
    for (const node of nodes) node.close();
    await stack.stop(0);
    const rssBytes = { idle: before.rssBytes, most };
    // A service that continues to run keeps its files open.
    const ticketsLeft = load.isServed ? 0 : countTickets(load.home);
    return { observations, wallMs, cpuMs, rssBytes, ticketsLeft };
  } finally {
    for (const node of nodes) node.close();
    await stack.stop(0);
    await inbox.close();
  }
}

type RunningStack = Pick<Stack, "describe" | "stop">;

function servedStack(home: string): RunningStack {
  const describe = (): StackFile => {
    const stack = readStackFile(home);
    if (!stack) throw new Error(`No copra serve runs in ${home}`);
    return stack;
  };
  return { describe, stop: async () => {} };
}

const controlPlaneUsage = (stack: RunningStack) => usageOf(stack.describe().pids.controlPlane);

const openInbox = (observations: Observations): Promise<LoopbackServer> =>
  serveLoopback((request, response) => {
    readBody(request).then(
      (body) => {
        const { job_id, event } = Webhook.parse(JSON.parse(body.toString()));
        observations.ended(job_id, event, String(request.headers["webhook-id"]));
        response.end("{}");
      },
      () => response.destroy(),
    );
  });
const Webhook = z.object({ job_id: z.string(), event: z.string() });

/** The limit of nodes for one token (docs/nodes.md). */
const NODES_PER_TOKEN = 64;

async function connect(
  stack: RunningStack,
  load: Load,
  observations: Observations,
  nodes: SimulatedNode[],
): Promise<void> {
  const { api } = stack.describe();
  const url = api.replace(/\/v2$/, "");
  let token = "";
  for (let number = 1; number <= load.nodes; number++) {
    if (number % NODES_PER_TOKEN === 1) token = await newNodeToken(stack, observations);
    const options = { nodeId: `simulated-${number}`, url, token, slots: SLOTS, stores: load.stores };
    nodes.push(startSimulatedNode(options, observations));
  }
  const deadline = Date.now() + STALLED_MS;
  while (((await connectedNodes(api)) ?? 0) < load.nodes || observations.welcomed.size < load.nodes) {
    if (Date.now() > deadline)
      throw new Error(`Only ${observations.welcomed.size} of ${load.nodes} nodes have connected`);
    await sleep(POLL_MS);
  }
}

/** Returns the maximum of the control plane's memory, in bytes. */
async function submitAndWait(
  stack: RunningStack,
  load: Load,
  observations: Observations,
  clients: Clients,
): Promise<number> {
  let most = 0;
  const watch = setInterval(() => {
    most = Math.max(most, controlPlaneUsage(stack).rssBytes);
  }, 1000);
  try {
    const submitted = submitAll(stack, load, observations, clients);
    if (load.killAfter !== null) await killAfter(load.killAfter, stack, observations);
    await submitted;
    let [seen, since] = [0, Date.now()];
    while (observations.endedJobs < load.jobs) {
      if (observations.endedJobs > seen) [seen, since] = [observations.endedJobs, Date.now()];
      if (Date.now() - since > STALLED_MS) {
        observations.violations.push(`Only ${observations.endedJobs} of ${load.jobs} jobs have ended`);
        break;
      }
      await sleep(POLL_MS);
    }
    return Math.max(most, controlPlaneUsage(stack).rssBytes);
  } finally {
    clearInterval(watch);
  }
}

async function killAfter(jobs: number, stack: RunningStack, observations: Observations): Promise<void> {
  while (observations.endedJobs < jobs) await sleep(10);
  process.kill(stack.describe().pids.controlPlane, "SIGKILL");
}

type Clients = { readonly inbox: LoopbackServer; readonly keys: readonly string[] };

async function submitAll(
  stack: RunningStack,
  load: Load,
  observations: Observations,
  { inbox, keys }: Clients,
): Promise<void> {
  const { api } = stack.describe();
  const storage = storageOf(stack.describe());
  let posted = 0;
  const postAll = async (): Promise<void> => {
    while (posted < load.jobs) {
      const number = posted++;
      const postedAt = performance.now();
      const body = {
        storage,
        input: { url: `${inbox.origin}/video.mp4` },
        outputs: { "mp4:240p": { path: `/load/${number}.mp4` } },
        notification: { type: "http", url: inbox.origin },
      };
      // Each job has its own key, so that a request repeated after a lost response creates no second job.
      const headers = { ...basic(keys[number % keys.length]), "idempotency-key": `load-${number}` };
      const { id } = z.object({ id: z.string() }).parse(await call(`${api}/jobs`, { headers, body }, observations));
      observations.submitted(id, postedAt);
    }
  };
  await Promise.all(Array.from({ length: load.posting }, postAll));
}

/** Waits until the lists show each job once and completed. Records a violation when they do not. */
async function checkIndex(stack: RunningStack, observations: Observations, keys: readonly string[]): Promise<void> {
  const deadline = Date.now() + STALLED_MS;
  for (;;) {
    const lists = await Promise.all(keys.map((key) => listJobs(stack.describe().api, key, observations)));
    const listed = lists.flat();
    const completed = new Set(listed.filter(({ status }) => status === "job.completed").map(({ id }) => id));
    if (listed.length === observations.jobs.size && completed.size === observations.jobs.size) return;
    if (Date.now() > deadline) {
      const counts = `${listed.length} listed, ${completed.size} of them different and completed`;
      observations.violations.push(`The index does not show all ${observations.jobs.size} jobs: ${counts}`);
      return;
    }
    await sleep(POLL_MS);
  }
}
