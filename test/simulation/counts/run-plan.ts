// Runs a plan on a control plane, and counts the observations of nodes, clients and the operator.
import type { Assignment } from "#shared/protocol/tasks.ts";
import { type NodeObserver, SimulatedNode } from "../node.ts";
import type { NodeHost } from "../platform/node-host.ts";
import { type Plan, sourceOf, workloadOf } from "./plan.ts";

export type Counts = Readonly<Record<string, number>>;

/** A control plane for a plan. */
export interface Target {
  readonly host: NodeHost;
  readonly adminToken: string;
  /** Returns the account's API key. */
  newAccount(name: string): Promise<string>;
  newToken(name: string): Promise<string>;
  /** Submits a job with a source of this name. Repeats the request until the service accepts the job. */
  submit(apiKey: string, source: string, outputs: object, idempotencyKey: string): Promise<string>;
  /** Registers a receiver for all webhooks. */
  onWebhook(receive: (webhook: { readonly id: string; readonly body: string }) => void): void;
}

/** The most nodes per node token (docs/nodes.md). */
const NODES_PER_TOKEN = 64;
const POLL_MS = 100;
const OUTPUTS = { "mp4:720p": { path: "a.mp4" }, "jpg:320x": { path: "a.jpg" } };

/** Rejects if the jobs have not ended after `limitMs`. */
export async function runPlan(target: Target, plan: Plan, limitMs: number): Promise<Counts> {
  const { host } = target;
  const counter = new Counter();
  target.onWebhook((webhook) => counter.notified(webhook));
  const keys: string[] = [];
  for (let account = 0; account < plan.accounts; account++) keys.push(await target.newAccount(`account-${account}`));
  const nodes = await connectNodes(target, plan, counter);
  const startedAt = host.time.now;
  const submitted = plan.jobs.map(async ({ atMs, account }, number) => {
    await host.time.sleep(Math.max(0, startedAt + atMs - host.time.now));
    return target.submit(keys[account] ?? "", sourceOf(number), OUTPUTS, `job-${number}`);
  });
  const ids = await Promise.all(submitted);
  while (counter.ended < plan.jobs.length || nodes.some(({ isBusy }) => isBusy)) {
    if (host.time.now > startedAt + limitMs) throw new Error(`Only ${counter.ended} jobs have ended: ${ids.length}`);
    await host.time.sleep(POLL_MS);
  }
  // Wait for the last frames.
  await host.time.sleep(1000);
  const counts = { ...counter.counts, ...(await listed(target, keys)), ...(await metrics(target)) };
  for (const node of nodes) node.die();
  return Object.fromEntries(Object.entries(counts).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

async function connectNodes(target: Target, plan: Plan, observer: NodeObserver): Promise<SimulatedNode[]> {
  const nodes: SimulatedNode[] = [];
  let token = "";
  for (let number = 0; number < plan.nodes; number++) {
    if (number % NODES_PER_TOKEN === 0) token = await target.newToken(`token-${number / NODES_PER_TOKEN}`);
    const options = { nodeId: `node-${number}`, token, slots: { inspect: 1, encode: 1 }, latencyMs: 1 };
    nodes.push(new SimulatedNode(target.host, { ...options, observer, workloadOf: (task) => workloadOf(plan, task) }));
  }
  await Promise.all(nodes.map(({ link }) => link.connect()));
  while (!nodes.every(({ link }) => link.isConnected)) await target.host.time.sleep(POLL_MS);
  return nodes;
}

/** Counts the observations of nodes and of webhook receivers. */
class Counter implements NodeObserver {
  readonly counts: Record<string, number> = {};
  readonly #notified = new Set<string>();
  ended = 0;

  assigned({ kind }: Assignment): void {
    this.#count(`nodes: ${kind} tasks`);
  }

  /** Not counted: the number of repeated fetches depends on which calls are late. */
  fetched(): void {}

  reported({ kind }: Assignment, verb: "complete" | "fail"): void {
    this.#count(`nodes: ${kind} ${verb === "complete" ? "completed" : "failed"}`);
  }

  /** Ignores duplicates: a webhook may arrive twice with the same id. */
  notified({ id, body }: { readonly id: string; readonly body: string }): void {
    const { event, job_id: job } = JSON.parse(body) as { event: string; job_id: string };
    if (this.#notified.has(id)) return;
    this.#notified.add(id);
    if (this.#notified.has(job)) this.#count("webhooks: jobs that ended twice");
    this.#notified.add(job);
    this.ended += 1;
    this.#count(`webhooks: ${event}`);
  }

  #count(name: string): void {
    this.counts[name] = (this.counts[name] ?? 0) + 1;
  }
}

type Page = { readonly jobs: readonly { readonly status: string }[]; readonly next_cursor: string | null };

/** The jobs in the lists of each account. */
async function listed({ host }: Target, keys: readonly string[]): Promise<Counts> {
  const counts: Record<string, number> = {};
  for (const [account, key] of keys.entries()) {
    const headers = { authorization: `Basic ${btoa(`${key}:`)}` };
    for (let cursor: string | null = ""; cursor !== null; ) {
      const response: Response = await host.request(`/v2/jobs?limit=100${cursor && `&cursor=${cursor}`}`, { headers });
      const page = (await response.json()) as Page;
      for (const { status } of page.jobs) {
        const name = `lists: ${status} of account ${account}`;
        counts[name] = (counts[name] ?? 0) + 1;
      }
      cursor = page.next_cursor;
    }
  }
  return counts;
}

/** The ends of tasks, as /metrics reports them. */
async function metrics({ host, adminToken }: Target): Promise<Counts> {
  const response = await host.request("/metrics", { headers: { authorization: `Bearer ${adminToken}` } });
  const lines = (await response.text()).split("\n").filter((line) => /^copra_tasks_total\{.*\} [^0]/.test(line));
  return Object.fromEntries(
    lines.map((line) => [`metrics: ${line.slice(0, line.lastIndexOf(" "))}`, Number(line.split(" ").at(-1))]),
  );
}
