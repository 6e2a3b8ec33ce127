import { describe, expect, it } from "vitest";
import { RETENTION_MS } from "../../settings.ts";
import { claim, encoding, NOW, proof, spec, useSpec } from "../../testing/job-steps.ts";
import { checkedJob } from "../../testing/jobs.ts";
import { nextAlarmAt } from "../effects/job-effects.ts";
import type { JobState } from "../state/job-state.ts";
import { viewJob } from "../views/job-view.ts";
import { renewLease } from "./leases.ts";
import { expireLeases } from "./lost-leases.ts";
import { endOverdue, limitOf } from "./time-limits.ts";

useSpec();

const DAY_MS = 24 * 60 * 60_000;
const limited = (state: JobState, settings: { startWithinMs?: number; maxRunMs?: number | null } = {}): JobState => {
  const limitedSpec = { ...state.spec, createdAt: NOW, settings: { ...state.spec.settings, ...settings } };
  return { ...state, spec: limitedSpec, startedAt: NOW, version: 1, indexedVersion: 1 };
};

describe("a job that no node takes", () => {
  it("fails after a day, with a reason, and its alarm rings for it", () => {
    const state = limited({ ...checkedJob(spec), advertisedAt: { inspect: NOW + DAY_MS - 1, encode: null } });
    expect(nextAlarmAt(state, () => 0, RETENTION_MS)).toBe(NOW + DAY_MS);
    expect(endOverdue(state, NOW + DAY_MS - 1)).toBe(state);
    const failure = {
      error_code: "job_not_started",
      error: "No encoder node took the work of this job within 86400 s",
    };
    expect(viewJob(endOverdue(state, NOW + DAY_MS))).toMatchObject({
      status: "job.failed",
      progress: "100%",
      input: { status: "input.failed", ...failure },
      outputs: [failure, failure],
    });
  });

  it("fails later if a node has worked on it, and not while a node works on it", () => {
    const state = limited(encoding(), { startWithinMs: 60_000 });
    expect(limitOf(state)).toBeNull();
    const reported = renewLease(state, proof("encode", 1, "t2"), NOW + 500_000).state;
    const lost = expireLeases(reported, NOW + 2_000_000);
    expect(limitOf(lost)?.at).toBe(NOW + 2_060_000);
    expect(claim(lost, "t3", NOW + 2_010_000, "node-b").assignments).toHaveLength(1);
    const ended = endOverdue(lost, NOW + 2_060_000);
    expect([ended.status, ended.input.status]).toEqual(["job.failed", "input.transferred"]);
    expect(endOverdue(ended, NOW + DAY_MS)).toBe(ended);
  });

  it("gets the same time again after an outage of the control plane", () => {
    const state = limited(checkedJob(spec), { startWithinMs: 60_000 });
    const restarted = endOverdue(state, NOW + DAY_MS);
    expect([restarted.status, limitOf(restarted)?.at]).toEqual([state.status, NOW + DAY_MS + 60_000]);
    expect(endOverdue(restarted, NOW + DAY_MS + 60_000).status).toBe("job.failed");
    // The client's own limit holds.
    const ran = limited(expireLeases(encoding(), NOW + DAY_MS), { maxRunMs: 5000 });
    expect(endOverdue(ran, NOW + DAY_MS).status).toBe("job.failed");
  });
});

it("fails a job that exceeds its maximum run time, and notifies its nodes", () => {
  const state = limited(encoding(), { maxRunMs: 5000 });
  expect(endOverdue(state, NOW + 4999)).toBe(state);
  const ended = endOverdue(state, NOW + 5000);
  expect(viewJob(ended)).toMatchObject({ status: "job.failed", outputs: [{ error_code: "job_timeout" }, {}] });
  expect(ended.revoked).toEqual([`${spec.id}.encode.1`]);
});
