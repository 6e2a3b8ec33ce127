import { expect, it } from "vitest";
import type { TicketOffer } from "../../rpc/hub.ts";
import { Matching } from "./matching.ts";
import { Roster } from "./nodes/roster.ts";
import { nodeOf, offerOf } from "./testing/simulated-fleet.ts";

const NOW = 1_000_000;
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
  ["uses no more slots than its account may", 4, [{ ...mine, maxRunning: 2 }], 0, ENCODE / 2],
  ["does not wait for other pools", 1, [mine, { ...older, requirements: elsewhere }], 0, ENCODE],
  ["has no time without nodes", 0, [mine], 0, null],
])("a job %s", (_, slots, waiting, ahead, seconds) => {
  expect(matchingWith(slots, waiting).place(mine.jobId, NOW)).toEqual({ ahead, seconds });
});

it("gives no place to a job without waiting tasks", () => {
  expect(matchingWith(1, [older]).place(mine.jobId, NOW)).toBeNull();
});
