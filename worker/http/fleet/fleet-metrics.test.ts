import { expect, it } from "vitest";
import { VERSION } from "#shared/version.ts";
import { DURATION_BOUNDS_S, type HubReport } from "../../rpc/hub-reports.ts";
import { viewAutoscale } from "./autoscale.ts";
import { fleetMetrics } from "./fleet-metrics.ts";
import { formatFor, printMetrics } from "./metrics-text.ts";

const queue = { pool: "default", slotClass: "encode" as const, free: 1, running: 2, waiting: 3 };
const NO_OUTCOMES = { done: 0, failed: 0, returned: 0, cancelled: 0, released: 0, lost: 0 };
const within = DURATION_BOUNDS_S.map((bound) => (bound >= 60 ? 2 : 0));
const REPORT: HubReport = {
  nodes: [
    { pool: "default", state: "ready", hardware: "nvenc", count: 2 },
    { pool: "default", state: "cordoned", hardware: null, count: 1 },
  ],
  queues: [{ ...queue, oldestWaitMs: 4_500, meanTaskMs: 60_000 }],
  fonts: [],
  tasks: [
    { kind: "encode", outcomes: { ...NO_OUTCOMES, done: 2, lost: 1 }, retries: 0, within, timed: 2, sumSeconds: 90.5 },
  ],
};
const OTHER: HubReport = {
  nodes: [{ pool: "default", state: "ready", hardware: "nvenc", count: 5 }],
  queues: [
    { ...queue, oldestWaitMs: 1_000, meanTaskMs: 20_000 },
    { ...queue, pool: "gpu", slotClass: "inspect", oldestWaitMs: 0, meanTaskMs: 1_000 },
  ],
  fonts: [],
  tasks: [
    { kind: "encode", outcomes: { ...NO_OUTCOMES, done: 1 }, retries: 0, within, timed: 2, sumSeconds: 9.5 },
    { kind: "chunk", outcomes: NO_OUTCOMES, retries: 4, within, timed: 0, sumSeconds: 0 },
  ],
};

it("adds up the metrics of all hubs", () => {
  const text = printMetrics(fleetMetrics([REPORT, OTHER], 1, ["default"]), "openmetrics");
  expect(text.split("\n")).toEqual(
    expect.arrayContaining([
      "# TYPE copra_nodes gauge",
      `copra_build_info{version="${VERSION}"} 1`,
      "copra_hubs_unavailable 1",
      'copra_nodes{pool="default",state="ready",hardware="nvenc"} 7',
      'copra_nodes{pool="default",state="cordoned",hardware="none"} 1',
      'copra_slots{pool="default",class="encode",state="running"} 4',
      'copra_tasks_waiting{pool="default",class="encode"} 6',
      'copra_tasks_waiting{pool="default",class="inspect"} 0',
      'copra_tasks_waiting{pool="gpu",class="inspect"} 3',
      'copra_task_oldest_wait_seconds{pool="default",class="encode"} 4.5',
      'copra_tasks_total{kind="encode",outcome="done"} 3',
      "copra_chunks_retried_total 4",
      'copra_task_duration_seconds_bucket{kind="encode",le="30"} 0',
      'copra_task_duration_seconds_bucket{kind="encode",le="60"} 4',
      'copra_task_duration_seconds_bucket{kind="encode",le="+Inf"} 4',
      'copra_task_duration_seconds_sum{kind="encode"} 100',
    ]),
  );
  expect(text.endsWith("# EOF\n")).toBe(true);
});

it("names counters in the reader's format", () => {
  const metrics = fleetMetrics([REPORT], 0, []);
  expect(printMetrics(metrics, "openmetrics")).toContain("# TYPE copra_tasks counter\ncopra_tasks_total{");
  expect(printMetrics(metrics, "text")).toContain("# TYPE copra_tasks_total counter\ncopra_tasks_total{");
  expect(printMetrics(metrics, "text")).not.toContain("# EOF");
  expect([
    formatFor("application/openmetrics-text;version=1.0.0,text/plain"),
    formatFor("*/*"),
    formatFor(undefined),
  ]).toEqual([...["openmetrics", "text", "text"]]);
});

it("escapes the values of labels", () => {
  const samples = [{ labels: { name: 'a"b\\c\nd' }, value: 1 }];
  expect(printMetrics([{ name: "m", help: "M.", type: "gauge", samples }], "text")).toContain(
    'm{name="a\\"b\\\\c\\nd"} 1',
  );
});

it("asks for as many slots as there are running and waiting tasks, in each pool and in total", () => {
  const nothing = { wanted: 0, running: 0, waiting: 0, free: 0, oldest_wait_seconds: 0, mean_task_seconds: 0 };
  const view = viewAutoscale([...REPORT.queues, ...OTHER.queues], ["default", "spare"]);
  const encode = { wanted: 10, running: 4, waiting: 6, free: 2, oldest_wait_seconds: 4.5, mean_task_seconds: 40 };
  expect(view.encode).toEqual(encode);
  expect(Object.keys(view.pools)).toEqual(["default", "gpu", "spare"]);
  expect(view.pools.default).toEqual({ encode, inspect: nothing });
  expect(view.pools.gpu?.inspect).toMatchObject({ wanted: 5, mean_task_seconds: 1 });
  expect(view.pools.spare).toEqual({ encode: nothing, inspect: nothing });
});
