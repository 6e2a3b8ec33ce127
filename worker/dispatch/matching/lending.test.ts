import { describe, expect, it } from "vitest";
import type { SentOffer } from "../../rpc/hub.ts";
import { capacityOf } from "./lending.ts";
import { Matching } from "./matching.ts";
import type { ConnectedNode } from "./nodes/connected-node.ts";
import { Roster } from "./nodes/roster.ts";
import { nodeOf, offerOf, PROFILE } from "./testing/simulated-fleet.ts";

const NOW = 1_000_000;
const slots = (inspect: number, encode: number) => [{ profile: PROFILE, free: { inspect, encode } }];

function waitingAt(offers: readonly ReturnType<typeof offerOf>[], nodes: readonly ConnectedNode[] = []) {
  const matching = new Matching(new Roster());
  for (const node of nodes) matching.roster.add(node);
  for (const offer of offers) matching.step({ kind: "advertise", offers: [offer] }, NOW);
  return matching;
}

describe("a hub lends", () => {
  const needs = [{ kind: "encoder" as const, anyOf: ["libsvtav1"] }];
  const rows: [string, [string, Partial<SentOffer>][], [number, number], string[]][] = [
    ["nothing, if nothing waits", [], [9, 9], []],
    [
      "what fits the slots",
      [
        ["a", {}],
        ["b", { slotClass: "inspect" }],
      ],
      [0, 9],
      ["a ×1"],
    ],
    [
      "encodes before inspections",
      [
        ["a", { slotClass: "inspect" }],
        ["b", {}],
      ],
      [1, 1],
      ["b ×1"],
    ],
    ["a part of a ticket", [["a", { count: 9 }]], [0, 4], ["a ×4"]],
    [
      "work of a higher priority first",
      [
        ["a", {}],
        ["b", { priority: 30 }],
      ],
      [0, 1],
      ["b ×1"],
    ],
    [
      "to accounts in turn",
      [
        ["a1", { count: 2 }],
        ["a2", {}],
        ["b", {}],
      ],
      [0, 3],
      ["a1 ×2", "b ×1"],
    ],
    ["no more of an account than it may run", [["a", { count: 9, maxRunning: 2 }]], [0, 9], ["a ×2"]],
    ["nothing that its own hub may not assign yet", [["a", { notBefore: NOW + 1 }]], [9, 9], []],
    ["nothing of another pool", [["a", { requirements: { pool: "gpu", labels: [], needs: [] } }]], [9, 9], []],
    ["nothing that the nodes cannot do", [["a", { requirements: { pool: "default", labels: [], needs } }]], [9, 9], []],
  ];
  it.each(rows)("%s", (_, offers, [inspect, encode], lent) => {
    const matching = waitingAt(offers.map(([name, changes]) => offerOf(name, changes)));
    const { tickets } = matching.lend(slots(inspect, encode), NOW);
    expect(tickets.map(({ jobId, count }) => `${jobId.replace(/0+$/, "")} ×${count}`)).toEqual(lent);
    const total = offers.reduce((sum, [, { count = 1 }]) => sum + count, 0);
    const left = matching.demand(NOW).filter(({ slotClass }) => slotClass === "encode");
    const lentCount = tickets.reduce((sum, { count }) => sum + count, 0);
    expect(left.reduce((sum, { waiting }) => sum + waiting, 0)).toBe(total - lentCount);
  });

  it("nothing that waits for the node that has its source", () => {
    const busy = {
      ...nodeOf("n", { inspect: 0, encode: 0 }),
      leases: { "AAAAAAAAAAAAAA.encode.1": "encode" as const },
    };
    const matching = waitingAt([offerOf("a", { prefer: "n", preferUntil: NOW + 2000 })], [busy]);
    expect(matching.hasLendable).toBe(false);
    matching.step({ kind: "look" }, NOW + 2000);
    expect(matching.lend(slots(0, 1), NOW + 2000).tickets).toHaveLength(1);
    expect(matching.hasLendable).toBe(false);
  });
});

it("a borrowed ticket keeps its age, and is assigned at once", () => {
  const [ticket] = waitingAt([offerOf("a")]).lend(slots(0, 1), NOW + 5000).tickets;
  const borrower = waitingAt([], [nodeOf("n", { inspect: 1, encode: 1 })]);
  expect(capacityOf(borrower.roster)).toEqual(slots(1, 1));
  const { matches } = borrower.step({ kind: "borrowed", tickets: ticket ? [ticket] : [] }, NOW + 5000);
  expect(matches).toMatchObject([{ slots: 1, ticket: { waitingSince: NOW } }]);
  expect(capacityOf(borrower.roster)).toEqual([]);
});
