import { beforeAll, expect, it } from "vitest";
import { RETENTION_MS } from "../settings.ts";
import { checkedJob, newSpec } from "../testing/jobs.ts";
import { pendingEffects } from "./effects/job-effects.ts";
import type { JobState } from "./state/job-state.ts";
import { newTask } from "./state/task-state.ts";

const NOW = 1_000_000;
const READVERTISE_MS = 5 * 60_000;
let begun: JobState;
beforeAll(async () => {
  begun = checkedJob(await newSpec());
});

/** When encodes that may start in `waits` ms are advertised; earlier ones were at `advertisedAt`. */
const dueAt = (waits: readonly number[], advertisedAt: number | null): number | undefined => {
  const tasks = waits.map((wait, index) => ({
    ...newTask({ kind: "encode", round: 0, outputs: [0] }),
    id: `encode-${index}`,
    notBefore: NOW + wait,
  }));
  const state = { ...begun, tasks, advertisedAt: { inspect: null, encode: advertisedAt } };
  return pendingEffects(state, RETENTION_MS).find(({ name }) => name === "advertise:encode")?.dueAt;
};

const rows: [string, number[], number | null, number | undefined][] = [
  ["of nothing", [], null, undefined],
  ["of a task that nobody knows of, when its time comes", [500], null, NOW + 500],
  ["again, after five minutes", [-500], NOW, NOW + READVERTISE_MS],
  ["of one that had to wait beside others, when its time comes", [-500, 700, 900], NOW, NOW + 700],
  ["of each such in turn", [-500, 700, 900], NOW + 700, NOW + 900],
];
it.each(rows)("a job advertises %s", (_, waits, advertisedAt, expected) => {
  expect(dueAt(waits, advertisedAt)).toBe(expected);
});
