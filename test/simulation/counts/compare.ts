// Runs the same plan on two platforms: the real control plane in workerd in real time, and the simulated platform of
// bench/fleet.ts. Compares the counts of nodes, clients and the operator.
// Usage: node local/bootstrap.mjs test/simulation/counts/compare.ts [--nodes 100] [--jobs 400] [--accounts 5]
// [--every 50] [--seed 1]
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { planOf } from "./plan.ts";
import { runPlan } from "./run-plan.ts";
import { onSimulation, onWorkerd } from "./targets.ts";

const { values } = parseArgs({
  options: {
    nodes: { type: "string", default: "100" },
    jobs: { type: "string", default: "400" },
    accounts: { type: "string", default: "5" },
    /** Mean time between jobs in ms. */
    every: { type: "string", default: "50" },
    seed: { type: "string", default: "1" },
  },
});
const LIMIT_MS = 10 * 60_000;

const print = console.log;
const seed = Number(values.seed);
const size = { nodes: Number(values.nodes), jobs: Number(values.jobs), accounts: Number(values.accounts) };
const plan = planOf({ ...size, seed, everyMs: Number(values.every) });
const home = await mkdtemp(join(tmpdir(), "copra-counts-"));
const real = await onWorkerd(home, (target) => runPlan(target, plan, LIMIT_MS)).finally(() =>
  rm(home, { recursive: true, force: true }),
);
const simulated = await onSimulation(fileURLToPath(new URL("../../..", import.meta.url)), seed, (target) =>
  runPlan(target, plan, LIMIT_MS),
);
print(`${size.nodes} nodes, ${size.jobs} jobs of ${size.accounts} accounts, seed ${seed}: workerd, simulation`);
let differ = 0;
for (const name of new Set([...Object.keys(real), ...Object.keys(simulated)])) {
  const isSame = real[name] === simulated[name];
  if (!isSame) differ += 1;
  print(`  ${name.padEnd(60)} ${real[name] ?? 0}, ${simulated[name] ?? 0}${isSame ? "" : " DIFFERENT"}`);
}
process.exit(differ > 0 ? 1 : 0);
