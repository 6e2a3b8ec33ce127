// The metrics of the fleet, from the reports of all hubs.
import { SLOT_CLASSES } from "#shared/protocol/tasks.ts";
import { VERSION } from "#shared/version.ts";
import { DURATION_BOUNDS_S, type HubReport, type TaskReport } from "../../rpc/hub-reports.ts";
import type { Labels, Metric } from "./metrics-text.ts";

/** `unavailable`: the number of hubs that did not answer. The other values are then too low. */
export function fleetMetrics(
  reports: readonly HubReport[],
  unavailable: number,
  pools: readonly string[],
): readonly Metric[] {
  const queues = queuesOf(reports, pools);
  const tasks = sumTasks(reports.flatMap((report) => report.tasks));
  return [
    gauge("copra_build_info", "The version of the control plane.", [[{ version: VERSION }, 1]]),
    gauge("copra_hubs_unavailable", "Hubs that did not answer this request.", [[{}, unavailable]]),
    gauge("copra_nodes", "Encoder nodes.", sumNodes(reports)),
    gauge(
      "copra_slots",
      "Slots of nodes that get work.",
      queues.flatMap(({ labels, free, running }): Row[] => [
        [{ ...labels, state: "free" }, free],
        [{ ...labels, state: "running" }, running],
      ]),
    ),
    gauge("copra_tasks_waiting", "Tasks that wait for a node.", rowsOf(queues, "waiting")),
    gauge("copra_task_oldest_wait_seconds", "How long the oldest task has waited.", rowsOf(queues, "oldestWait")),
    {
      name: "copra_tasks",
      type: "counter",
      help: "Tasks that have left their nodes.",
      samples: tasks.flatMap(({ kind, outcomes }) =>
        Object.entries(outcomes).map(([outcome, value]) => ({ labels: { kind, outcome }, value })),
      ),
    },
    {
      name: "copra_chunks_retried",
      type: "counter",
      help: "Second and later attempts of chunks.",
      samples: tasks.flatMap(({ kind, retries }) => (kind === "chunk" ? [{ labels: {}, value: retries }] : [])),
    },
    {
      name: "copra_task_duration_seconds",
      type: "histogram",
      help: "The time of a task on its node.",
      histograms: tasks.map(({ kind, within, timed, sumSeconds }) => ({
        labels: { kind },
        count: timed,
        sum: sumSeconds,
        within: DURATION_BOUNDS_S.map((bound, at) => [bound, within[at] ?? 0] as const),
      })),
    },
  ];
}

type Row = readonly [labels: Labels, value: number];
type Queue = { labels: Labels; free: number; running: number; waiting: number; oldestWait: number };

const gauge = (name: string, help: string, rows: readonly Row[]): Metric => ({
  name,
  help,
  type: "gauge",
  samples: rows.map(([labels, value]) => ({ labels, value })),
});

/**
 * An entry for each pool and class, also for empty pools: a reader cannot distinguish a missing value from a lost
 * value.
 */
function queuesOf(reports: readonly HubReport[], pools: readonly string[]): Queue[] {
  const all = reports.flatMap((report) => report.queues);
  const names = [...new Set([...pools, ...all.map(({ pool }) => pool)])].sort();
  return names.flatMap((pool) =>
    SLOT_CLASSES.map((slotClass) => {
      const some = all.filter((queue) => queue.pool === pool && queue.slotClass === slotClass);
      const sum = (value: (queue: (typeof some)[number]) => number) =>
        some.reduce((total, one) => total + value(one), 0);
      return {
        labels: { pool, class: slotClass },
        free: sum((queue) => queue.free),
        running: sum((queue) => queue.running),
        waiting: sum((queue) => queue.waiting),
        oldestWait: Math.max(0, ...some.map(({ oldestWaitMs }) => oldestWaitMs)) / 1000,
      };
    }),
  );
}

const rowsOf = (queues: readonly Queue[], value: "waiting" | "oldestWait"): Row[] =>
  queues.map((queue) => [queue.labels, queue[value]]);

function sumNodes(reports: readonly HubReport[]): Row[] {
  const counts = new Map<string, { labels: Labels; count: number }>();
  for (const { pool, state, hardware, count } of reports.flatMap((report) => report.nodes)) {
    const labels = { pool, state, hardware: hardware ?? "none" };
    const key = Object.values(labels).join("\n");
    counts.set(key, { labels, count: (counts.get(key)?.count ?? 0) + count });
  }
  return [...counts.values()].map(({ labels, count }) => [labels, count]);
}

function sumTasks(reports: readonly TaskReport[]): TaskReport[] {
  const kinds = new Map<string, TaskReport>();
  for (const report of reports) {
    const before = kinds.get(report.kind);
    kinds.set(report.kind, before ? added(before, report) : report);
  }
  return [...kinds.values()].sort((one, other) => one.kind.localeCompare(other.kind));
}

const sumOutcomes = (one: TaskReport["outcomes"], other: TaskReport["outcomes"]): TaskReport["outcomes"] => ({
  done: one.done + other.done,
  failed: one.failed + other.failed,
  returned: one.returned + other.returned,
  cancelled: one.cancelled + other.cancelled,
  released: one.released + other.released,
  lost: one.lost + other.lost,
});

const added = (one: TaskReport, other: TaskReport): TaskReport => ({
  kind: one.kind,
  outcomes: sumOutcomes(one.outcomes, other.outcomes),
  retries: one.retries + other.retries,
  within: one.within.map((count, at) => count + (other.within[at] ?? 0)),
  timed: one.timed + other.timed,
  sumSeconds: one.sumSeconds + other.sumSeconds,
});
