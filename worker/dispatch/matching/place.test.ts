import { expect, it } from "vitest";
import { TicketOffer } from "../../rpc/hub.ts";
import { Matching } from "./matching.ts";
import type { ConnectedNode } from "./nodes/connected-node.ts";
import { Roster } from "./nodes/roster.ts";

const NOW = 1_000_000;
/** Until tasks have ended, an encode is assumed to take a minute, and an inspection ten seconds. */
const [ENCODE, INSPECT] = [60, 10];

type Waiting = {
  job: string;
  account?: string;
  since?: number;
  priority?: number;
  count?: number;
} & Partial<TicketOffer>;

const offerOf = ({ job, account = "mine", since = NOW, count = 1, ...offer }: Waiting) =>
  TicketOffer.parse({
    jobId: job,
    accountId: account,
    slotClass: "encode",
    count,
    since,
    prefer: null,
    preferUntil: 0,
    avoid: [],
    avoidUntil: 0,
    ...offer,
  });

/** A pool with some encode slots, all of which are taken. */
function matchingWith(slots: number, waiting: readonly Waiting[]) {
  const matching = new Matching(new Roster());
  const node: ConnectedNode = {
    nodeId: "attic",
    session: "s",
    profile: {
      pool: "default",
      region: null,
      labels: [],
      spot: false,
      capabilities: { encoders: ["libx264"], muxers: [], filters: [], hardware: null },
    },
    free: { inspect: 0, encode: 0 },
    leases: Object.fromEntries(Array.from({ length: slots }, (_, at) => [`other-${at}:encode:1`, "encode" as const])),
    accounts: {},
    draining: false,
    heardAt: NOW,
  };
  if (slots > 0) matching.roster.add(node);
  matching.step({ kind: "advertise", offers: waiting.map(offerOf) }, NOW);
  return matching;
}

const job = (name: string, more: Partial<Waiting> = {}): Waiting => ({ job: name, ...more });
const mine = job("mine", { since: NOW });

it.each<[name: string, slots: number, waiting: Waiting[], ahead: number, seconds: number | null]>([
  ["begins when the first slot is free", 1, [mine], 0, ENCODE],
  ["begins sooner with more slots", 4, [mine], 0, ENCODE / 4],
  ["waits for older jobs of its account", 1, [job("a", { since: 1 }), job("b", { since: 2 }), mine], 2, 3 * ENCODE],
  ["does not wait for younger ones", 1, [mine, job("a", { since: NOW + 1 })], 0, ENCODE],
  ["waits for each chunk of a job", 1, [job("a", { since: 1, count: 5 }), mine], 1, 6 * ENCODE],
  [
    "waits for what follows an inspection",
    1,
    [job("a", { since: 1, slotClass: "inspect" }), mine],
    1,
    INSPECT + 2 * ENCODE,
  ],
  ["waits for a younger job with a higher priority", 1, [mine, job("a", { since: NOW + 1, priority: 50 })], 1, 120],
  ["does so for that of another account", 1, [mine, job("a", { account: "other", priority: 50 })], 1, 120],
  ["shares the slots with other accounts in turn", 1, [mine, job("a", { account: "other", since: 1 })], 0, 2 * ENCODE],
  ["gets more of them by its weight", 1, [{ ...mine, weight: 3 }, job("a", { account: "other" })], 0, 80],
  ["uses no more slots than its account may", 4, [{ ...mine, maxRunning: 2 }], 0, ENCODE / 2],
  [
    "does not wait for other pools",
    1,
    [mine, job("a", { since: 1, requirements: { pool: "gpu", labels: [], needs: [] } })],
    0,
    60,
  ],
  ["has no time without nodes", 0, [mine], 0, null],
])("a job %s", (_, slots, waiting, ahead, seconds) => {
  expect(matchingWith(slots, waiting).place("mine", NOW)).toEqual({ ahead, seconds });
});

it("a job of which nothing waits has no place", () => {
  expect(matchingWith(1, [job("a")]).place("mine", NOW)).toBeNull();
});
