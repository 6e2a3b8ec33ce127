import { describe, expect, it } from "vitest";
import { choose, nextOpening } from "./choose.ts";
import type { ConnectedNode } from "./roster.ts";
import type { Ticket } from "./tickets.ts";

const NOW = 10_000;
const node = (nodeId: string, encode: number, inspect = 0): ConnectedNode => ({
  nodeId,
  session: `s-${nodeId}`,
  capabilities: { ffmpegVersion: "7.0", encoders: [], cpus: 2, filters: [], muxers: [], hardware: null },
  free: { inspect, encode },
  leases: [],
  draining: false,
});
const ticket = (jobId: string, changes: Partial<Ticket> = {}): Ticket => ({
  jobId,
  slotClass: "encode",
  count: 1,
  since: NOW,
  prefer: null,
  preferUntil: NOW + 2000,
  avoid: [],
  avoidUntil: NOW + 60_000,
  advertisedAt: NOW,
  notBefore: 0,
  ...changes,
});

describe("choose", () => {
  const rows: [string, ConnectedNode[], Ticket[], string | null][] = [
    ["no node", [], [ticket("j")], null],
    ["no ticket", [node("a", 1)], [], null],
    ["no free slot", [node("a", 0)], [ticket("j")], null],
    ["only slots of another class", [node("a", 0, 4)], [ticket("j")], null],
    ["a free slot", [node("a", 1)], [ticket("j")], "j on a ×1"],
    ["several tasks, as far as slots go", [node("a", 2)], [ticket("j", { count: 5 })], "j on a ×2"],
    ["the node with the most free slots", [node("a", 1), node("b", 3)], [ticket("j")], "j on b ×1"],
    [
      "the oldest job first, however late it told of itself",
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
    [
      "and do other work meanwhile",
      [node("a", 0), node("b", 3)],
      [ticket("j", { prefer: "a" }), ticket("k")],
      "k on b ×1",
    ],
    ["pass by a node that failed it", [node("a", 3), node("b", 1)], [ticket("j", { avoid: ["a"] })], "j on b ×1"],
    ["even if the other is busy", [node("a", 3), node("b", 0)], [ticket("j", { avoid: ["a"] })], null],
    [
      "though not for ever",
      [node("a", 3), node("b", 0)],
      [ticket("j", { avoid: ["a"], avoidUntil: NOW })],
      "j on a ×1",
    ],
    ["leave a job alone that could not be asked", [node("a", 1)], [ticket("j", { notBefore: NOW + 1 })], null],
    ["but take it when there is no other", [node("a", 1)], [ticket("j", { avoid: ["a"], prefer: "a" })], "j on a ×1"],
  ];
  it.each(rows)("%s", (_, nodes, tickets, expected) => {
    const offer = choose(nodes, tickets, NOW);
    expect(offer && `${offer.ticket.jobId} on ${offer.node.nodeId} ×${offer.slots}`).toBe(expected);
  });

  it("says when to look again", () => {
    expect(nextOpening([], NOW)).toBeNull();
    expect(nextOpening([ticket("j")], NOW)).toBeNull();
    expect(nextOpening([ticket("j", { prefer: "a" }), ticket("k", { avoid: ["a"] })], NOW)).toBe(NOW + 2000);
    expect(nextOpening([ticket("k", { avoid: ["a"] }), ticket("l", { notBefore: NOW + 5 })], NOW)).toBe(NOW + 5);
    expect(nextOpening([ticket("j", { prefer: "a", count: 0 })], NOW)).toBeNull();
  });
});
