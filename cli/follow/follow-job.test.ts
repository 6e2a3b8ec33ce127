import { expect, it } from "vitest";
import type { AttemptView, Job, TaskView } from "../../client/index.ts";
import { snapshotOf } from "./follow-job.ts";

const JOB = {
  id: "3clA7G2GY8bXR5",
  status: "job.starting",
  state: "queued",
  progress: "0%",
  created_at: "2026-11-28T12:00:00Z",
  completed_at: null,
  ends_at: null,
  input: { status: "input.transferring" },
  outputs: [{ key: "mp4:720p", status: "video.waiting", type: "video", format: "mp4" }],
} as unknown as Job;
const INSPECT = { id: "inspect", kind: "inspect", outputs: [], attempt: 1, progress: 0 } satisfies Partial<TaskView>;
const REFUSED = {
  task: "inspect",
  kind: "inspect",
  attempt: 1,
  node: "attic",
  started_at: "2026-11-28T12:00:00.000Z",
  ended_at: "2026-11-28T12:00:01.000Z",
  outcome: "failed",
  reason: "The host refuses connections",
} satisfies AttemptView;

it.each([
  ["waiting", "attempt 1 failed: The host refuses connections"],
  ["running", "attempt 1 failed: The host refuses connections"],
  ["completed", ""],
] as const)("states why a task needs another attempt while it is %s: %s", (status, note) => {
  const snapshot = snapshotOf(JOB, [{ ...INSPECT, status }], new Map([["inspect", REFUSED]]));
  expect(snapshot.note).toBe(note);
});
