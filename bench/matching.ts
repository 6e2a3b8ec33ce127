// Runs a day of a large fleet through the hub's matching alone (worker/dispatch/matching/). Jobs and nodes only take
// time. Measures how long tasks wait, how fairly accounts are served, and how much time a decision takes.
// Usage: node local/bootstrap.mjs bench/matching.ts [--nodes 10000] [--jobs 1000000] [--hours 24] [--load 0.8]
// [--burst 0]: so many more jobs within a minute.
import { parseArgs } from "node:util";
import { MatchingRun } from "../test/simulation/fleet/matching-run.ts";
import { PRIORITIES } from "../test/simulation/fleet/scenario.ts";
import { quantile, seconds } from "../test/simulation/fleet/statistics.ts";

const { values } = parseArgs({
  options: {
    nodes: { type: "string", default: "10000" },
    jobs: { type: "string", default: "1000000" },
    hours: { type: "string", default: "24" },
    load: { type: "string", default: "0.8" },
    accounts: { type: "string", default: "100" },
    burst: { type: "string", default: "0" },
    seed: { type: "string", default: "1" },
  },
});
const [nodes, jobs, hours, load, accounts, burst, seed] = [
  ...[values.nodes, values.jobs, values.hours, values.load, values.accounts, values.burst, values.seed],
].map(Number) as [number, number, number, number, number, number, number];

const startedAt = process.hrtime.bigint();
const run = await MatchingRun.load({ fault: "none", burst, nodes, jobs, hours, load, accounts, seed });
const { done, waits, steps, fetches, jain } = run.finish();
const tookS = Number(process.hrtime.bigint() - startedAt) / 1e9;
console.log(`${nodes} nodes, ${jobs} jobs in ${hours} h, load ${load}, ${accounts} accounts, seed ${seed}`);
const print = (name: string, value: string): void => console.log(`  ${name.padEnd(40)} ${value}`);
print("jobs that were done, lost, done twice", `${done.once}, ${jobs + burst - done.once - done.twice}, ${done.twice}`);
for (const { priority } of PRIORITIES) {
  const ms = waits.get(priority) ?? [];
  print(`wait at priority ${priority}: p50, p99`, `${seconds(quantile(ms, 0.5))}, ${seconds(quantile(ms, 0.99))}`);
}
print("fairness between accounts (Jain)", jain.toFixed(4));
print("fetches per job", (fetches / (jobs + burst)).toFixed(3));
print("decisions, each of", `${steps}, ${((1e6 * tookS) / steps).toFixed(1)} µs with all around it`);
const p99 = quantile([...waits.values()].flat(), 0.99);
const isSteady = burst === 0 && load <= 0.8;
if (isSteady && p99 >= 1000) print("VIOLATION", `the wait has a p99 of ${seconds(p99)}`);
if (fetches > 1.05 * (jobs + burst)) print("VIOLATION", "sources are fetched more than 1.05 times");
if (done.once !== jobs + burst) print("VIOLATION", "jobs were lost or done twice");
if (burst / accounts >= 100 && jain < 0.95) print("VIOLATION", "accounts were not served evenly");
print("this run", `${tookS.toFixed(0)} s`);
