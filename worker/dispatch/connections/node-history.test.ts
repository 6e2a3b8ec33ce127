import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, it } from "vitest";
import { hubOf } from "../../rpc/hub.ts";
import { STEP_MS } from "../../rpc/hub-reports.ts";
import { NodeHistory, type NodeWork, noWork } from "./node-history.ts";

type Node = { nodeId: string; leases: Record<string, "encode" | "inspect">; work: NodeWork };

const START = 2_000_000 * STEP_MS;
const node = (nodeId: string, encodes: number): Node => ({
  nodeId,
  leases: Object.fromEntries([
    ["job.inspect.1", "inspect"],
    ...Array.from({ length: encodes }, (_, at) => [`job.encode-${at}.1`, "encode"]),
  ]),
  work: noWork(START),
});

/** Runs with the storage of a hub, which is kept. */
const withStorage = (name: string, use: (kv: SyncKvStorage) => void): Promise<void> =>
  runInDurableObject(hubOf(env, name), (_, { storage }) => use(storage.kv));

/** The steps with work, by their distance from the first step. */
const worked = (history: NodeHistory<Node>, of: Node, now: number, isGone = false) =>
  history
    .of(of.nodeId, isGone ? null : of, now)
    .flatMap(({ at, busy, speed }) => (busy > 0 ? [[(at - START) / STEP_MS, busy, speed]] : []));

it("averages busy slots and speed over steps of 15 minutes, and writes one row after a step for all nodes", async () => {
  await withStorage("hub:history", (kv) => {
    const nodes = [node("a", 2), node("b", 1), node("idle", 0)];
    const [a, b, idle] = nodes as [Node, Node, Node];
    const stored: string[] = [];
    const store = ({ nodeId }: Node) => void stored.push(nodeId);
    const history = new NodeHistory<Node>(kv, () => nodes, store);
    for (const one of nodes) history.note(one, 3, START);
    // After half a step a slot of the first node becomes free, and the node becomes faster.
    delete a.leases["job.encode-1.1"];
    history.note(a, 5, START + STEP_MS / 2);
    expect([...kv.list({ prefix: "work:" })]).toEqual([]);
    expect(worked(history, a, START + STEP_MS / 2)).toEqual([[0, 2, 3]]);
    history.note(a, 5, START + 2 * STEP_MS);
    expect([...kv.list({ prefix: "work:" })]).toHaveLength(2);
    expect(stored).toEqual(["a", "b", "idle"]);
    const now = START + 2.5 * STEP_MS;
    expect(worked(history, a, now)).toEqual([
      [0, 1.5, 4],
      [1, 1, 5],
      [2, 1, 5],
    ]);
    expect(worked(history, b, now).map(([at, busy]) => [at, busy])).toEqual([
      [0, 1],
      [1, 1],
      [2, 1],
    ]);
    expect(worked(history, idle, now)).toEqual([]);
    // A node that leaves and returns within a step has the sum of both.
    history.left(b, now);
    b.work = noWork(now);
    history.note(b, 3, now);
    history.note(b, 3, START + 3 * STEP_MS);
    expect(worked(history, b, START + 3 * STEP_MS + 1).at(2)).toEqual([2, 1, 3]);
    expect(worked(history, b, START + 3 * STEP_MS, true)).toHaveLength(3);
  });
});

it("keeps 24 hours in 96 rows, also after the hub has lost its memory", async () => {
  await withStorage("hub:history-of-days", (kv) => {
    const a = node("a", 1);
    const open = (): NodeHistory<Node> =>
      new NodeHistory<Node>(
        kv,
        () => [a],
        () => undefined,
      );
    open().note(a, 2, START);
    for (let step = 1; step <= 200; step++) open().note(a, 2, START + step * STEP_MS);
    expect([...kv.list({ prefix: "work:" })]).toHaveLength(96);
    const steps = open().of("a", a, START + 200.5 * STEP_MS);
    expect([steps.length, steps[0]?.at, steps.at(-1)?.at]).toEqual([96, START + 105 * STEP_MS, START + 200 * STEP_MS]);
    expect(steps.every(({ busy, speed }) => busy === 1 && speed === 2)).toBe(true);
  });
});
