import { describe, expect, it } from "vitest";
import { LEASE_MS, OFFER_MS } from "#shared/protocol/leases.ts";
import type { LeaseHolding } from "../../rpc/hub.ts";
import { claim, encoding, NOW, proof, useSpec } from "../../testing/job-steps.ts";
import { checkLease } from "../state/check-lease.ts";
import { renewLease } from "./leases.ts";
import { applyHoldings, confirmationDueAt, expireLeases, leasesToConfirm, loseSession } from "./lost-leases.ts";

useSpec();

describe("lost leases", () => {
  it("keeps the leases of a lost session for longer if more work would be lost", () => {
    const state = renewLease(encoding(), proof("encode", 1, "t2"), NOW).state;
    expect(loseSession(state, { session: "another", hasEnded: false }, NOW)).toBe(state);
    const rows: [workedMs: number, graceMs: number][] = [
      [0, 10_000],
      [90_000, 10_000],
      [20 * 60_000, 2 * 60_000],
      [5 * 60 * 60_000, 10 * 60_000],
    ];
    for (const [workedMs, graceMs] of rows) {
      const at = NOW + workedMs;
      const lost = loseSession(state, { session: "s-node-a", hasEnded: false }, at);
      expect(lost.tasks[1]?.lease?.expiresAt).toBe(at + graceMs);
      // The hub may report the loss again.
      expect(loseSession(lost, { session: "s-node-a", hasEnded: false }, at + 5000)).toBe(lost);
      // The same node continues, and its connection may be lost again. After the grace, another node gets the task.
      const renewed = renewLease(lost, proof("encode", 1, "t2"), at + 5000).state;
      expect(renewed.tasks[1]?.lease?.expiresAt).toBe(at + 5000 + LEASE_MS);
      expect(loseSession(renewed, { session: "s-node-a", hasEnded: false }, at + 5000)).not.toBe(renewed);
      const elsewhere = claim(expireLeases(lost, at + graceMs), "t3", at + graceMs, "node-b").state;
      expect(checkLease(elsewhere, proof("encode", 1, "t2")).verdict).toBe("superseded");
      // Its process has ended: nothing is worth waiting for.
      const ended = expireLeases(loseSession(lost, { session: "s-node-a", hasEnded: true }, at), at);
      expect(ended.tasks[1]).toMatchObject({ phase: "pending", losses: 1 });
    }
  });

  it("asks the hub about unreported leases: a missing lease is over, a missing node has time to return", () => {
    const state = encoding();
    const { lease } = proof("encode", 1, "t2");
    const at = NOW + OFFER_MS;
    expect(confirmationDueAt(state)).toBe(at);
    expect(leasesToConfirm(state, at - 16_000)).toEqual([]);
    expect(leasesToConfirm(state, at)).toEqual([{ lease, nodeId: "node-a", session: "s-node-a" }]);
    const rows: [LeaseHolding, phase: string, losses: number, leftMs: number, askedAfterMs: number | null][] = [
      ["held", "leased", 0, LEASE_MS, null],
      ["not-held", "pending", 1, 0, null],
      ["not-connected", "leased", 0, 150_000, 15_000],
    ];
    for (const [holding, phase, losses, leftMs, askedAfterMs] of rows) {
      const next = applyHoldings(state, new Map([[lease, holding]]), at);
      expect(next.tasks[1], holding).toMatchObject({ phase, losses, lease: { expiresAt: at + leftMs } });
      expect(confirmationDueAt(next), holding).toBe(askedAfterMs === null ? null : at + askedAfterMs);
    }
    // Its node has reported while the hub was asked.
    const renewed = renewLease(state, proof("encode", 1, "t2"), at).state;
    expect(applyHoldings(renewed, new Map([[lease, "not-held"]]), at).tasks).toEqual(renewed.tasks);
  });

  it("ends leases of a node that its hub does not know after a while, or when it returns without them", () => {
    const { lease } = proof("encode", 1, "t2");
    const apply = (state: ReturnType<typeof encoding>, holding: LeaseHolding, at: number) =>
      applyHoldings(state, new Map([[lease, holding]]), at);
    const away = apply(encoding(), "not-connected", NOW + OFFER_MS);
    const still = apply(away, "not-connected", NOW + OFFER_MS + 45_000);
    expect(still.tasks[1]?.lease?.expiresAt).toBe(NOW + OFFER_MS + 150_000);
    expect(expireLeases(still, NOW + OFFER_MS + 150_000).tasks[1]).toMatchObject({ phase: "pending", losses: 1 });
    expect(apply(away, "not-held", NOW + OFFER_MS + 15_000).tasks[1]).toMatchObject({ phase: "pending" });
    expect(apply(away, "held", NOW + OFFER_MS + 15_000).tasks[1]?.lease).toMatchObject({
      isSuspected: false,
      confirmBy: null,
      expiresAt: NOW + OFFER_MS + 15_000 + LEASE_MS,
    });
    // Work of hours is worth a longer wait.
    const late = apply(encoding(), "not-connected", NOW + 4 * LEASE_MS - 1);
    expect(late.tasks[1]?.lease?.expiresAt).toBe(NOW + LEASE_MS);
  });
});
