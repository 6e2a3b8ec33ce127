// Tries the service in virtual time, once for each seed. The seed decides which messages overtake each other, and which
// faults happen when. Prints the seeds with violations, and the story of a single seed.
// Usage: node local/bootstrap.mjs test/simulation/run-seeds.ts [--from 1] [--count 100], or COPRA_SIM_SEED=17 …
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { runSeed } from "./seeds/simulated-run.ts";

const { values } = parseArgs({
  options: { from: { type: "string", default: "1" }, count: { type: "string", default: "100" } },
});
const print = console.log;
const root = fileURLToPath(new URL("../..", import.meta.url));
const only = process.env.COPRA_SIM_SEED;
const from = Number(only ?? values.from);
const count = only === undefined ? Number(values.count) : 1;

const failed: number[] = [];
for (let seed = from; seed < from + count; seed++) {
  const { violations, story } = await runSeed(seed, root);
  if (only !== undefined) for (const line of story) print(line);
  if (violations.length > 0) failed.push(seed);
  for (const violation of violations) print(`VIOLATION seed ${seed}: ${violation}`);
}
print(`${count} seeds from ${from}, ${failed.length} with violations`);
for (const seed of failed) print(`COPRA_SIM_SEED=${seed} node local/bootstrap.mjs test/simulation/run-seeds.ts`);
process.exit(failed.length > 0 ? 1 : 0);
