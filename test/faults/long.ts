// All faults, in some two hours: those of the whole system, then those of the control plane in shares, because a process gets
// slower with each job that it has run. `npm run test:faults`; fails when any does.
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { ROOT } from "../../local/stack/places.ts";

const SHARES = 40;
const RUNS: readonly (readonly [faults: string, ...paths: string[]])[] = [
  ["long", "test/faults", "test/hostile"],
  ...Array.from({ length: SHARES }, (_, at) => [`${at + 1}/${SHARES}`, "worker/job/faults"] as const),
];

const failed = RUNS.filter(([faults, ...paths]) => {
  console.log(`── COPRA_FAULTS=${faults} ${paths.join(" ")}`);
  const argv = [join(ROOT, "node_modules/vitest/vitest.mjs"), "run", ...paths];
  const { status } = spawnSync(process.execPath, argv, {
    ...{ cwd: ROOT, stdio: "inherit" },
    env: { ...process.env, COPRA_FAULTS: faults },
  });
  return status !== 0;
});
for (const [faults, ...paths] of failed) console.log(`Failed: COPRA_FAULTS=${faults} vitest run ${paths.join(" ")}`);
console.log(failed.length === 0 ? "All faults were borne." : `${failed.length} of ${RUNS.length} runs failed.`);
process.exitCode = failed.length === 0 ? 0 : 1;
