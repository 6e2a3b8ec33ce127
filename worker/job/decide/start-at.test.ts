import { describe, expect, it } from "vitest";
import { RETENTION_MS } from "../../settings.ts";
import { claim, NOW, spec, useSpec } from "../../testing/job-steps.ts";
import { nextAlarmAt, pendingEffects } from "../effects/job-effects.ts";
import { JobState, newJob } from "../state/job-state.ts";
import { viewJob } from "../views/job-view.ts";
import { cancelJob, prioritizeJob, retryJob } from "./client-moves.ts";
import { waitsFor } from "./requirements.ts";
import { limitOf } from "./time-limits.ts";

useSpec();

const START = NOW + 30 * 24 * 60 * 60_000;
const later = (settings: Partial<JobState["spec"]["settings"]> = {}, now = NOW): JobState => {
  const delayedSpec = { ...spec, createdAt: NOW, settings: { ...spec.settings, startAtMs: START, ...settings } };
  return { ...newJob(delayedSpec, now), storageCheck: null };
};
const advertisesAt = (state: JobState): number | undefined =>
  pendingEffects(state, RETENTION_MS).find(({ name }) => name === "advertise:inspect")?.dueAt;

describe("a job with start_at", () => {
  it("waits for its time, and its alarm rings then, also after its state was read from disk", () => {
    const stored = JobState.parse(
      JSON.parse(JSON.stringify({ ...later(), emitted: { ...later().emitted, status: "0 job.starting" } })),
    );
    expect([advertisesAt(stored), nextAlarmAt(stored, () => 0, RETENTION_MS)]).toEqual([START, START]);
    expect(viewJob(stored)).toMatchObject({
      status: "job.starting",
      state: "queued",
      waiting_for: `${new Date(START).toISOString().replace("T", " ").slice(0, 19)} +0000`,
    });
  });

  it("gives no node its work before its time", () => {
    const state = later();
    expect(claim(state, "t", START - 1, "node-a", "inspect").assignments).toEqual([]);
    const { assignments, state: leased } = claim(state, "t", START, "node-a", "inspect");
    expect(assignments).toHaveLength(1);
    expect(viewJob(leased)).not.toHaveProperty("waiting_for");
  });

  it("shows what a node lacks once it was advertised, and counts start_within_s from its time", () => {
    const state = later({ startWithinMs: 60_000 });
    expect(limitOf(state)?.at).toBe(START + 60_000);
    expect(viewJob(waitsFor(state, "inspect", null))).not.toHaveProperty("waiting_for");
  });

  it("can be cancelled before its time, and a retry starts it at once", () => {
    const cancelled = cancelJob(later(), NOW + 1);
    expect(cancelled && viewJob(cancelled)).toMatchObject({ status: "job.aborted" });
    expect(cancelled && viewJob(cancelled)).not.toHaveProperty("waiting_for");
    const retried = cancelled && retryJob(cancelled, NOW + 2);
    expect(retried && advertisesAt(retried)).toBe(0);
    expect(retried && viewJob(retried)).not.toHaveProperty("waiting_for");
  });

  it("keeps its time when its priority changes", () => {
    const prioritized = prioritizeJob(later(), 50);
    expect(prioritized && advertisesAt(prioritized)).toBe(START);
  });

  it("starts at once if the time is over when the job is created", () => {
    const state = later({}, START + 1);
    expect(viewJob(state)).not.toHaveProperty("waiting_for");
    expect(claim(state, "t", START + 1, "node-a", "inspect").assignments).toHaveLength(1);
  });
});
