// A run in virtual time: jobs, nodes, delays of requests, and faults. A seed decides all of them, or the run has a
// single fault (single-fault.ts). The service is real; the platform, the network and the nodes are simulated.

import { parseLeaseId } from "#shared/ids.ts";
import type { Assignment } from "#shared/protocol/tasks.ts";
import { randomOf } from "#shared/testing/random.ts";
import { type NodeObserver, SimulatedNode } from "../node.ts";
import type { Delivered } from "../platform/internet.ts";
import { type Network, RandomNetwork, type Way } from "../platform/network.ts";
import type { NodeHost } from "../platform/node-host.ts";
import type { VirtualTime } from "../platform/virtual-time.ts";
import { Service } from "../service.ts";
import { drawDurationMs, FAULTS } from "./faults.ts";
import { violationsOf } from "./invariants.ts";
import { drawJob, type PlannedJob } from "./jobs.ts";

const MINUTE_MS = 60_000;
const SWEEP_EVERY_MS = 2 * MINUTE_MS;
/** Faults happen in the first minutes, while jobs run. */
const FAULTY_MS = 5 * MINUTE_MS;
/** Time after the last fault until all jobs have ended and nothing is left to do. */
const AT_REST_MS = 100 * MINUTE_MS;

export type Accepted = PlannedJob & { readonly id: string; readonly apiKey: string };
/** A result of a lease that the control plane has accepted. */
export type Result = { readonly task: string; readonly attempt: number; readonly kind: Assignment["kind"] };

export type Report = {
  readonly seed: number;
  readonly violations: readonly string[];
  /** The events of the run, with the time since its start. */
  readonly story: readonly string[];
};

/** Jobs, nodes and faults of a run, beside the faults of its network. */
export type Plan = {
  readonly seed: number;
  readonly network: Network;
  readonly random: () => number;
  readonly jobs: readonly PlannedJob[];
  readonly nodes: number;
  /** Called when the nodes are connected, before the first job is submitted. */
  readonly start: (run: SimulatedRun) => void;
};

/** Runs a seed in this process. Replaces the clock and the network of the process. */
export function runSeed(seed: number, root: string): Promise<Report> {
  const random = randomOf(seed);
  const network = new RandomNetwork(randomOf(seed + 1_000_000));
  const jobs = Array.from({ length: 1 + Math.floor(5 * random()) }, (_, number) => drawJob(number, random));
  const nodes = 1 + Math.floor(4 * random());
  const start = (run: SimulatedRun): void => planFaults(run, network.storms, random);
  return runPlan({ seed, network, random, jobs, nodes, start }, root);
}

/** Runs a plan to its end, and checks the invariants. */
export async function runPlan(plan: Plan, root: string): Promise<Report> {
  const run = new SimulatedRun(plan, root);
  await run.step();
  return { seed: plan.seed, violations: await run.service.until(violationsOf(run)), story: run.story };
}

function planFaults(run: SimulatedRun, storms: Record<Way, number>, random: () => number): void {
  const count = Math.floor(10 * random());
  for (let number = 0; number < count; number++) {
    const fault = FAULTS[Math.floor(FAULTS.length * random())];
    const lastsMs = drawDurationMs(random);
    run.time.after(FAULTY_MS * random(), () => {
      run.faults += 1;
      if (fault) run.note(fault(run, lastsMs, storms));
    });
  }
}

export class SimulatedRun implements NodeObserver {
  readonly service: Service;
  readonly story: string[] = [];
  readonly jobs: Accepted[] = [];
  readonly webhooks: Delivered[] = [];
  readonly results = new Map<string, Result[]>();
  receiverIsBackAt = 0;
  /** Number of faults so far. */
  faults = 0;
  /** True if the storage or the receiver was unreachable for a time: a job may fail then. */
  hasLostFetches = false;
  readonly #plan: Plan;
  #token = "";
  #nodes: SimulatedNode[] = [];
  readonly #jobsById = new Map<string, PlannedJob>();
  #startedAt = 0;
  #starts = 0;

  constructor(plan: Plan, root: string) {
    this.#plan = plan;
    this.service = new Service({ root, seed: plan.seed, isExact: true, network: plan.network });
  }

  get time(): VirtualTime {
    return this.service.platform.time;
  }

  get nodes(): readonly SimulatedNode[] {
    return this.#nodes;
  }

  async step(): Promise<void> {
    const { service } = this;
    await service.start();
    const { time } = this;
    service.platform.internet.receive = (webhook) => {
      if (time.now < this.receiverIsBackAt) return false;
      this.webhooks.push(webhook);
      return true;
    };
    const keys = [await service.until(service.newAccount("one")), await service.until(service.newAccount("other"))];
    this.#token = await service.until(service.newToken("nodes"));
    for (let number = 1; number <= this.#plan.nodes; number++) this.#startNode(`node-${number}`);
    await time.run(time.now + MINUTE_MS);
    this.#startedAt = time.now;
    this.#plan.start(this);
    const submitted = this.#plan.jobs.map((job, at) => this.#live(job, keys[at % 2] ?? "", at));
    this.#sweepForever();
    await service.until(Promise.all(submitted));
    await time.run(Math.max(time.now, this.#startedAt + FAULTY_MS) + AT_REST_MS);
  }

  note(what: string): void {
    this.story.push(`${((this.time.now - this.#startedAt) / 1000).toFixed(1).padStart(8)} s  ${what}`);
  }

  /** A node dies, and restarts on the same disk. Returns its name. */
  killNode({ isSilent, backAfterMs }: { readonly isSilent: boolean; readonly backAfterMs: number }): string {
    const node = this.#anyNode();
    if (!node) return "no node";
    const noted = node.die({ isSilent });
    this.#nodes = this.#nodes.filter((other) => other !== node);
    this.time.after(backAfterMs, () => this.#startNode(node.nodeId, noted));
    return node.nodeId;
  }

  takeNodeOffline(forMs: number): string {
    const node = this.#anyNode();
    node?.link.goOffline(forMs);
    return node?.nodeId ?? "no node";
  }

  assigned({ lease }: Assignment, nodeId: string): void {
    this.note(`${nodeId} gets ${lease}`);
  }

  fetched(): void {}

  reported({ lease, kind }: Assignment, verb: "complete" | "fail"): void {
    this.note(`${verb} of ${lease} is accepted`);
    const named = parseLeaseId(lease);
    if (verb !== "complete" || !named) return;
    const { job, task, attempt } = named;
    this.results.set(job, [...(this.results.get(job) ?? []), { task, attempt, kind }]);
  }

  #anyNode(): SimulatedNode | undefined {
    return this.#nodes[Math.floor(this.#nodes.length * this.#plan.random())];
  }

  #startNode(nodeId: string, noted: Parameters<SimulatedNode["start"]>[0] = []): void {
    const { platform } = this.service;
    this.#starts += 1;
    const node = new SimulatedNode(lossy(platform, this.#plan.network), {
      nodeId,
      token: this.#token,
      slots: { inspect: 1, encode: 1 + (this.#starts % 2) },
      latencyMs: 5 + 100 * this.#plan.random(),
      observer: this,
      workloadOf: (assignment) => this.#workloadOf(assignment),
    });
    this.#nodes.push(node);
    void node.start(noted);
  }

  /** A job, from its request to its client's last request. */
  async #live(job: PlannedJob, apiKey: string, number: number): Promise<void> {
    await this.time.sleep(job.submittedAfterMs);
    const id = await this.service.submit(apiKey, job.body, `job-${number}`);
    this.jobs.push({ ...job, id, apiKey });
    this.note(`job ${id} is accepted: ${job.kind}`);
    if (job.cancelledAfterMs === null) return;
    await this.time.sleep(job.cancelledAfterMs);
    this.note(`job ${id} is cancelled: ${JSON.stringify(await this.service.get(apiKey, `/jobs/${id}`, "DELETE"))}`);
  }

  /** Finds a job by the name of its source, which its first task has. A job may run before its client has its id. */
  #workloadOf({ jobId, task, kind }: Assignment): PlannedJob["workload"] {
    const number = "sourceUrl" in task ? /job-(\d+)\.mp4/.exec(task.sourceUrl)?.[1] : undefined;
    const job = this.#jobsById.get(jobId) ?? this.#plan.jobs[Number(number)];
    if (!job) throw new Error(`No job has the source of ${jobId}`);
    this.#jobsById.set(jobId, job);
    const { fails, ...works } = job.workload;
    return kind === job.failing ? job.workload : works;
  }

  #sweepForever(): void {
    const sweep = (): void => {
      void this.service.platform.sweep().catch(() => undefined);
      this.time.after(SWEEP_EVERY_MS, sweep);
    };
    this.time.after(SWEEP_EVERY_MS, sweep);
  }
}

/** The platform as nodes reach it, over a network that loses requests. */
function lossy(platform: NodeHost, network: Network): NodeHost {
  return {
    time: platform.time,
    random: platform.random,
    protocol: platform.protocol,
    put: (signed, object) => platform.put?.(signed, object) ?? true,
    request: async (path, init) => {
      const fate = network.fateOf("node");
      if (fate === "lost") throw new TypeError("fetch failed");
      if (fate === "sent twice") await platform.request(path, init);
      const response = await platform.request(path, init);
      if (fate === "answer lost") throw new TypeError("fetch failed");
      return response;
    },
    connect: async (headers, origin) => {
      const fate = network.fateOf("node");
      if (fate === "lost") return null;
      const socket = await platform.connect(headers, origin);
      if (fate !== "answer lost") return socket;
      socket?.fallSilent();
      return null;
    },
  };
}
