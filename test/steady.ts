// npm run test:steady [runs] [loops] [path ...]: repeats `npm test` beside busy loops (default: 10 runs, 4 loops), and
// lists the tests that were ever red. Fails if any was red.
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import * as z from "zod";
import { ROOT } from "../local/home/constants.ts";

const RunReport = z.object({ failed: z.array(z.string()) });

const [runs = 10, loops = 4] = process.argv.slice(2, 4).map(Number);
const paths = process.argv.slice(4);
if (!Number.isInteger(runs) || !Number.isInteger(loops)) {
  throw new Error("Usage: npm run test:steady [runs] [loops] [path ...]");
}

const folder = mkdtempSync(join(tmpdir(), "copra-steady-"));
const busy = Array.from({ length: loops }, () => new Worker("for (;;);", { eval: true }));

/** Runs the tests; returns the names of the failed tests. */
function failedIn(report: string): string[] {
  const { status, stdout } = spawnSync(
    process.execPath,
    ["node_modules/vitest/vitest.mjs", "run", "--tagsFilter=!slow", ...paths],
    { cwd: ROOT, env: { ...process.env, COPRA_TEST_REPORT: report }, encoding: "utf8", maxBuffer: 1e9 },
  );
  if (status === 0) return [];
  console.log(stdout);
  return existsSync(report) ? RunReport.parse(JSON.parse(readFileSync(report, "utf8"))).failed : ["the whole run"];
}

/** The runs in which each test was red, by its name. */
const red = new Map<string, number[]>();
for (let run = 1; run <= runs; run++) {
  const startedAt = Date.now();
  const failed = failedIn(join(folder, `${run}.json`));
  for (const name of failed) red.set(name, [...(red.get(name) ?? []), run]);
  console.log(`Run ${run} of ${runs}: ${Math.round((Date.now() - startedAt) / 1000)} s, ${failed.length} red`);
}
await Promise.all(busy.map((loop) => loop.terminate()));
rmSync(folder, { recursive: true });
for (const [name, numbers] of red) console.log(`RED in ${numbers.length} of ${runs} (${numbers.join(", ")}): ${name}`);
console.log(red.size === 0 ? `${runs} of ${runs} runs green` : `${red.size} tests red`);
process.exitCode = red.size === 0 ? 0 : 1;
