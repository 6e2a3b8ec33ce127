import { expect, it } from "vitest";
import { leaseId } from "#shared/ids.ts";
import type { NodeFrame } from "#shared/protocol/frames.ts";
import type { Assignment } from "#shared/protocol/tasks.ts";
import type { Report } from "../link/reports.ts";
import { createSlots } from "../workspace/slots.ts";
import { HeldSlot } from "./run-lease.ts";

const LEASE = leaseId("AAAAAAAAAAAAAA" as never, "chunk-1", 1);

function held(slotClass: "inspect" | "encode") {
  const frames: NodeFrame[] = [];
  const slots = createSlots({ inspect: 1, encode: 1 });
  const assignment = { lease: LEASE, slotClass } as Assignment;
  const slot = new HeldSlot(assignment, { slots, disk: () => null, send: (frame) => frames.push(frame) });
  return { slot, slots, frames };
}

const complete = (kind: string): Report =>
  ({ lease: LEASE, verb: "complete", body: { token: "t", result: { kind } } }) as unknown as Report;
const FAILURE = { token: "t", failure: { code: "node_failed", message: "m" } } as const;
const failed: Report = { lease: LEASE, verb: "fail", body: FAILURE };
const ofEncode = (encode: number) => ({ offered: { inspect: 0, encode }, released: [LEASE], outcome: "done" });

it("frees the slot with the report of a result, and names it in no other frame once the report was acknowledged", () => {
  const { slot, slots, frames } = held("encode");
  expect(slots.free().encode).toBe(0);
  const sent = slot.with(complete("encode"));
  expect(slots.free().encode).toBe(0);
  expect(sent?.freed()).toEqual(ofEncode(1));
  expect(slots.free().encode).toBe(1);
  sent?.acknowledged();
  slot.end("done");
  expect(frames).toEqual([]);
});

it("offers the slot once when the report was not acknowledged", () => {
  const { slot, frames } = held("encode");
  slot.with(complete("chunk"))?.freed();
  slot.end("done");
  expect(frames).toEqual([{ type: "slots", ...ofEncode(0) }]);
});

it("frees the slot after the report if its node must not get other work sooner", () => {
  for (const [slotClass, report] of [["inspect", complete("inspect")] as const, ["encode", failed] as const]) {
    const { slot, frames } = held(slotClass);
    expect(slot.with(report)).toBeUndefined();
    slot.end("failed");
    expect(frames).toMatchObject([{ offered: { [slotClass]: 1 }, released: [LEASE] }]);
  }
});
