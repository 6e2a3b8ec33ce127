import { expect, it } from "vitest";
import { leaseId, newJobId } from "#shared/ids.ts";
import type { TicketOffer } from "../../rpc/hub.ts";
import { Matching } from "./matching.ts";
import type { ConnectedNode } from "./nodes/connected-node.ts";
import { Roster } from "./nodes/roster.ts";
import { nodeOf, offerOf } from "./testing/simulated-fleet.ts";

const NOW = 1_000_000;
const node = (nodeId: string, encode: number, leases: ConnectedNode["leases"] = {}): ConnectedNode => ({
  ...nodeOf(nodeId, { inspect: 0, encode }),
  leases,
});
const JOBS = Array.from({ length: 3 }, () => newJobId((count) => crypto.getRandomValues(new Uint8Array(count))));
const offer = (jobId: string, count: number) => offerOf(jobId, { accountId: "account", count, since: NOW });

function matched() {
  const matching = new Matching(new Roster());
  matching.roster.add(node("attic", 1));
  const [first] = matching.step({ kind: "advertise", offers: JOBS.map((job) => offer(job, 2)) }, NOW).matches;
  if (!first) throw new Error("Nothing matched");
  const lease = leaseId(first.ticket.jobId as (typeof JOBS)[number], "chunk-7", 2);
  matching.step({ kind: "claimed", match: first, claimed: [{ lease, slotClass: "encode" }] }, NOW);
  return { matching, lease, jobId: first.ticket.jobId };
}

it("counts each task that waits or runs", () => {
  const encodes = matched()
    .matching.demand(NOW + 9000)
    .find(({ slotClass }) => slotClass === "encode");
  expect(encodes).toMatchObject({ pool: "default", waiting: 5, running: 1, oldestMs: 9000 });
});

it("counts no join that waits for chunks without a slot", () => {
  const matching = new Matching(new Roster());
  const leases = JOBS.map((job, at) => [leaseId(job, at === 0 ? "chunk-1" : "join-early", 1), "encode" as const]);
  matching.roster.add(node("attic", 0, Object.fromEntries(leases)));
  expect(matching.demand(NOW).map(({ running }) => running)).toEqual([0, 1]);
});

it("counts an inspection as an encode, too, because it holds a slot for it", () => {
  const matching = new Matching(new Roster());
  const inspect = { ...offer(JOBS[0] ?? "", 1), slotClass: "inspect" as const };
  matching.step({ kind: "advertise", offers: [inspect] }, NOW);
  expect(matching.demand(NOW).map(({ slotClass, waiting }) => [slotClass, waiting])).toEqual([
    ["inspect", 1],
    ["encode", 1],
  ]);
});

it("measures a task until its node releases it, also over a new connection of the node", () => {
  const { matching, lease } = matched();
  const [before] = matching.roster.values();
  if (!before) throw new Error("No node");
  matching.roster.remove(before);
  matching.roster.add({ ...before });
  matching.step({ kind: "look" }, NOW + 60_000);
  expect(matching.tasks.report()).toMatchObject([{ kind: "chunk", timed: 0, outcomes: { done: 0, lost: 0 } }]);
  const [after] = matching.roster.values();
  matching.tasks.ending([lease], "done");
  if (after) matching.roster.change(after, { leases: {} });
  matching.step({ kind: "look" }, NOW + 90_000);
  const [chunks] = matching.tasks.report();
  expect(chunks).toMatchObject({ kind: "chunk", outcomes: { done: 1, lost: 0 }, retries: 1, timed: 1, sumSeconds: 90 });
  expect(chunks?.within).toEqual([0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1]);
  expect(matching.roster.holder(lease)).toBeNull();
});

it("counts the task of a disconnected node as lost", () => {
  const { matching } = matched();
  for (const gone of [...matching.roster.values()]) matching.roster.remove(gone);
  matching.step({ kind: "look" }, NOW + 1000);
  expect(matching.tasks.report()).toMatchObject([{ kind: "chunk", outcomes: { done: 0, lost: 1 }, timed: 0 }]);
});

it("gives a cordoned node no work, and uses all its slots after the cordon", () => {
  const matching = new Matching(new Roster());
  matching.limits.cordon("attic", true, NOW);
  matching.roster.add(node("attic", 2));
  expect(matching.step({ kind: "advertise", offers: [offer(JOBS[0] ?? "", 5)] }, NOW).matches).toEqual([]);
  matching.limits.cordon("attic", false, NOW);
  expect(matching.step({ kind: "look" }, NOW).matches.reduce((sum, { slots }) => sum + slots, 0)).toBe(2);
});

/** Until tasks have ended, an encode is assumed to take 60 s, and an inspection 10 s. */
const [ENCODE, INSPECT] = [60, 10];

/** A matching whose pool has some encode slots, all taken. */
function matchingWith(slots: number, offers: readonly TicketOffer[]) {
  const matching = new Matching(new Roster());
  const taken = Array.from({ length: slots }, (_, at) => [`other-${at}:encode:1`, "encode" as const]);
  if (slots > 0) {
    matching.roster.add({ ...nodeOf("attic", { inspect: 0, encode: 0 }), leases: Object.fromEntries(taken) });
  }
  matching.step({ kind: "advertise", offers }, NOW);
  return matching;
}

// The first letter of a name is the account.
const mine = offerOf("mine", { since: NOW });
const older = offerOf("m-older", { since: 1 });
const younger = offerOf("m-younger", { since: NOW + 1 });
const stranger = offerOf("stranger", { since: 1 });
const FIRST = { priority: 50, maxPriority: 50 };
const elsewhere = { pool: "gpu", labels: [], needs: [] };

it.each<[name: string, slots: number, waiting: TicketOffer[], ahead: number, seconds: number | null]>([
  ["begins when the first slot is free", 1, [mine], 0, ENCODE],
  ["begins sooner with more slots", 4, [mine], 0, ENCODE / 4],
  ["waits for older jobs of its account", 1, [older, offerOf("m-old", { since: 2 }), mine], 2, 3 * ENCODE],
  ["does not wait for younger ones", 1, [mine, younger], 0, ENCODE],
  ["waits for each chunk of a job", 1, [{ ...older, count: 5 }, mine], 1, 6 * ENCODE],
  ["waits for what follows an inspection", 1, [{ ...older, slotClass: "inspect" }, mine], 1, INSPECT + 2 * ENCODE],
  ["waits for a younger job with a higher priority", 1, [mine, { ...younger, priority: 50 }], 1, 2 * ENCODE],
  ["does not wait for its account's older jobs of a lower priority", 1, [{ ...older, priority: -50 }, mine], 0, ENCODE],
  ["takes turns with another account's jobs of any priority", 1, [mine, { ...stranger, priority: 50 }], 0, 2 * ENCODE],
  ["waits for another account's jobs up to its cap", 1, [mine, { ...stranger, ...FIRST }], 1, 2 * ENCODE],
  ["does not wait for accounts with a lower cap", 1, [mine, { ...stranger, ...FIRST, maxPriority: -50 }], 0, ENCODE],
  ["shares the slots with other accounts in turn", 1, [mine, stranger], 0, 2 * ENCODE],
  [
    "gets more of them by its weight",
    1,
    [
      { ...mine, weight: 3 },
      { ...stranger, since: NOW },
    ],
    0,
    80,
  ],
  ["uses no more slots than its account may", 8, [{ ...mine, maxRunning: 2 }, stranger], 0, ENCODE / 2],
  ["does not wait for other pools", 1, [mine, { ...older, requirements: elsewhere }], 0, ENCODE],
  ["has no time without nodes", 0, [mine], 0, null],
])("a job %s", (_, slots, waiting, ahead, seconds) => {
  expect(matchingWith(slots, waiting).place(mine.jobId, NOW)).toEqual({ ahead, seconds });
});

it("gives no place to a job without waiting tasks", () => {
  expect(matchingWith(1, [older]).place(mine.jobId, NOW)).toBeNull();
});
