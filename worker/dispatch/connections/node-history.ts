// The work of nodes in the last 24 hours, in steps of 15 minutes. The sums of a node's present step are in its
// socket's attachment, which costs nothing. After a step, one row on disk gets the sums of all nodes: 96 rows a day for
// each hub.
import * as z from "zod";
import { type NodeStep, STEP_MS } from "../../rpc/hub-reports.ts";
import { busyEncodesOf, type HeldLeases } from "../matching/nodes/connected-node.ts";

const STEPS = 96;

const Sum = z.number().min(0);
export const NodeWork = z.object({
  /** Busy slots, and seconds of sources encoded in a second: both since `since`, in ms since 1970. */
  busy: Sum,
  speed: Sum,
  since: z.number(),
  /** Sums over the present step before `since`, for each ms. */
  busyMs: Sum,
  speedMs: Sum,
});
export type NodeWork = z.infer<typeof NodeWork>;
export const noWork = (now: number): NodeWork => ({ busy: 0, speed: 0, since: now, busyMs: 0, speedMs: 0 });

type Sums = [busyMs: number, speedMs: number];
const Row = z.object({ step: z.int(), nodes: z.record(z.string(), z.tuple([Sum, Sum])) });

type WorkingNode = { readonly nodeId: string; readonly leases: HeldLeases; readonly work: NodeWork };

const stepOf = (ms: number): number => Math.floor(ms / STEP_MS);
const keyOf = (step: number): string => `work:${step % STEPS}`;

export class NodeHistory<Node extends WorkingNode> {
  readonly #kv: SyncKvStorage;
  readonly #nodes: () => Iterable<Node>;
  readonly #store: (node: Node) => void;
  /** Sums of ended steps, and of nodes that left in the present step. The latter are lost with the hub's memory. */
  readonly #ended = new Map<number, Map<string, Sums>>();

  /** `store` stores a node with its changed work. */
  constructor(kv: SyncKvStorage, nodes: () => Iterable<Node>, store: (node: Node) => void) {
    this.#kv = kv;
    this.#nodes = nodes;
    this.#store = store;
  }

  /** Adds the time since the last call, then takes the node's present leases and speed. The caller stores the node. */
  note({ leases, work }: Node, speed: number, now: number): void {
    if (stepOf(work.since) < stepOf(now)) this.#endSteps(now);
    advance(work, now);
    work.busy = busyEncodesOf(leases);
    work.speed = work.busy === 0 ? 0 : speed;
  }

  /** Keeps the work of a node that leaves. */
  left(node: Node, now: number): void {
    this.note(node, 0, now);
    this.#take(stepOf(now), node.nodeId, node.work);
  }

  /** The steps of the last 24 hours; the last one has not ended. `node`: null if it is not connected. */
  of(nodeId: string, node: Node | null, now: number): NodeStep[] {
    this.#endSteps(now);
    const present = stepOf(now);
    return Array.from({ length: STEPS }, (_, at) => {
      const step = present - STEPS + 1 + at;
      const [busyMs, speedMs] = this.#ended.get(step)?.get(nodeId) ?? this.#row(step)[nodeId] ?? [0, 0];
      const work = { ...((step === present && node?.work) || noWork(now)) };
      advance(work, now);
      const ms = Math.max(1, Math.min(STEP_MS, now - step * STEP_MS));
      return { at: step * STEP_MS, busy: (busyMs + work.busyMs) / ms, speed: (speedMs + work.speedMs) / ms };
    });
  }

  /** Writes the steps that have ended. */
  #endSteps(now: number): void {
    const present = stepOf(now);
    for (const node of this.#nodes()) {
      const { nodeId, work } = node;
      if (stepOf(work.since) === present) continue;
      const oldest = Math.max(stepOf(work.since), present - STEPS);
      work.since = Math.max(work.since, oldest * STEP_MS);
      for (let step = oldest; step < present; step++) {
        advance(work, (step + 1) * STEP_MS);
        this.#take(step, nodeId, work);
      }
      this.#store(node);
    }
    for (const [step, ended] of this.#ended) {
      if (step === present) continue;
      this.#kv.put(keyOf(step), { step, nodes: Object.fromEntries(ended) });
      this.#ended.delete(step);
    }
  }

  /** Moves the sums of a node to a step. */
  #take(step: number, nodeId: string, work: NodeWork): void {
    if (work.busyMs === 0) return;
    const nodes = this.#ended.get(step) ?? new Map(Object.entries(this.#row(step)));
    const [busyMs, speedMs] = nodes.get(nodeId) ?? [0, 0];
    this.#ended.set(step, nodes.set(nodeId, [busyMs + work.busyMs, speedMs + work.speedMs]));
    work.busyMs = 0;
    work.speedMs = 0;
  }

  /** The stored sums of a step. The row may still have the same step of the day before. */
  #row(step: number): Record<string, Sums> {
    const row = Row.safeParse(this.#kv.get(keyOf(step)));
    return row.success && row.data.step === step ? row.data.nodes : {};
  }
}

function advance(work: NodeWork, until: number): void {
  const ms = Math.max(0, until - work.since);
  work.busyMs += work.busy * ms;
  work.speedMs += work.speed * ms;
  work.since += ms;
}
