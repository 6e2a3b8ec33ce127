// The table of a run, and the conditions that must hold in every run.
import { billOf, objectRequests } from "../platform/meter.ts";
import type { JobRecord } from "./observations.ts";
import { type Fault, PRIORITIES } from "./scenario.ts";
import { jainIndex, quantile, seconds } from "./statistics.ts";
import type { World } from "./world.ts";

/** The longest usual wait of a job for nodes. */
const USUAL_MS = 1000;

export type FleetReport = {
  readonly rows: readonly (readonly [name: string, value: string])[];
  readonly violations: readonly string[];
};

export function reportOf(world: World): FleetReport {
  const { observations, scenario, notes } = world;
  const jobs = [...observations.jobs.values()];
  const lost = jobs.filter(({ endedAt }) => endedAt === null).length;
  const failed = jobs.filter((job) => job.endedAt !== null && !job.isCompleted && !job.workload.kills).length;
  const twice = jobs.filter(({ notified, done }) => notified.size > 1 || done > 1).length;
  const again = jobs.reduce((sum, { encodes }) => sum + Math.max(0, encodes - 1), 0);
  const fetches = jobs.reduce((sum, job) => sum + job.fetches, 0) / Math.max(1, jobs.length);
  const waits = PRIORITIES.map(({ priority }) => {
    const ms = jobs.filter((job) => job.priority === priority).map(({ waitedMs }) => waitedMs);
    return [
      `wait at priority ${priority}: p50, p99`,
      `${seconds(quantile(ms, 0.5))}, ${seconds(quantile(ms, 0.99))}`,
    ] as const;
  });
  const jain = jainIndex([...(observations.fairness.shares ?? observations.encodedMs.values())]);
  const rows: [string, string][] = [
    ["jobs", String(jobs.length)],
    ["lost, failed, done twice", `${lost}, ${failed}, ${twice}`],
    ["encodes that were repeated", String(again)],
    ["fetches per job", fetches.toFixed(3)],
    ...waits.map(([name, value]): [string, string] => [name, value]),
    ...recovery(jobs, notes.get("fault at"), scenario.fault),
    ["fairness between accounts (Jain)", jain.toFixed(3)],
    ...costs(world, jobs.length),
    ...[...notes]
      .filter(([name]) => name !== "fault at")
      .map(([name, value]): [string, string] => [name, value.toFixed(1)]),
  ];
  const violations: string[] = [];
  const require = (holds: boolean, text: string): void => {
    if (!holds) violations.push(text);
  };
  require(lost === 0, `${lost} jobs were lost`);
  require(failed === 0, `${failed} jobs failed`);
  require(twice === 0, `${twice} jobs were done twice`);
  if (scenario.fault === "none") {
    const p99 = quantile(
      jobs.map(({ waitedMs }) => waitedMs),
      0.99,
    );
    require(p99 < 1000 || scenario.load > 0.8, `the wait has a p99 of ${seconds(p99)}`);
    require(fetches <= 1.05, `sources are fetched ${fetches.toFixed(2)} times`);
  }
  if (scenario.fault === "greedy account") rows.push(["wait of the other accounts: p99", seconds(othersWait(world))]);
  if (scenario.fault === "burst" || scenario.fault === "greedy account") {
    // With few jobs per account, the shares differ by chance: the times of jobs are known only at their ends.
    const isSmall = (scenario.burst * scenario.nodes) / scenario.accounts < 100;
    // If no account waits, accounts do not compete.
    const isFree = scenario.fault === "greedy account" && othersWait(world) < USUAL_MS;
    require(isSmall || isFree || jain >= 0.95, `the accounts' shares have a Jain index of ${jain.toFixed(3)}`);
  }
  if (scenario.fault === "deploy") {
    require((notes.get("back after s") ?? 0) <= 30, "the nodes were not back within 30 s");
    require((notes.get("D1 reads of nodes that returned") ?? 0) === 0, "nodes that returned read D1");
    require(again === 0, `${again} leases were lost`);
  }
  return { rows, violations };
}

/** The p99 of the waits of other accounts' jobs, submitted after the greedy account's burst; ms. */
function othersWait({ observations, notes }: World): number {
  const faultAt = notes.get("fault at") ?? 0;
  const others = [...observations.jobs.values()].filter((job) => job.account !== 0 && job.submittedAt > faultAt);
  return quantile(
    others.map(({ waitedMs }) => waitedMs),
    0.99,
  );
}

/** Time from the fault to the last submission of a job that waited longer than usual. */
function recovery(jobs: readonly JobRecord[], faultAt: number | undefined, fault: Fault): [string, string][] {
  if (faultAt === undefined || fault === "none") return [];
  const late = jobs.filter(({ submittedAt, waitedMs }) => submittedAt >= faultAt && waitedMs >= USUAL_MS);
  const last = late.reduce((latest, { submittedAt }) => Math.max(latest, submittedAt), faultAt);
  return [["jobs wait less than a second again after", seconds(last - faultAt)]];
}

/** The estimated costs of the run on Cloudflare. */
function costs({ service, notes }: World, jobs: number): [string, string][] {
  const { counts } = service.platform.meter;
  const perSecond = (count: number): string => (count / (notes.get("seconds") ?? 1)).toFixed(1);
  return [
    ["$ per million jobs", (billOf(counts).total / jobs).toFixed(1)],
    ["requests to objects per job", (objectRequests(counts) / jobs).toFixed(1)],
    [
      "rows per job, D1 rows per job",
      `${(counts.rowsWritten / jobs).toFixed(1)}, ${(counts.databaseWritten / jobs).toFixed(1)}`,
    ],
    ["frames to hubs per s", perSecond(counts.frames)],
  ];
}
