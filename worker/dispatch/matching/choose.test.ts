import { describe, expect, it } from "vitest";
import { parseLeaseId } from "#shared/ids.ts";
import { bandsOf, Chooser } from "./choose.ts";
import type { ConnectedNode } from "./nodes/connected-node.ts";
import { Roster } from "./nodes/roster.ts";
import { shareOf } from "./shares.ts";
import { nodeOf, offerOf } from "./testing/simulated-fleet.ts";
import { Accounts } from "./waiting/accounts.ts";
import { TicketQueue } from "./waiting/ticket-queue.ts";
import type { Ticket } from "./waiting/tickets.ts";

const NOW = 10_000;
const MINUTE = 60_000;
const node = (nodeId: string, encode: number, inspect = 0): ConnectedNode => nodeOf(nodeId, { inspect, encode });
const DRAINING = { ...node("drains", 0), draining: true };
const ticket = (jobId: string, changes: Partial<Ticket> = {}): Ticket => ({
  ...offerOf(jobId, { accountId: "account", since: NOW, preferUntil: NOW + 2000, avoidUntil: NOW + 60_000 }),
  jobId,
  waitingSince: NOW,
  isCountOld: false,
  advertisedAt: NOW,
  notBefore: 0,
  ...changes,
});

function chosen(nodes: readonly ConnectedNode[], tickets: readonly Ticket[]) {
  const roster = new Roster();
  const accounts = new Accounts();
  const queue = new TicketQueue(roster, accounts);
  for (const connected of nodes) roster.add(connected);
  for (const advertised of tickets) queue.put(advertised, NOW);
  const chooser = new Chooser({ roster, accounts, queue });
  const choice = chooser.next(NOW);
  return { match: choice && { ...choice, ticket: choice.entry.ticket }, opensAt: chooser.opensAt(NOW) };
}

describe("choice of tickets and nodes", () => {
  const rows: [string, ConnectedNode[], Ticket[], string | null][] = [
    ["no node", [], [ticket("j")], null],
    ["no ticket", [node("a", 1)], [], null],
    ["no free slot", [node("a", 0)], [ticket("j")], null],
    ["only slots of another class", [node("a", 0, 4)], [ticket("j")], null],
    ["a free slot", [node("a", 1)], [ticket("j")], "j on a ×1"],
    ["several tasks, as far as slots go", [node("a", 2)], [ticket("j", { count: 5 })], "j on a ×2"],
    ["the node with the most free slots", [node("a", 1), node("b", 3)], [ticket("j")], "j on b ×1"],
    [
      "the oldest job first, however late it advertised",
      [node("a", 1)],
      [ticket("new"), ticket("old", { since: 1, advertisedAt: NOW + 5 })],
      "old on a ×1",
    ],
    [
      "the preferred node, though another has more slots",
      [node("a", 1), node("b", 3)],
      [ticket("j", { prefer: "a" })],
      "j on a ×1",
    ],
    ["wait for a busy preferred node", [node("a", 0), node("b", 3)], [ticket("j", { prefer: "a" })], null],
    ["but not for ever", [node("a", 0), node("b", 3)], [ticket("j", { prefer: "a", preferUntil: NOW })], "j on b ×1"],
    ["nor for one that is gone", [node("b", 3)], [ticket("j", { prefer: "a" })], "j on b ×1"],
    ["nor for one that drains", [DRAINING, node("b", 3)], [ticket("j", { prefer: "drains" })], "j on b ×1"],
    ["and do other work", [node("a", 0), node("b", 3)], [ticket("j", { prefer: "a" }), ticket("k")], "k on b ×1"],
    ["pass by a node that failed it", [node("a", 3), node("b", 1)], [ticket("j", { avoid: ["a"] })], "j on b ×1"],
    ["even if the other is busy", [node("a", 3), node("b", 0)], [ticket("j", { avoid: ["a"] })], null],
    ["but not for ever", [node("a", 3), node("b", 0)], [ticket("j", { avoid: ["a"], avoidUntil: NOW })], "j on a ×1"],
    ["nor because of one that drains", [DRAINING, node("a", 3)], [ticket("j", { avoid: ["a"] })], "j on a ×1"],
    ["leave a job alone that could not be asked", [node("a", 1)], [ticket("j", { notBefore: NOW + 1 })], null],
    ["but take it when there is no other", [node("a", 1)], [ticket("j", { avoid: ["a"], prefer: "a" })], "j on a ×1"],
  ];
  it.each(rows)("%s", (_, nodes, tickets, expected) => {
    const { match } = chosen(nodes, tickets);
    expect(match && `${match.ticket.jobId} on ${match.node.nodeId} ×${match.slots}`).toBe(expected);
  });

  const shares: [
    string,
    slots: number,
    held: Record<string, number>,
    waiting: Record<string, number>,
    string | null,
  ][] = [
    ["all slots to one account when nobody else waits", 4, {}, { a: 9 }, "a ×4"],
    ["half of them when somebody does", 4, {}, { a: 9, b: 1 }, "a ×2"],
    ["half of them, those included that it has", 2, { a: 1, b: 1 }, { a: 9, b: 1 }, "a ×1"],
    ["the other account once the first has its half", 2, { a: 2 }, { a: 9, b: 1 }, "b ×1"],
    ["the other account, whoever's turn it is", 1, { a: 5 }, { a: 9, b: 9 }, "b ×1"],
    ["more than half when nobody else can use it", 2, { a: 6 }, { a: 9 }, "a ×2"],
    ["both by turns once each has its half", 2, { a: 3, b: 3 }, { a: 1, b: 1 }, "a ×1"],
    ["one slot of one", 1, {}, { a: 1, b: 1 }, "a ×1"],
    ["what is there when the others' leases are of nobody known", 2, { "": 6 }, { a: 9 }, "a ×2"],
  ];
  it.each(shares)("gives %s", (_, slots, held, waiting, expected) => {
    const leases = Object.entries(held).flatMap(([accountId, count]) =>
      Array.from({ length: count }, (_, at) => ({ accountId, lease: `${accountId.padEnd(14, "A")}.chunk-${at}.1` })),
    );
    const accounts = Object.fromEntries(leases.map(({ accountId, lease }) => [parseLeaseId(lease)?.job, accountId]));
    const busy = {
      ...node("busy", 0),
      leases: Object.fromEntries(leases.map(({ lease }) => [lease, "encode" as const])),
      accounts,
    };
    const tickets = Object.entries(waiting).map(([accountId, count]) =>
      ticket(`of-${accountId}`, { accountId, count }),
    );
    const { match } = chosen([node("free", slots), busy], tickets);
    expect(match && `${match.ticket.accountId} ×${match.slots}`).toBe(expected);
  });

  it("keeps some inspect slots for other accounts, but no encode slots", () => {
    expect([1, 7, 8, 32, 100].map((slots) => shareOf("inspect", slots, false))).toEqual([1, 7, 7, 28, 88]);
    expect([1, 7, 8, 32, 100].map((slots) => shareOf("encode", slots, false))).toEqual([1, 7, 8, 32, 100]);
    expect([1, 2, 3, 32].map((slots) => shareOf("encode", slots, true))).toEqual([1, 1, 2, 16]);
    const nodes = [node("free", 0, 32)];
    const all = chosen(nodes, [ticket("j", { slotClass: "inspect", count: 99 })]);
    expect(all.match?.slots).toBe(28);
  });

  it("serves an account that has waited for an hour at every 16th choice, and accounts in turn at all others", () => {
    const [roster, accounts] = [new Roster(), new Accounts()];
    const queue = new TicketQueue(roster, accounts);
    roster.add(node("a", 2));
    const now = NOW + 60 * MINUTE;
    for (const accountId of ["waits", "next"]) queue.put(ticket(`of-${accountId}`, { accountId }), NOW);
    accounts.ended("waits", "encode", 1e6, now);
    const chooser = new Chooser({ roster, accounts, queue });
    const choices = Array.from({ length: 17 }, () => chooser.next(now)?.entry.account.id);
    expect(choices).toEqual(["waits", ...Array(15).fill("next"), "waits"]);
  });

  it("returns the time at which tickets open to more nodes", () => {
    const [late, later] = [ticket("j", { prefer: "busy" }), ticket("k", { avoid: ["a"] })];
    const nodes = [node("a", 1), node("busy", 0)];
    const opensAt = (tickets: readonly Ticket[]): number => chosen(nodes, tickets).opensAt;
    expect(opensAt([ticket("i")])).toBe(Infinity);
    expect(opensAt([late, later])).toBe(NOW + 2000);
    expect(opensAt([later, ticket("l", { notBefore: NOW + 5 })])).toBe(NOW + 5);
    expect(opensAt([later])).toBe(NOW + 60_000);
  });
});

it.each<[string, Partial<Ticket>, number, [within: number, among: number]]>([
  ["of priority -50", { priority: -50 }, 0, [0, 2]],
  ["of priority -31", { priority: -31 }, 0, [0, 2]],
  ["of priority -30", { priority: -30 }, 0, [1, 2]],
  ["of priority -11", { priority: -11 }, 0, [1, 2]],
  ["of priority -10", { priority: -10 }, 0, [2, 2]],
  ["of priority 9", { priority: 9 }, 0, [2, 2]],
  ["of priority 10", { priority: 10 }, 0, [3, 2]],
  ["of priority 29", { priority: 29 }, 0, [3, 2]],
  ["of priority 30", { priority: 30 }, 0, [4, 2]],
  ["of priority 50", { priority: 50 }, 0, [4, 2]],
  ["that waits for almost 15 minutes", { priority: -50 }, 15 * MINUTE - 1, [0, 2]],
  ["that waits for 15 minutes", { priority: -50 }, 15 * MINUTE, [1, 2]],
  ["that waits for a day", { priority: -50 }, 24 * 60 * MINUTE, [4, 2]],
  ["of an account with the priority 9", { priority: 50, maxPriority: 9 }, 0, [4, 2]],
  ["of an account with the priority 10", { priority: 50, maxPriority: 10 }, 0, [4, 3]],
  ["of an account with a higher priority", { priority: -50, maxPriority: 50 }, 15 * MINUTE, [1, 1]],
])("puts a ticket %s into its bands", (_, changes, waitedMs, [within, among]) => {
  expect(bandsOf(ticket("j", changes), NOW + waitedMs)).toEqual({ within, among });
});
