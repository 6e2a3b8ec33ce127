// npm run test:soak [-- part ...]: faults, fuzz and long tables, in full. Takes hours. Fails if any part fails, and
// prints the command that repeats this part.
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { ROOT } from "../local/home/constants.ts";

/** Number of processes for the control plane's faults: a process gets slower with each job that it has run. */
const SHARES = 8;
const VITEST = ["node_modules/vitest/vitest.mjs", "run"];

type Run = { readonly env: Readonly<Record<string, string>>; readonly argv: readonly string[] };
const soak = (...paths: string[]): Run => ({ env: { COPRA_SOAK: "1" }, argv: [...VITEST, ...paths] });

const PARTS: Readonly<Record<string, readonly Run[]>> = {
  formats: [soak("encoder-node/ffmpeg/plans/matrix")],
  chunks: ["prepare", "tasks/join"].map((name) => soak(`encoder-node/${name}`)),
  system: ["hostile", "streams", "load", "slow-sources", "wrangler-dev"].map((name) => soak(`test/${name}`)),
  quality: [soak("encoder-node/quality"), soak("encoder-node/testing"), soak("encoder-node/source/outline")],
  "control-plane": [
    soak("test/simulation"),
    ...Array.from({ length: SHARES }, (_, at) => ({
      env: {},
      argv: ["test/simulation/run-faults.ts", "--share", `${at + 1}/${SHARES}`],
    })),
  ],
  properties: [soak("--project", "pure", "shared", "dashboard"), soak("worker/http/fuzz")],
};

const names = process.argv.slice(2);
const unknown = names.filter((part) => !Object.hasOwn(PARTS, part));
if (unknown.length > 0) throw new Error(`No part ${unknown.join(", ")}: there are ${Object.keys(PARTS).join(", ")}`);

const runs = (names.length > 0 ? names : Object.keys(PARTS)).flatMap((part) => PARTS[part] ?? []);
const commandOf = ({ env, argv }: Run): string =>
  [...Object.entries(env).map(([name, value]) => `${name}=${value}`), "node", ...argv].join(" ");

const failed = runs.filter((run) => {
  console.log(`── ${commandOf(run)}`);
  const env = { ...process.env, ...run.env };
  const [script = "", ...argv] = run.argv;
  return spawnSync(process.execPath, [join(ROOT, script), ...argv], { cwd: ROOT, stdio: "inherit", env }).status !== 0;
});
for (const run of failed) console.log(`Failed: ${commandOf(run)}`);
console.log(failed.length === 0 ? "All parts passed." : `${failed.length} of ${runs.length} runs failed.`);
process.exitCode = failed.length === 0 ? 0 : 1;
