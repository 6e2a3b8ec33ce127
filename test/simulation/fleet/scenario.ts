// The scenario of a run: numbers of nodes, jobs and accounts, the duration, and the fault.
import type { Workload } from "../work.ts";

export const FAULTS = [
  "none",
  "hub reset",
  "deploy",
  "database stall",
  "region lost",
  "bad node",
  "spot kills",
  "poison job",
  "burst",
  "greedy account",
] as const;
export type Fault = (typeof FAULTS)[number];

export type Scenario = {
  readonly fault: Fault;
  readonly seed: number;
  readonly nodes: number;
  /** Duration of the submissions. */
  readonly hours: number;
  readonly jobs: number;
  /** The share of the nodes' time that the jobs need. */
  readonly load: number;
  readonly accounts: number;
  /** Number of jobs in a burst, per node. */
  readonly burst: number;
};

export const HOUR_MS = 3_600_000;

/** Regions: latency to the control plane in a single direction in ms, position, and share of the nodes. */
export const REGIONS = [
  { name: "eu", latencyMs: 15, position: { latitude: 49, longitude: 3 }, share: 0.5 },
  { name: "us", latencyMs: 50, position: { latitude: 40, longitude: -80 }, share: 0.3 },
  { name: "asia", latencyMs: 110, position: { latitude: 20, longitude: 105 }, share: 0.2 },
] as const;
export type Region = (typeof REGIONS)[number];

/** The region of a node by its number, spread evenly. */
export function regionOf(number: number): Region {
  const place = (number % 10) / 10;
  if (place < REGIONS[0].share) return REGIONS[0];
  return place < REGIONS[0].share + REGIONS[1].share ? REGIONS[1] : REGIONS[2];
}

/** The priorities of jobs, each with its share of the jobs. */
export const PRIORITIES = [
  { priority: 30, share: 0.1 },
  { priority: 0, share: 0.8 },
  { priority: -30, share: 0.1 },
] as const;

const FETCH_MS = 3000;
/** Time of a task besides encoding: uploads, and the way to the control plane. */
const OVERHEAD_MS = 1500;

/** The mean time of an encode at which the jobs need `load` of the nodes' time. */
export const meanEncodeMs = ({ nodes, hours, jobs, load }: Scenario): number =>
  Math.max(1000, (load * nodes * hours * HOUR_MS) / jobs - FETCH_MS - OVERHEAD_MS);

/** The work of a job. Its time is exponentially distributed, up to five times its mean. */
export function drawWorkload(scenario: Scenario, random: () => number): Workload {
  const factor = Math.min(5, -Math.log(1 - random()));
  return {
    seconds: 60,
    fetchMs: FETCH_MS,
    chunkMs: 0,
    joinMs: 0,
    videoBytes: 8_000_000,
    encodeMs: Math.max(500, factor * meanEncodeMs(scenario)),
  };
}

export function drawPriority(random: () => number): number {
  let rest = random();
  for (const { priority, share } of PRIORITIES) {
    rest -= share;
    if (rest < 0) return priority;
  }
  return 0;
}
