import { env } from "cloudflare:workers";
import { beforeAll, expect, it } from "vitest";
import { RETENTION_MS } from "../settings.ts";
import { checkedJob, newSpec } from "../testing/jobs.ts";
import { prioritizeJob } from "./decide/client-moves.ts";
import { advertised, pendingEffects } from "./effects/job-effects.ts";
import { runEffect } from "./effects/run-effect.ts";
import type { JobState } from "./state/job-state.ts";
import { newTask } from "./state/task-state.ts";

const NOW = 1_000_000;
const MINUTE_MS = 60_000;
let started: JobState;
beforeAll(async () => {
  started = checkedJob(await newSpec());
});

/** Time at which encodes that may start in `waits` ms are advertised, after an advertisement at `advertisedAt`. */
const dueAt = (waits: readonly number[], advertisedAt: number | null): number | undefined => {
  const tasks = waits.map((wait, index) => ({
    ...newTask({ kind: "encode", round: 0, outputs: [0] }),
    id: `encode-${index}`,
    notBefore: NOW + wait,
  }));
  const state = { ...started, tasks, advertisedAt: { inspect: null, encode: advertisedAt } };
  return pendingEffects(state, RETENTION_MS).find(({ name }) => name === "advertise:encode")?.dueAt;
};

const rows: [string, number[], number | null, number | undefined][] = [
  ["of nothing", [], null, undefined],
  ["of a task that nobody knows of, when its time comes", [500], null, NOW + 500],
  ["of one that had to wait beside others, when its time comes", [-500, 700, 900], NOW, NOW + 700],
  ["of each such in turn", [-500, 700, 900], NOW + 700, NOW + 900],
];
it.each(rows)("a job advertises %s", (_, waits, advertisedAt, expected) => {
  expect(dueAt(waits, advertisedAt)).toBe(expected);
});

it("a job that waits advertises again after 5, 10, 20 and 60 minutes, not at the same time as others", () => {
  const dueAfter = (id: string, advertisements: number): number => {
    const tasks = [newTask({ kind: "encode", round: 0, outputs: [0] })];
    const state: JobState = { ...started, spec: { ...started.spec, id: id as never }, tasks };
    const once = Array.from({ length: advertisements }).reduce<JobState>(
      (next) => advertised(next, "encode", NOW),
      state,
    );
    return (pendingEffects(once, RETENTION_MS).find(({ name }) => name === "advertise:encode")?.dueAt ?? 0) - NOW;
  };
  const ids = ["a", "b", "c", "d", "e"];
  for (const [at, minutes] of [5, 10, 20, 60, 60, 60].entries()) {
    const waits = ids.map((id) => dueAfter(id, at + 1) / MINUTE_MS / minutes);
    expect(Math.min(...waits)).toBeGreaterThanOrEqual(0.9);
    expect(Math.max(...waits)).toBeLessThanOrEqual(1.1);
    expect(new Set(waits).size).toBe(ids.length);
  }
});

it.each([
  ["advertises again a priority that was changed while it advertised another", true],
  ["has advertised its tasks when the hub has answered", false],
])("a job %s", async (_, isChanged) => {
  let state = started;
  const apply = (change: (before: JobState) => JobState): void => {
    state = change(state);
  };
  const deps = { env, state: () => state, apply, note: apply, now: () => NOW, purge: async () => {} };
  const advertising = runEffect({ kind: "advertise", slotClass: "inspect" }, deps);
  if (isChanged) state = prioritizeJob(state, 50) ?? state;
  await advertising;
  expect(state.advertisedAt.inspect).toBe(isChanged ? null : NOW);
});
