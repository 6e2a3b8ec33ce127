// Prices a job on Cloudflare: runs a job of each kind through the real code in virtual time, counts its requests, rows,
// durations and queries, and multiplies them with the prices.
// Usage: node local/bootstrap.mjs bench/cost.ts [--root FOLDER] [--only KIND] [--fetch-ms MS] [--details] [--batch JOBS]
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { FIVE_MINUTES, KINDS, LONG, measureCreation, measureKind } from "../test/simulation/job-kinds.ts";
import { billOf, type Counts, minus, NOTHING, objectRequests } from "../test/simulation/platform/meter.ts";

const { values } = parseArgs({
  options: {
    root: { type: "string", default: fileURLToPath(new URL("..", import.meta.url)) },
    only: { type: "string" },
    details: { type: "boolean", default: false },
    /** Time that a storage or a receiver takes for a request, in ms. */
    "fetch-ms": { type: "string", default: "100" },
    json: { type: "boolean", default: false },
    /** Measures the creation of this many jobs, by single requests and by a batch. */
    batch: { type: "string" },
  },
});

const COLUMNS = [
  ...["kind", "$ per million", "requests", "active s", "rows"],
  ...["MB", "Worker", "D1 trips", "D1 rows", "D1 ms"],
];
const WIDTHS = [40, 14, 9, 9, 7, 8, 7, 9, 8, 7];

const line = (cells: readonly (string | number)[]): string =>
  cells
    .map((cell, at) => (at === 0 ? String(cell).padEnd(WIDTHS[0] ?? 0) : String(cell).padStart(WIDTHS[at] ?? 0)))
    .join(" ");

function rowOf(kind: string, counts: Counts): string {
  const { total } = billOf(counts);
  return line([
    ...[
      kind,
      total.toFixed(total < 100 ? 1 : 0),
      Math.round(objectRequests(counts)),
      (counts.activeMs / 1000).toFixed(1),
    ],
    ...[counts.rowsWritten, (counts.bytesWritten / 1e6).toFixed(2), counts.workerRequests, counts.trips],
    ...[counts.databaseWritten, counts.databaseMs.toFixed(1)],
  ]);
}

/** Runs each kind in its own process, because the simulated platform replaces global objects. */
function measureAll(): void {
  console.log(line(COLUMNS));
  const measured = new Map<string, Counts>();
  for (const kind of KINDS.keys()) {
    const argv = [
      process.argv[1] ?? "",
      "--root",
      values.root,
      "--only",
      kind,
      "--fetch-ms",
      values["fetch-ms"],
      "--json",
    ];
    const { stdout, stderr, status } = spawnSync(process.execPath, argv, { encoding: "utf8", maxBuffer: 2 ** 28 });
    if (status !== 0) throw new Error(`${kind}: ${stderr}`);
    measured.set(kind, JSON.parse(stdout) as Counts);
    console.log(rowOf(kind, measured.get(kind) ?? NOTHING));
  }
  const [short, long] = [measured.get(FIVE_MINUTES), measured.get(LONG)];
  if (short && long) console.log(rowOf("a further hour of encoding", minus(long, short)));
}

async function measureOne(kind: string): Promise<void> {
  const print = console.log;
  const { counts, details, logged, subrequests } = await measureKind(kind, values.root, Number(values["fetch-ms"]));
  const { overBudget, report } = subrequests;
  if (values.json) return print(JSON.stringify({ ...counts, total: billOf(counts).total, overBudget }));
  print(line(COLUMNS));
  print(rowOf(kind, counts));
  print(billOf(counts));
  print(report);
  if (!values.details) return;
  for (const [detail, count] of [...details].toSorted(([, a], [, b]) => b - a)) {
    if (count > 0.5) print(String(Math.round(count)).padStart(9), detail);
  }
  for (const text of new Set(logged)) print(text);
}

if (values.batch !== undefined) {
  const jobs = Number(values.batch);
  for (const size of [1, jobs]) {
    const counts = await measureCreation(values.root, jobs, size);
    const perJob = Object.entries(counts).map(([name, count]) => `${name} ${count / jobs}`);
    process.stdout.write(`${size} in a request, for each job: ${perJob.join(", ")}\n`);
  }
} else if (values.only === undefined) measureAll();
else await measureOne(values.only);
