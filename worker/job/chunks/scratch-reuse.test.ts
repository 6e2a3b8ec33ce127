import { describe, expect, it } from "vitest";
import type { TaskResult } from "#shared/protocol/reports.ts";
import type { TaskOf } from "#shared/protocol/tasks.ts";
import { RETENTION_MS } from "../../settings.ts";
import {
  ALL,
  claim,
  good,
  inspected,
  joining,
  kindsOf,
  NOW,
  run,
  SECONDS,
  spec,
  step,
  useChunkedSpec,
} from "../../testing/chunked-jobs.ts";
import { checkedJob, videoChunking, videoProbe } from "../../testing/jobs.ts";
import { cancelJob, retryJob } from "../decide/client-moves.ts";
import { completeTask } from "../decide/reports.ts";
import { failTask } from "../decide/task-ends.ts";
import { pendingEffects } from "../effects/job-effects.ts";
import { closeScratch, KEEP_MS, scratchToClear } from "../effects/scratch-effects.ts";
import { checkLease } from "../state/check-lease.ts";
import type { JobState } from "../state/job-state.ts";
import { viewJob } from "../views/job-view.ts";
import { activeWork } from "./chunk-work.ts";

useChunkedSpec();

describe("the scratch folder", () => {
  const deniedAt = (state: JobState, now = NOW): JobState => {
    const { state: claimed, given, id } = claim(state, "a", now);
    const failure = { code: "storage_denied", message: "No" } as const;
    const task = given.task as TaskOf<"join">;
    const outputs = task.outputs.map(({ index: output }) => ({ status: "failed", output, failure }));
    return completeTask(claimed, id, { ...good(given), outputs } as TaskResult, now);
  };

  it("is kept while a retry can use it, otherwise removed at once", () => {
    const failed = deniedAt(joining());
    const cancelled = cancelJob(joining(), NOW);
    const noMedia = failTask(claim(checkedJob(spec)).state, "inspect", { code: "input_not_media", message: "No" }, NOW);
    const rows: [string, JobState | null, { folder: number; dueAt: number }[]][] = [
      ["running", joining(), []],
      ["completed", run(joining()), [{ folder: 0, dueAt: 0 }]],
      ["failed", failed, [{ folder: 0, dueAt: NOW + KEEP_MS }]],
      ["failed without chunks", noMedia, [{ folder: 0, dueAt: 0 }]],
      ["cancelled", cancelled, [{ folder: 0, dueAt: 0 }]],
      ["never used", cancelJob(checkedJob(spec), NOW), []],
    ];
    for (const [name, state, due] of rows) expect(state && scratchToClear(state), name).toEqual(due);
    expect(pendingEffects(failed, RETENTION_MS).map(({ name }) => name)).toContain("clear-scratch:0");
  });

  it("is used by a retry of the failed job: finished chunks are not repeated", () => {
    const retried = retryJob(deniedAt(joining()), 0);
    if (!retried) throw new Error("not restarted");
    expect([kindsOf(retried), viewJob(retried).ultrafast, activeWork(retried)]).toEqual([[], undefined, null]);
    const inspect = claim(retried);
    const chunking = videoChunking(SECONDS, "inspect-r1-1");
    const result = { kind: "inspect" as const, probe: videoProbe(SECONDS), chunking };
    const again = completeTask(inspect.state, inspect.id, result, NOW, 9);
    expect(kindsOf(again)).toEqual(["audio-r1"]);
    const join = claim(step(again)).given.task as TaskOf<"join">;
    expect(join.chunks.map(({ tracks }) => tracks[0]?.name)).toEqual(ALL.map((n) => `chunk-${n}-1/0-v.mp4`));
    expect(run(again).status).toBe("job.completed");
  });

  const other = videoChunking(SECONDS, "inspect-r1-1");
  it.each<[string, (state: JobState) => JobState, object]>([
    ["the folder is gone", (state) => closeScratch(state, 0), other],
    ["the source has other frames", (state) => state, { ...other, frames: 6001 }],
    [
      "the source has other bytes",
      (state) => state,
      { ...other, splitPoints: other.splitPoints.map(([a, b, c, d, e]) => [a, b, c, d, e + 1]) },
    ],
  ])("is not used when %s", (_, change, chunking) => {
    const retried = retryJob(change(deniedAt(joining())), 0);
    const inspect = claim(retried ?? checkedJob(spec));
    const report = { kind: "inspect", probe: videoProbe(SECONDS), chunking } as TaskResult;
    const again = completeTask(inspect.state, inspect.id, report, NOW, 2);
    expect(kindsOf(again).sort()).toEqual(["audio-r1", ...ALL.map((n) => `chunk-${n}-r1`)]);
    expect(again.chunkResults).toEqual({});
  });

  it("is used after a chunk failed permanently", () => {
    const half = step(step(run(inspected(), (kind) => kind === "chunk")));
    const { state, id } = claim(half);
    const fallen = failTask(state, id, { code: "watermark_failed", message: "It is not an image" }, NOW);
    const failed = deniedAt(fallen);
    expect(failed.status).toBe("job.failed");
    const retried = claim(retryJob(failed, 0) ?? checkedJob(spec));
    const report = { kind: "inspect", probe: videoProbe(SECONDS), chunking: other } as TaskResult;
    const again = completeTask(retried.state, retried.id, report, NOW);
    expect(kindsOf(again)).toEqual(["audio-r1", ...ALL.slice(2).map((n) => `chunk-${n}-r1`)]);
    expect(viewJob(again).ultrafast).toEqual({ chunks: ALL.length });
  });
});

it("ends the work on chunks when the job is cancelled", () => {
  const { state, given } = claim(run(inspected(), (kind) => kind === "chunk"));
  const cancelled = cancelJob(state, NOW);
  if (!cancelled) throw new Error("not cancelled");
  expect(cancelled.revoked).toEqual([given.lease]);
  expect(kindsOf(cancelled)).toEqual([]);
  expect(checkLease(cancelled, { lease: given.lease, token: given.token }).verdict).toBe("superseded");
  const retried = claim(retryJob(closeScratch(cancelled, 0), 0) ?? checkedJob(spec));
  expect(retried.given.lease).toBe(`${spec.id}.inspect-r1.1`);
});
