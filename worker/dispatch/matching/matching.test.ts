import { describe, expect, it } from "vitest";
import { meets } from "#shared/plan/command/capabilities.ts";
import type { Profile, Requirements } from "#shared/protocol/requirements.ts";
import { randomOf } from "#shared/testing/random.ts";
import type { TicketOffer } from "../../rpc/hub.ts";
import { type ConnectedNode, encodesOf } from "./nodes/connected-node.ts";
import { NO_REQUIREMENTS, nodeOf, offerOf, PROFILE, SimulatedFleet } from "./testing/simulated-fleet.ts";

const AV1: Requirements = { ...NO_REQUIREMENTS, needs: [{ kind: "encoder", anyOf: ["libsvtav1", "libaom-av1"] }] };
const GPU: Requirements = { ...NO_REQUIREMENTS, labels: ["gpu"] };
const OTHER_POOL: Requirements = { ...NO_REQUIREMENTS, pool: "other" };
const H264: Requirements = { ...NO_REQUIREMENTS, needs: [{ kind: "encoder", anyOf: ["libx264", "h264_nvenc"] }] };
const withEncoders = (encoders: string[]) => ({ capabilities: { ...PROFILE.capabilities, encoders } });
const ENCODES = { inspect: 0, encode: 1 };
const NVENC: Partial<Profile> = {
  capabilities: { ...PROFILE.capabilities, hardware: { name: "nvenc", path: null, encoders: ["h264_nvenc"] } },
};

/** Returns the nodes in the order in which they get tasks of an offer. */
function nodesFor(offer: TicketOffer, nodes: Record<string, Partial<Profile>>): string[] {
  const fleet = new SimulatedFleet();
  fleet.connect(...Object.entries(nodes).map(([nodeId, profile]) => nodeOf(nodeId, { ...ENCODES }, profile)));
  fleet.advertise({ ...offer, count: 9 });
  return fleet.assigned.map(({ nodeId }) => nodeId);
}

describe("where work goes", () => {
  const rows: [string, TicketOffer, Record<string, Partial<Profile>>, string[]][] = [
    ["to nodes with encoders", offerOf("j", { requirements: AV1 }), { a: {}, b: withEncoders(["libaom-av1"]) }, ["b"]],
    ["to nodes with a label", offerOf("j", { requirements: GPU }), { a: { labels: ["gpu", "eu"] }, b: {} }, ["a"]],
    ["to nodes of a pool", offerOf("j", { requirements: OTHER_POOL }), { a: {}, b: { pool: "other" } }, ["b"]],
    ["first to hardware", offerOf("j", { requirements: H264 }), { a: {}, b: NVENC, c: {} }, ["b", "a", "c"]],
    [
      "first to the node with the source, then to its region, then to hardware",
      offerOf("j", { requirements: H264, prefer: "c" }),
      { a: {}, b: NVENC, c: { region: "eu" }, d: { region: "eu" }, e: { region: "us" } },
      ["c", "d", "b", "a", "e"],
    ],
    ["last to spot machines, once lost", offerOf("j", { steady: true }), { a: { spot: true }, b: {} }, ["b", "a"]],
  ];
  it.each(rows)("%s", (_, offer, nodes, expected) => {
    expect(nodesFor(offer, nodes)).toEqual(expected);
  });
});

describe("the order of work", () => {
  const orderOf = (offers: TicketOffer[], nodes = 1): string[] => {
    const fleet = new SimulatedFleet(() => 60);
    fleet.advertise(...offers);
    fleet.connect(nodeOf("a", { inspect: 0, encode: nodes }));
    while (fleet.waiting().length > 0 && fleet.advance());
    return fleet.assigned.map(({ offer }) => offer.jobId.replaceAll("0", ""));
  };

  it("serves accounts in turn, and the oldest job of each account first", () => {
    const offers = [
      ["a3", 3],
      ["a1", 1],
      ["a2", 2],
      ["b9", 9],
      ["b8", 8],
      ["c7", 7],
    ] as const;
    const order = orderOf(offers.map(([name, since]) => offerOf(name, { since })));
    expect(order).toEqual(["a1", "b8", "c7", "a2", "b9", "a3"]);
  });

  it("serves accounts in turn whatever the priorities of their jobs, except priorities up to an account's cap", () => {
    const [a1, a2, a3] = [1, 2, 3].map((since) => offerOf(`a${since}`, { since, priority: 50 }));
    if (!a1 || !a2 || !a3) throw new Error("no offers");
    const bulk = offerOf("a4", { since: 0, priority: -50 });
    const others = [offerOf("b8", { since: 8 }), offerOf("c9", { since: 9 })];
    const orderWith = (maxPriority: number | null) =>
      orderOf([a1, a2, a3, bulk].map((offer) => ({ ...offer, maxPriority })).concat(others));
    expect(orderWith(null)).toEqual(["a1", "b8", "c9", "a2", "a3", "a4"]);
    expect(orderWith(50)).toEqual(["a1", "a2", "a3", "b8", "c9", "a4"]);
    expect(orderWith(0)).toEqual(["a1", "b8", "c9", "a2", "a3", "a4"]);
    expect(orderWith(-50)).toEqual(["b8", "c9", "a1", "a2", "a3", "a4"]);
  });

  it("lets waiting work rise beside other accounts only up to its account's cap", () => {
    const later = (maxPriority: number | null) => {
      const fleet = new SimulatedFleet(() => 60);
      fleet.advertise(...[1, 2, 3].map((since) => offerOf(`a${since}`, { since, priority: -50, maxPriority })));
      fleet.now += 3 * 15 * 60_000;
      fleet.advertise(offerOf("b8"));
      fleet.connect(nodeOf("a", { inspect: 0, encode: 1 }));
      while (fleet.waiting().length > 0 && fleet.advance());
      return fleet.assigned.map(({ offer }) => offer.jobId.replaceAll("0", ""));
    };
    expect([null, -50, 50].map((cap) => later(cap).indexOf("b8"))).toEqual([1, 0, 3]);
  });

  it("serves higher priorities first", () => {
    const offers = [-50, 0, 50, -20, 20].map((priority) => offerOf(`j${priority}`.replace("-", "x"), { priority }));
    expect(orderOf(offers)).toEqual(["j5", "j2", "j", "jx2", "jx5"]);
  });

  it("raises the priority of waiting tickets", () => {
    const fleet = new SimulatedFleet(() => 60);
    fleet.advertise(offerOf("old", { priority: -50 }));
    fleet.now += 3 * 15 * 60_000;
    fleet.advertise(offerOf("new", { priority: 0 }));
    fleet.connect(nodeOf("a", { ...ENCODES }));
    expect(fleet.assigned[0]?.offer.jobId).toMatch(/^old/);
  });

  it("runs no more tasks of an account than its quota, on all nodes together", () => {
    const fleet = new SimulatedFleet(() => 60);
    fleet.connect(nodeOf("a", { inspect: 0, encode: 2 }), nodeOf("b", { inspect: 0, encode: 2 }));
    fleet.advertise(offerOf("j", { count: 9, maxRunning: 3 }));
    expect(fleet.assigned.length).toBe(3);
    fleet.advance();
    expect(fleet.assigned.length).toBe(6);
  });

  it("does not count a join that waits for chunks, so that the chunks can be encoded", () => {
    const waiting = (task: string, free: number): ConnectedNode => ({
      ...nodeOf("a", { inspect: 0, encode: free }),
      leases: { [`j0000000000000.${task}.1`]: "encode" as const },
      accounts: { j0000000000000: "j" },
    });
    const rows = [
      ["join-early", { maxRunning: 1 }, 1],
      ["join-r1-early", { maxRunning: 1 }, 1],
      ["join", { maxRunning: 1 }, 0],
    ] as const;
    for (const [task, share, expected] of rows) {
      const fleet = new SimulatedFleet();
      fleet.connect(waiting(task, 1));
      fleet.advertise(offerOf("j", { count: 3, ...share }));
      expect([task, fleet.assigned.length]).toEqual([task, expected]);
    }
    // Other accounts' tasks do not come first for ever. A node on probation gets chunks, too.
    const fleet = new SimulatedFleet();
    fleet.connect(waiting("join-early", 1));
    expect([encodesOf(waiting("join-early", 1)), fleet.roster.sums.slots("default", "encode")]).toEqual([1, 1]);
    fleet.roster.limit("a", 1);
    fleet.advertise(offerOf("j", { count: 3 }), offerOf("k", { count: 3, since: 1 }));
    expect(fleet.assigned.map(({ offer }) => offer.accountId)).toEqual(["j"]);
  });

  it("charges nobody for the time in which a join waits, and counts tasks by kind", () => {
    const fleet = new SimulatedFleet();
    const node = nodeOf("a", { inspect: 0, encode: 2 });
    fleet.roster.add(node);
    const { matches } = fleet.matching.step({ kind: "advertise", offers: [offerOf("j", { count: 2 })] }, fleet.now);
    const leases = ["join-r1-early", "chunk-12-r1-speculative"].map((task) => `j0000000000000.${task}.1`);
    const claimed = leases.map((lease) => ({ lease, slotClass: "encode" as const }));
    for (const match of matches) fleet.matching.step({ kind: "claimed", match, claimed }, fleet.now);
    fleet.roster.change(node, { leases: {} });
    fleet.matching.step({ kind: "look" }, fleet.now + 600_000);
    const times = fleet.matching.tasks.report().map(({ kind, timed, sumSeconds }) => [kind, timed, sumSeconds]);
    expect(times.toSorted()).toEqual([
      ["chunk", 1, 600],
      ["join", 0, 0],
    ]);
  });
});

describe("nodes that fail several jobs", () => {
  it("gives a failing node single tasks after a pause, until a task succeeds", () => {
    const fleet = new SimulatedFleet(() => 10);
    fleet.connect(nodeOf("bad", { inspect: 0, encode: 4 }));
    const fail = (name: string): void => fleet.advertise(offerOf(name, { count: 0, blamed: ["bad"] }));
    for (const name of ["j1", "j2", "j2", "j3"]) fail(name);
    fleet.advertise(offerOf("k", { count: 1 }));
    expect(fleet.assigned.length).toBe(1);
    fail("j4");
    fleet.advertise(offerOf("m", { count: 4 }));
    expect(fleet.assigned.length).toBe(1);
    const pausedAt = fleet.now;
    fleet.advance();
    while (fleet.assigned.length === 1 && fleet.advance());
    expect([fleet.assigned.length, fleet.now - pausedAt]).toEqual([2, 60_000]);
    fleet.advance();
    expect(fleet.assigned.length).toBe(5);
  });
});

it("names requirements that no node of the last ten minutes meets", () => {
  const fleet = new SimulatedFleet();
  const missing = (of: Requirements): string | null => fleet.matching.missing(of, fleet.now);
  expect(missing(NO_REQUIREMENTS)).toBe("a node in pool default");
  const node = nodeOf("a", { ...ENCODES }, withEncoders(["libx264"]));
  fleet.connect(node);
  expect([missing(NO_REQUIREMENTS), missing(H264)]).toEqual([null, null]);
  expect(missing(AV1)).toBe("a node with libsvtav1 or libaom-av1 in pool default");
  expect(missing(GPU)).toBe("a node with label gpu in pool default");
  fleet.roster.remove(node);
  fleet.step({ kind: "look" });
  fleet.now += 9 * 60_000;
  expect(missing(H264)).toBeNull();
  fleet.now += 2 * 60_000;
  expect(missing(H264)).toBe("a node in pool default");
});

/** Builds a random fleet and random work that exceeds its capacity. */
function randomFleet(seed: number) {
  const random = randomOf(seed);
  const pick = <Value>(values: readonly Value[]): Value => values[Math.floor(random() * values.length)] as Value;
  const fleet = new SimulatedFleet(() => 5 + Math.floor(random() * 100));
  const profiles = [{}, NVENC, withEncoders(["libx264", "libaom-av1"]), { labels: ["gpu"] }, { pool: "other" }];
  for (let at = 0; at < 12; at++) {
    fleet.connect(
      nodeOf(`n${at}`, { inspect: 0, encode: 1 + Math.floor(random() * 3) }, profiles[at % profiles.length]),
    );
  }
  const quotas: Record<string, number | null> = { a: null, b: 2, c: null, d: 1 };
  const offer = (name: string): TicketOffer => {
    const accountId = pick(["a", "a", "a", "b", "c", "d"]);
    return offerOf(accountId + name, {
      count: 1 + Math.floor(random() * 6),
      since: fleet.now,
      requirements: pick([NO_REQUIREMENTS, H264, AV1, GPU, OTHER_POOL]),
      priority: pick([-50, 0, 0, 0, 50]),
      weight: accountId === "c" ? 2 : 1,
      maxRunning: quotas[accountId] ?? null,
      prefer: random() < 0.5 ? `n${Math.floor(random() * 12)}` : null,
      preferUntil: fleet.now + 2000,
      avoid: random() < 0.2 ? [`n${Math.floor(random() * 12)}`] : [],
      avoidUntil: fleet.now + 60_000,
    });
  };
  return { fleet, offer, random, quotas };
}

const fits = ({ pool, labels, needs }: Requirements, profile: Profile): boolean =>
  profile.pool === pool &&
  labels.every((label) => profile.labels.includes(label)) &&
  needs.every((need) => meets(profile.capabilities, need));

const SEEDS = [1, 2, 3, 4, 5, 6, 7, 8];
it.each(SEEDS)("runs all work where it fits, within quotas, and leaves no usable slot free (seed %i)", (seed) => {
  const { fleet, offer, random, quotas } = randomFleet(seed);
  let checked = 0;
  for (let jobs = 0; jobs < 200; ) {
    if (random() < 0.5) fleet.advertise(offer(`j${jobs++}`));
    else if (!fleet.advance()) fleet.now += 1000;
    for (const {
      offer: { requirements },
      nodeId,
    } of fleet.assigned.slice(checked)) {
      expect(fits(requirements, fleet.roster.get(nodeId)?.profile ?? PROFILE)).toBe(true);
    }
    checked = fleet.assigned.length;
    for (const [accountId, most] of Object.entries(quotas)) {
      expect(fleet.roster.sums.tasksOf(accountId)).toBeLessThanOrEqual(most ?? Infinity);
    }
    for (const node of fleet.roster.values()) expect(node.free.encode).toBeGreaterThanOrEqual(0);
    expect(fleet.waiting().filter((waiting) => mayStart(fleet, waiting))).toEqual([]);
  }
  while (fleet.waiting().length > 0) if (!fleet.advance()) fleet.now += 1000;
  expect([fleet.matching.waiting, fleet.waiting()]).toEqual([0, []]);
});

/** Checks by brute force whether waiting work could start now. The account's share lets the work take any slot. */
function mayStart({ roster, now }: SimulatedFleet, offer: TicketOffer): boolean {
  const { requirements, accountId, maxRunning, prefer, avoid } = offer;
  const all = [...roster.values()].filter(({ profile }) => fits(requirements, profile));
  const isAvoided = (nodeId: string): boolean => now < offer.avoidUntil && avoid.includes(nodeId);
  const usable = all.some(({ nodeId }) => !isAvoided(nodeId)) ? all.filter(({ nodeId }) => !isAvoided(nodeId)) : all;
  const holds = now < offer.preferUntil && all.some(({ nodeId }) => nodeId === prefer && !isAvoided(nodeId));
  const free = usable.filter((node) => node.free.encode > 0 && (!holds || node.nodeId === prefer));
  return free.length > 0 && (maxRunning === null || roster.sums.tasksOf(accountId) < maxRunning);
}

it.each(SEEDS.slice(0, 3))("starves no work, whatever work comes later (seed %i)", (seed) => {
  const random = randomOf(seed);
  const fleet = new SimulatedFleet(() => 30 + 60 * random());
  fleet.connect(nodeOf("n", { inspect: 0, encode: 4 }));
  const first = { priority: 50, maxPriority: 50 };
  fleet.advertise(offerOf("busy", { ...first, since: fleet.now, count: 8 }));
  fleet.advertise(offerOf("z0", { priority: -50, since: fleet.now }));
  const startedAt = fleet.now;
  const isDone = (): boolean => !fleet.waiting().some(({ jobId }) => jobId.startsWith("z"));
  // A job of a new account with the highest priority arrives each second: twenty times more work than the node can do.
  for (let jobs = 0; !isDone() && jobs < 16_000; jobs++) {
    fleet.now += 1000;
    fleet.advertise(offerOf(`j${jobs}`, { accountId: `new-${jobs}`, ...first, since: fleet.now }));
    while (fleet.nextAt <= fleet.now) fleet.advance();
  }
  expect(isDone()).toBe(true);
  expect(fleet.now - startedAt).toBeLessThan(4 * 60 * 60_000);
});

it.each([20, 2])(
  "shares encoding time by the weights of accounts, however long their tasks are, on %i nodes",
  (nodes) => {
    const weights: Record<string, number> = { a: 1, b: 1, c: 2, d: 2, e: 3 };
    const seconds: Record<string, number> = { a: 600, b: 10, c: 60, d: 10, e: 60 };
    const fleet = new SimulatedFleet(({ accountId }) => seconds[accountId] ?? 0);
    for (const [accountId, weight] of Object.entries(weights)) {
      fleet.advertise(offerOf(`${accountId}1`, { weight, count: 100_000 }));
    }
    fleet.connect(...Array.from({ length: nodes }, (_, at) => nodeOf(`n${at}`, { ...ENCODES })));
    const end = fleet.now + 20 * 60 * 60_000;
    while (fleet.now < end && fleet.advance());
    const shares = Object.entries(weights).map(([accountId, weight]) => (fleet.used.get(accountId) ?? 0) / weight);
    const [sum, squares] = [shares.reduce((all, one) => all + one, 0), shares.reduce((all, one) => all + one * one, 0)];
    expect((sum * sum) / (shares.length * squares)).toBeGreaterThan(0.98);
  },
);
