// Tries the service in virtual time, once for each seed. The seed decides which messages overtake each other, and which
// faults happen when. Prints the seeds with violations, and the story of the seed `--story`.
// Usage: node local/bootstrap.mjs test/simulation/run-seeds.ts [--from 1] [--count 100] [--story 17]
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { runSeed } from "./seeds/simulated-run.ts";

const { values } = parseArgs({
  options: {
    from: { type: "string", default: "1" },
    count: { type: "string", default: "100" },
    story: { type: "string" },
  },
});
const print = console.log;
const root = fileURLToPath(new URL("../..", import.meta.url));
const [from, count] = [Number(values.from), Number(values.count)];

const failed: number[] = [];
for (let seed = from; seed < from + count; seed++) {
  const { violations, story } = await runSeed(seed, root);
  if (seed === Number(values.story)) for (const line of story) print(line);
  if (violations.length > 0) failed.push(seed);
  for (const violation of violations) print(`VIOLATION seed ${seed}: ${violation}`);
}
print(`${count} seeds from ${from}, ${failed.length} with violations`);
// The first seed of a process differs: the Worker's isolate brings the database to its schema.
for (const seed of failed) {
  const from = Math.max(1, seed - 1);
  print(`node local/bootstrap.mjs test/simulation/run-seeds.ts --from ${from} --count 2 --story ${seed}`);
}
process.exit(failed.length > 0 ? 1 : 0);
