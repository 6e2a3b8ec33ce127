// Runs jobs of each kind in virtual time with a single fault each: of each request of a run, and each fate of it.
// Usage: node local/bootstrap.mjs test/simulation/run-faults.ts [--share 1/1] [--only 'stream: 17 answer lost']
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { type Fault, faultsOf, nameOf, SCENARIOS, violationsWith } from "./seeds/single-fault.ts";

const { values } = parseArgs({ options: { share: { type: "string", default: "1/1" }, only: { type: "string" } } });
const print = console.log;
const root = fileURLToPath(new URL("../..", import.meta.url));
const [share = 1, shares = 1] = values.share.split("/").map(Number);
const isChosen = (fault: Fault, at: number): boolean =>
  values.only === undefined ? at % shares === share - 1 : nameOf(fault) === values.only;

const failed: string[] = [];
let tried = 0;
for (const scenario of SCENARIOS) {
  for (const fault of (await faultsOf(scenario, root)).filter(isChosen)) {
    tried += 1;
    const violations = await violationsWith(fault, root);
    if (violations.length > 0) failed.push(nameOf(fault));
    for (const violation of violations) print(`VIOLATION ${nameOf(fault)}: ${violation}`);
  }
}
print(`share ${values.share}: ${tried} faults, ${failed.length} with violations`);
for (const name of failed) print(`node local/bootstrap.mjs test/simulation/run-faults.ts --only '${name}'`);
process.exit(failed.length > 0 ? 1 : 0);
