// Sources are fetched once: simulates a fleet in virtual time with the real matching.

import { describe, expect, it, test } from "vitest";
import type { SlotClass, SlotCounts } from "#shared/protocol/tasks.ts";
import { randomOf } from "#shared/testing/random.ts";
import type { Match } from "../choose.ts";
import { Matching } from "../matching.ts";
import { nodeOf, offerOf } from "../testing/simulated-fleet.ts";
import { addSlots, type ConnectedNode, type HeldLeases } from "./connected-node.ts";
import { type Claim, slotsOf } from "./node-slots.ts";
import { HOLD_MS, Roster } from "./roster.ts";

type Fleet = {
  readonly nodes: number;
  readonly jobs: number;
  /** Mean time between jobs, mean time of a fetch, and mean time of an encode; ms. */
  readonly everyMs: number;
  readonly fetchMs: number;
  readonly encodeMs: number;
  /** The share of jobs whose call arrives after their node's free slot. */
  readonly late: number;
};

/** Returns the number of fetched sources per encoded job, and the waiting times of jobs in ms. */
function simulate({ nodes, jobs, everyMs, fetchMs, encodeMs, late }: Fleet): {
  fetches: number;
  done: number;
  waits: number[];
} {
  const random = randomOf(7);
  const about = (mean: number): number => mean * (0.25 + 1.5 * random());
  const roster = new Roster();
  const matching = new Matching(roster);
  const events: { at: number; act: () => void }[] = [];
  let now = 1;
  const after = (ms: number, act: () => void): void => void events.push({ at: now + ms, act });
  const waits: number[] = [];
  const createdAt = new Map<string, number>();
  const sourceOf = new Map<string, string>();
  let [fetches, done] = [0, 0];

  const step = (event: Parameters<typeof matching.step>[0]): void => {
    const { matches, wakeAt } = matching.step(event, now);
    for (const match of matches) after(20, () => claim(match));
    if (wakeAt !== null) after(Math.max(0, wakeAt - now), () => step({ kind: "look" }));
  };
  const advertise = (jobId: string, slotClass: SlotClass, prefer: string | null): void =>
    step({
      kind: "advertise",
      offers: [
        offerOf(jobId, {
          accountId: jobId.charCodeAt(4) % 2 ? "a" : "b",
          slotClass,
          since: createdAt.get(jobId) ?? now,
          prefer,
          preferUntil: now + 2000,
        }),
      ],
    });
  const claim = (match: Match<ConnectedNode>): void => {
    const { node, ticket } = match;
    const { jobId, slotClass } = ticket;
    const lease = `${jobId}.${slotClass}.1`;
    step({ kind: "claimed", match, claimed: [{ lease, slotClass }] });
    if (slotClass === "inspect") {
      fetches += 1;
      sourceOf.set(jobId, node.nodeId);
      return after(about(fetchMs), () => {
        // The job advertises before the node's own frame arrives, unless its call is late.
        after(random() < late ? 40 : 20, () => advertise(jobId, "encode", node.nodeId));
        after(30, () => release(node, lease, "inspect"));
      });
    }
    waits.push(now - (createdAt.get(jobId) ?? now));
    const isElsewhere = sourceOf.get(jobId) !== node.nodeId;
    if (isElsewhere) fetches += 1;
    after(about(encodeMs) + (isElsewhere ? about(fetchMs) : 0), () => {
      done += 1;
      release(node, lease, "encode");
    });
  };
  const release = (node: ConnectedNode, lease: string, slotClass: SlotClass): void => {
    const { [lease]: _ended, ...leases } = node.leases;
    const free = addSlots({ free: node.free, leases }, { inspect: 0, encode: 0, [slotClass]: 1 });
    roster.change(node, { leases, free });
    step({ kind: "look" });
  };

  for (let at = 0; at < nodes; at++) roster.add(nodeOf(`n${at}`, { inspect: 32, encode: 1 }));
  let at = 0;
  for (let job = 0; job < jobs; job++) {
    at += -Math.log(1 - random()) * everyMs;
    const jobId = `job${String(job).padStart(11, "0")}`;
    events.push({
      at,
      act: () => {
        createdAt.set(jobId, now);
        advertise(jobId, "inspect", null);
      },
    });
  }
  while (events.length > 0) {
    const next = events.reduce((first, event) => (event.at < first.at ? event : first));
    events.splice(events.indexOf(next), 1);
    now = next.at;
    next.act();
  }
  return { fetches: fetches / done, done, waits: waits.toSorted((a, b) => a - b) };
}

describe("source fetches", () => {
  const MEANS = { fetchMs: 5000, encodeMs: 60_000 };
  const everyMs = (nodes: number, load: number): number => (MEANS.fetchMs + MEANS.encodeMs) / (nodes * load);
  test.each([
    [1, 0.9, 0, 1],
    [20, 0.5, 0, 1],
    [20, 0.9, 0, 1],
    [20, 3, 0, 1],
    [60, 0.9, 0, 1],
    [20, 3, 0.05, 1.05],
  ])("fetches a source once on %d nodes at a load of %d, if a share of %d calls is late", (nodes, load, late, most) => {
    const { fetches, done } = simulate({ nodes, jobs: 400, everyMs: everyMs(nodes, load), late, ...MEANS });
    expect(done).toBe(400);
    expect(fetches).toBeLessThanOrEqual(most);
  });
});

const freeOf = (free: SlotCounts, leases: HeldLeases = {}, claims: readonly Claim[] = []) =>
  slotsOf({ ...nodeOf("n", free), leases }, { claims, limit: null, isHolding: () => true }).free;

it("gives no slot to an inspection while the job of a match may claim that slot for an encode", () => {
  const claim: Claim = { ticket: { slotClass: "encode", accountId: "a" }, slots: 1 };
  expect(freeOf({ inspect: 1, encode: 0 }, {}, [claim]).inspect).toBe(0);
});

it("holds an encode slot for each source that is being fetched", () => {
  const leases = { "A.inspect.1": "inspect", "B.encode.1": "encode" } as const;
  expect(freeOf({ inspect: 31, encode: 3 }, leases)).toEqual({ inspect: 2, encode: 2 });
  expect(freeOf({ inspect: 31, encode: 0 }, leases)).toEqual({ inspect: 0, encode: 0 });
  expect(freeOf({ inspect: 4, encode: 0 })).toEqual({ inspect: 4, encode: 0 });
});

it("holds no slot for a source that takes too long", () => {
  const roster = new Roster();
  const matching = new Matching(roster);
  const leases = { "AAAAAAAAAAAAAA.inspect.1": "inspect" as const };
  roster.add({ ...nodeOf("n", { inspect: 31, encode: 1 }), leases });
  const offers = [offerOf("b")];
  const { matches, wakeAt } = matching.step({ kind: "advertise", offers }, 20_000);
  expect([matches, wakeAt]).toEqual([[], 20_000 + HOLD_MS]);
  expect(matching.step({ kind: "look" }, 20_000 + HOLD_MS).matches).toMatchObject([{ slots: 1 }]);
});
