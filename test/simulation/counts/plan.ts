// The plan of a run, from a seed alone: accounts that submit jobs, their times, the work of their tasks, and the
// outcomes.

import { parseLeaseId } from "#shared/ids.ts";
import type { Assignment } from "#shared/protocol/tasks.ts";
import { randomOf } from "#shared/testing/random.ts";
import type { Workload } from "../work.ts";

/** The source is no media, the first encode fails, or nothing goes wrong. */
const FATES = ["no media", "fails once", "completes"] as const;
export type Fate = (typeof FATES)[number];

export type PlannedJob = {
  /** ms since the start of the run. */
  readonly atMs: number;
  readonly account: number;
  readonly workload: Workload;
  readonly fate: Fate;
};

export type Plan = { readonly nodes: number; readonly accounts: number; readonly jobs: readonly PlannedJob[] };

export type PlanSize = {
  readonly nodes: number;
  readonly jobs: number;
  readonly accounts: number;
  readonly seed: number;
  /** The mean time between two jobs, in ms. */
  readonly everyMs: number;
};

export function planOf({ nodes, jobs, accounts, seed, everyMs }: PlanSize): Plan {
  const random = randomOf(seed);
  let atMs = 0;
  const planned = Array.from({ length: jobs }, (): PlannedJob => {
    atMs += -Math.log(1 - random()) * everyMs;
    return {
      atMs,
      account: Math.floor(accounts * random()),
      fate: FATES[Math.floor(20 * random())] ?? "completes",
      workload: {
        seconds: 60,
        fetchMs: 50 + 100 * random(),
        encodeMs: 200 + 600 * random(),
        chunkMs: 0,
        joinMs: 0,
        videoBytes: 100_000,
      },
    };
  });
  return { nodes, accounts, jobs: planned };
}

/** The name of a job's source, by which nodes recognize the job. */
export const sourceOf = (number: number): string => `job-${number}.mp4`;

/** The planned work of an assignment. */
export function workloadOf({ jobs }: Plan, { kind, lease, task }: Assignment): Workload {
  const name = "sourceUrl" in task ? /job-(\d+)\.mp4$/.exec(task.sourceUrl) : null;
  const job = jobs[Number(name?.[1])];
  if (!job) throw new Error(`The plan has no job for ${lease}`);
  const { workload, fate } = job;
  if (fate === "no media" && kind === "inspect") {
    return { ...workload, fails: { code: "input_not_media", message: "The source is no media file" } };
  }
  if (fate === "fails once" && kind === "encode" && parseLeaseId(lease)?.attempt === 1) {
    return { ...workload, fails: { code: "node_failed", message: "The node has failed" } };
  }
  return workload;
}
