// Load test of the control plane: `node local/bootstrap.mjs bench/load.ts [nodes] [jobs]`, by default three sizes.
// Simulated nodes with one slot of each class finish their tasks at once. Ten accounts submit jobs to the API in turn.
// Each size starts its own control plane. With `--data <folder>` the test uses the control plane of a running
// `copra serve --nodes 0 --allow-private loopback`. `--kill-after <jobs>` kills the control plane once so many jobs
// have ended. Prints a table row for each size, and fails when a job was lost or done twice.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { parseArgs } from "node:util";
import { type LoadOutcome, runLoad } from "./load/run-load.ts";

const SIZES: readonly (readonly [nodes: number, jobs: number])[] = [
  [10, 500],
  [100, 1000],
  [1000, 5000],
];
const COLUMNS = [
  ...["nodes", "jobs", "jobs/s", "CPU ms a job", "submit ms p50, p99", "first task ms p50, p99"],
  ...["next task ms p50, p99", "to the end ms p50, p99", "MB idle, most", "client's loop ms p99"],
];
const MB = 1e6;

const { values, positionals } = parseArgs({
  options: { data: { type: "string" }, "kill-after": { type: "string" } },
  allowPositionals: true,
});
const served = values.data ?? null;
const killAfter = values["kill-after"] === undefined ? null : Number(values["kill-after"]);

const percentile = (values: readonly number[], fraction: number): string =>
  (values.toSorted((a, b) => a - b)[Math.floor((values.length - 1) * fraction)] ?? Number.NaN).toFixed(0);
const p50AndP99 = (values: readonly number[]): string => `${percentile(values, 0.5)}, ${percentile(values, 0.99)}`;
const row = (cells: readonly (string | number)[]): string => `| ${cells.join(" | ")} |`;

async function measure(nodes: number, jobs: number): Promise<LoadOutcome> {
  const home = served ?? (await mkdtemp(join(tmpdir(), "copra-load-")));
  const loop = monitorEventLoopDelay({ resolution: 10 });
  loop.enable();
  try {
    const outcome = await runLoad({
      nodes,
      jobs,
      accounts: 10,
      posting: 32,
      stores: false,
      killAfter,
      home,
      isServed: served !== null,
    });
    const { observations, wallMs, cpuMs, rssBytes } = outcome;
    const submits = [...observations.jobs.values()].map(({ postedAt, acceptedAt }) => acceptedAt - postedAt);
    const memory = `${(rssBytes.idle / MB).toFixed(0)}, ${(rssBytes.most / MB).toFixed(0)}`;
    const rate = (jobs / (wallMs / 1000)).toFixed(1);
    const latencies = [submits, observations.firstAssignMs, observations.nextAssignMs, observations.endMs()].map(
      p50AndP99,
    );
    const loopMs = (loop.percentile(99) / 1e6).toFixed(0);
    console.log(row([nodes, jobs, rate, (cpuMs / jobs).toFixed(1), ...latencies, memory, loopMs]));
    return outcome;
  } finally {
    loop.disable();
    if (served === null) await rm(home, { recursive: true, force: true });
  }
}

const [nodes, jobs] = positionals.map(Number);
console.log(row(COLUMNS));
console.log(row(COLUMNS.map(() => "---")));
for (const size of nodes ? [[nodes, jobs ?? nodes] as const] : SIZES) {
  const { observations, ticketsLeft } = await measure(...size);
  const { violations, assignments, retries } = observations;
  console.error(`${assignments} assignments, ${retries} reports sent again, ${ticketsLeft} tickets left`);
  for (const violation of violations.slice(0, 20)) console.error(violation);
  if (violations.length > 0 || ticketsLeft > 0) process.exitCode = 1;
}
