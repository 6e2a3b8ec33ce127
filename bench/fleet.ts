// Simulates a fleet in virtual time through the real control plane, injects a fault, and checks invariants.
// Usage: node local/bootstrap.mjs bench/fleet.ts [--fault NAME] [--nodes 200] [--jobs 4000] [--hours 1] [--seed 1] …
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { reportOf } from "../test/simulation/fleet/report.ts";
import { runFleet } from "../test/simulation/fleet/run-fleet.ts";
import { FAULTS } from "../test/simulation/fleet/scenario.ts";

const { values } = parseArgs({
  options: {
    root: { type: "string", default: fileURLToPath(new URL("..", import.meta.url)) },
    fault: { type: "string", default: "none" },
    nodes: { type: "string", default: "200" },
    jobs: { type: "string", default: "4000" },
    hours: { type: "string", default: "1" },
    load: { type: "string", default: "0.8" },
    accounts: { type: "string", default: "10" },
    burst: { type: "string", default: "10" },
    seed: { type: "string", default: "1" },
    details: { type: "boolean", default: false },
  },
});
const fault = FAULTS.find((name) => name === values.fault);
if (!fault) throw new Error(`--fault must be one of: ${FAULTS.join(", ")}`);
const [nodes, jobs, hours, load, accounts, burst, seed] = [
  ...[values.nodes, values.jobs, values.hours, values.load, values.accounts, values.burst, values.seed],
].map(Number) as [number, number, number, number, number, number, number];

const print = console.log;
const startedAt = process.hrtime.bigint();
const world = await runFleet({ fault, nodes, jobs, hours, load, accounts, burst, seed }, values.root);
const { rows, violations } = reportOf(world);
const tookMs = Number(process.hrtime.bigint() - startedAt) / 1e6;
print(`${nodes} nodes, ${jobs} jobs in ${hours} h, load ${load}, fault: ${fault}, seed ${seed}`);
for (const [name, value] of rows) print(`  ${name.padEnd(40)} ${value}`);
const { events } = world.service.platform.time;
print(`  ${"this run".padEnd(40)} ${(tookMs / 1000).toFixed(1)} s, ${events} events`);
if (values.details) {
  const details = [...world.service.platform.meter.details].toSorted(([, a], [, b]) => b - a);
  for (const [detail, count] of details.slice(0, 60)) print(String(Math.round(count)).padStart(9), detail);
  const lines = world.service.platform.logged.map((line) => line.replace(/"time":\d+,?/, ""));
  for (const line of new Set(lines)) print(line);
}
for (const violation of violations) print(`VIOLATION ${violation}`);
process.exit(violations.length > 0 ? 1 : 0);
