import { expect, it, test } from "vitest";
import type { SlotCounts } from "#shared/protocol/tasks.ts";
import { randomOf } from "#shared/testing/random.ts";
import { nodeOf, offerOf, SimulatedFleet } from "../testing/simulated-fleet.ts";
import type { HeldLeases } from "./connected-node.ts";
import { type Claim, slotsOf } from "./node-slots.ts";
import { HOLD_MS } from "./roster.ts";

/** Mean times of a fetch and of an encode. */
const [FETCH_S, ENCODE_S] = [5, 60];

test.each([
  [1, 0.9, 0, 1],
  [20, 0.5, 0, 1],
  [20, 0.9, 0, 1],
  [20, 3, 0, 1],
  [60, 0.9, 0, 1],
  [20, 3, 0.05, 1.05],
])("fetches a source once on %d nodes at a load of %d, if a share of %d calls is late", (nodes, load, late, most) => {
  const random = randomOf(7);
  const [jobs, everyMs] = [400, (1000 * (FETCH_S + ENCODE_S)) / (nodes * load)];
  let [fetches, done] = [0, 0];
  const fleet = new SimulatedFleet(
    ({ slotClass }) => (slotClass === "inspect" ? FETCH_S : ENCODE_S) * (0.25 + 1.5 * random()),
    ({ offer, nodeId }, release) => {
      if (offer.slotClass === "encode") {
        done += 1;
        fetches += offer.prefer === nodeId ? 0 : 1;
        return release();
      }
      fetches += 1;
      // A job advertises before the hub gets the node's free slot, unless its call is late.
      const isLate = random() < late;
      if (isLate) release();
      if (isLate) fleet.step({ kind: "look" });
      fleet.advertise({ ...offer, slotClass: "encode", count: 1, prefer: nodeId, preferUntil: fleet.now + 2000 });
      if (!isLate) release();
    },
  );
  fleet.connect(...Array.from({ length: nodes }, (_, at) => nodeOf(`n${at}`, { inspect: 32, encode: 1 })));
  let at = fleet.now;
  for (let job = 0; job < jobs; job++) {
    at += -Math.log(1 - random()) * everyMs;
    while (fleet.nextAt <= at) fleet.advance();
    fleet.now = at;
    fleet.advertise(offerOf(`job${job}`, { accountId: job % 2 ? "a" : "b", slotClass: "inspect", since: at }));
  }
  while (fleet.advance());
  expect(done).toBe(jobs);
  expect(fetches / jobs).toBeLessThanOrEqual(most);
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
  const fleet = new SimulatedFleet();
  const leases = { "AAAAAAAAAAAAAA.inspect.1": "inspect" as const };
  fleet.roster.add({ ...nodeOf("n", { inspect: 31, encode: 1 }), leases });
  fleet.advertise(offerOf("b"));
  expect([fleet.assigned.length, fleet.wakeAt]).toEqual([0, fleet.now + HOLD_MS]);
  fleet.advance();
  expect(fleet.assigned.length).toBe(1);
});
