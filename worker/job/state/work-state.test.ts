import { expect, it } from "vitest";
import { claim, encoding, NOW, spec, useSpec } from "../../testing/job-steps.ts";
import { checkedJob, PROBE } from "../../testing/jobs.ts";
import { recordProgress } from "../decide/leases.ts";
import { completeTask } from "../decide/reports.ts";
import { failTask } from "../decide/task-ends.ts";
import { indexed } from "../effects/job-effects.ts";
import { viewJob } from "../views/job-view.ts";
import type { JobState } from "./job-state.ts";

useSpec();

const stateOf = (job: JobState) => viewJob(job).state;
const inspecting = (): JobState => claim(checkedJob(spec), "t1", NOW, "node-a", "inspect").state;
const inspected = (): JobState => completeTask(inspecting(), "inspect", { kind: "inspect", probe: PROBE }, NOW);

it("reports that a job waits until a node takes a task, and between its tasks", () => {
  expect([checkedJob(spec), inspecting(), inspected(), encoding()].map(stateOf)).toEqual([
    "queued",
    "running",
    "queued",
    "running",
  ]);
  expect(viewJob(checkedJob(spec))).not.toHaveProperty("started_at");
  expect(viewJob(inspecting()).started_at).toBeDefined();
});

it("reports that a job waits again when its node returns the task", () => {
  const returned = failTask(encoding(), "encode", { code: "node_lost", message: "The node stops" }, NOW);
  expect(stateOf(returned)).toBe("queued");
});

it("reports that a job stores its results while its nodes only upload", () => {
  const job = encoding();
  const task = job.tasks.find(({ id }) => id === "encode");
  const item = { lease: `${spec.id}.encode.1`, token: task?.lease?.token ?? "", stage: "uploading", fraction: 0.5 };
  expect(stateOf(recordProgress(job, item as Parameters<typeof recordProgress>[1], NOW).state)).toBe("storing");
});

it("updates the index at each start and end of waiting, and for nothing else of a claim", () => {
  const waiting = indexed(inspected(), inspected());
  const { version } = waiting;
  const started = claim(waiting, "t2", NOW, "node-a", "encode").state;
  expect(started.version).toBe(version + 1);
  const row = indexed(started, started);
  const returned = failTask(row, "encode", { code: "node_busy", message: "No room" }, NOW);
  expect(returned.version).toBeGreaterThan(row.version);
  // The row was written before the claim, and noted after it.
  expect(indexed(started, waiting).version).toBe(version + 2);
  expect(claim(row, "t3", NOW, "node-b", "encode").state.version).toBe(row.version);
});
