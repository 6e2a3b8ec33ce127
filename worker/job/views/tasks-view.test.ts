import { describe, expect, it } from "vitest";
import { MAX_ATTEMPTS, TaskList } from "#shared/api/task-responses.ts";
import { LEASE_MS } from "#shared/protocol/leases.ts";
import { ALL, claim, inspected, joining, NOW, run, step, useChunkedSpec } from "../../testing/chunked-jobs.ts";
import { cancelJob, retryJob } from "../decide/client-moves.ts";
import { recordProgress } from "../decide/leases.ts";
import { expireLeases } from "../decide/lost-leases.ts";
import { completeTask } from "../decide/reports.ts";
import { failTask } from "../decide/task-ends.ts";
import { endOthers } from "../state/attempt-log.ts";
import type { JobState } from "../state/job-state.ts";
import { changesSince, NOTHING_SENT, viewTasks } from "./tasks-view.ts";

useChunkedSpec();

const at = (ms: number): string => new Date(NOW + ms).toISOString();
const taskOf = (state: JobState, id: string) => viewTasks(state).tasks.find((task) => task.id === id);
const proofOf = ({ given }: ReturnType<typeof claim>) => ({ lease: given.lease, token: given.token });

/** A job with a chunk that a node has claimed: the first chunk, after the audio and the images. */
function withChunk(state = inspected()) {
  const others = run(state, (kind) => kind === "chunk");
  return claim(others, "b", NOW + 1000);
}

describe("the tasks of a job", () => {
  it("lists all chunks, in the order of the work", () => {
    const list = viewTasks(inspected());
    expect(TaskList.parse(list)).toEqual(list);
    expect(list.tasks.map(({ id }) => id)).toEqual(["inspect", "encode", "audio", ...ALL.map((n) => `chunk-${n}`)]);
    expect(list.tasks[0]).toMatchObject({ status: "completed", node: "a", ended_at: at(0), progress: 1 });
    const chunk = { number: 2, from_seconds: 24, to_seconds: 48 };
    expect(list.tasks[4]).toEqual({
      id: "chunk-1",
      kind: "chunk",
      outputs: ["mp4:240p", "httpstream"],
      status: "waiting",
      chunk,
      attempt: 0,
      progress: 0,
    });
  });

  it("shows the stage, progress and speed of each task", () => {
    const claimed = withChunk();
    const item = { ...proofOf(claimed), stage: "encoding", fraction: 0.25, fps: 120.5, speed: 4.82 } as const;
    const { state } = recordProgress(claimed.state, item, NOW + 2000);
    expect(taskOf(state, claimed.id)).toMatchObject({
      status: "running",
      node: "b",
      attempt: 1,
      started_at: at(1000),
      stage: "encoding",
      progress: 0.25,
      fps: 120.5,
      speed: 4.82,
    });
    const uploading = recordProgress(state, { ...proofOf(claimed), stage: "uploading", fraction: 0.5 }, NOW + 3000);
    expect(taskOf(uploading.state, claimed.id)).toMatchObject({ stage: "uploading", progress: 0.5 });
    expect(taskOf(uploading.state, claimed.id)).not.toHaveProperty("fps");
  });

  it("shows finished chunks with their average speed", () => {
    const state = joining();
    expect(taskOf(state, "chunk-0")).toMatchObject({
      status: "completed",
      node: "a",
      attempt: 1,
      progress: 1,
      started_at: at(0),
      ended_at: at(1000),
      // 24 s of 25 fps in 5 s.
      fps: 120,
      speed: 4.8,
    });
    expect(taskOf(state, "join")).toMatchObject({ status: "waiting", attempt: 0 });
    expect(viewTasks(run(state)).tasks.every(({ status }) => status === "completed")).toBe(true);
  });

  it("shows unfinished tasks as failed after the end of the job", () => {
    const { state } = withChunk();
    const cancelled = cancelJob(state, NOW + 5000);
    expect(cancelled && new Set(viewTasks(cancelled).tasks.map(({ status }) => status))).toEqual(
      new Set(["completed", "failed"]),
    );
  });

  it("starts the tasks again with a retry, and keeps earlier attempts", () => {
    const cancelled = cancelJob(joining(), NOW + 5000);
    const retried = cancelled && retryJob(cancelled, NOW + 6000);
    const list = retried && viewTasks(retried);
    expect(list?.tasks.map(({ id, status }) => [id, status])).toEqual([["inspect-r1", "waiting"]]);
    expect(list?.attempts.map(({ task }) => task)).toEqual(viewTasks(joining()).attempts.map(({ task }) => task));
  });
});

const atChunks = () => run(inspected(), (kind) => kind === "chunk");

describe("the attempts of a job", () => {
  const lastOf = (state: JobState) => viewTasks(state).attempts.at(-1);

  it.each<[string, (claimed: ReturnType<typeof withChunk>) => JobState, object]>([
    ["completed", () => step(atChunks(), "b", NOW + 1000, 500), {}],
    [
      "failed",
      ({ state, id }) => failTask(state, id, { code: "encoding_failed", message: "It broke" }, NOW + 1500),
      { reason: "It broke" },
    ],
    [
      "returned",
      ({ state, id }) => failTask(state, id, { code: "node_lost", message: "It stops" }, NOW + 1500),
      { reason: "It stops" },
    ],
    [
      "lost",
      ({ state }) => expireLeases(state, NOW + 1000 + LEASE_MS),
      { reason: "The node did not report again", ended_at: at(1000 + LEASE_MS) },
    ],
    [
      "cancelled",
      ({ state }) => endOthers(state, cancelJob(state, NOW + 1500) ?? state, NOW + 1500),
      { reason: "The job was cancelled" },
    ],
  ])("lists an ended attempt with its outcome: %s", (outcome, end, more) => {
    const attempt = { task: "chunk-0", kind: "chunk", attempt: 1, node: "b", started_at: at(1000), ended_at: at(1500) };
    expect(lastOf(end(withChunk()))).toEqual({ ...attempt, outcome, ...more });
  });

  it("supersedes an attempt when another attempt brings the result", () => {
    const { state } = withChunk();
    const other = { ...state.tasks.find(({ id }) => id === "chunk-0"), id: "chunk-0-spare", speculativeOf: "chunk-0" };
    const both = { ...state, tasks: [...state.tasks, other] } as JobState;
    const done = completeTask(both, "chunk-0", goodChunk(), NOW + 1500);
    expect(viewTasks(endOthers(both, done, NOW + 1500)).attempts).toMatchObject([
      ...Array.from({ length: 3 }, () => ({ outcome: "completed" })),
      { task: "chunk-0-spare", speculative_of: "chunk-0", outcome: "superseded" },
      { task: "chunk-0", outcome: "completed" },
    ]);
    const twice = endOthers(both, endOthers(both, done, NOW + 1500), NOW + 1500);
    expect(viewTasks(twice).attempts.filter(({ task }) => task.startsWith("chunk-0"))).toHaveLength(2);
  });

  function goodChunk() {
    const { given } = withChunk();
    const frames = given.task.kind === "chunk" ? given.task.chunk.frames : 0;
    const tracks = [
      { output: 0, track: "v" },
      { output: 2, track: "720p" },
      { output: 2, track: "360p" },
    ].map((track) => ({ ...track, name: `chunk-0-1/${track.output}-${track.track}.mp4`, sizeBytes: 7, frames }));
    return { kind: "chunk", tracks, encoder: "libx264 7.0", encodeMs: 5000 } as const;
  }

  it("does not list an attempt as lost if its node reports after all", () => {
    const claimed = withChunk();
    const lost = expireLeases(claimed.state, NOW + 1000 + LEASE_MS);
    const item = { ...proofOf(claimed), stage: "encoding", fraction: 0.25 } as const;
    const back = recordProgress(lost, item, NOW + 1000 + LEASE_MS + 1).state;
    expect(viewTasks(back).attempts.some(({ task }) => task === "chunk-0")).toBe(false);
    expect(taskOf(back, "chunk-0")).toMatchObject({ status: "running", attempt: 1 });
    const done = completeTask(back, "chunk-0", goodChunk(), NOW + LEASE_MS + 2000);
    expect(viewTasks(done).attempts.filter(({ task }) => task === "chunk-0")).toMatchObject([{ outcome: "completed" }]);
  });

  it("limits attempts in number and length, and drops the earliest", () => {
    let state = inspected();
    for (let n = 0; n < MAX_ATTEMPTS + 20; n++) {
      const { state: claimed, id } = claim(state, "b", NOW + 10_000 * n);
      const failure = { code: "node_busy", message: `${n} ${"x".repeat(2000)}` } as const;
      const task = claimed.tasks.find((candidate) => candidate.id === id);
      state = failTask({ ...claimed, tasks: claimed.tasks }, id, failure, NOW + 10_000 * n);
      if (!task) throw new Error("No task");
      state = { ...state, tasks: state.tasks.map((stored) => ({ ...stored, notBefore: 0, losses: 0, failures: 0 })) };
      if (state.status !== "job.starting") throw new Error(state.status);
    }
    const list = viewTasks(state);
    expect(list.attempts).toHaveLength(MAX_ATTEMPTS);
    expect(list.attempts_dropped).toBeGreaterThanOrEqual(20);
    expect(JSON.stringify(state.attempts).length).toBeLessThan(110_000);
  });
});

describe("the changes for a follower", () => {
  it("contain changed tasks, removed tasks and new attempts", () => {
    const claimed = withChunk();
    const first = changesSince(NOTHING_SENT, viewTasks(claimed.state));
    expect(first?.changes.tasks).toHaveLength(13);
    const sent = first?.sent ?? NOTHING_SENT;
    expect(changesSince(sent, viewTasks(claimed.state))).toBeNull();
    const item = { ...proofOf(claimed), stage: "encoding", fraction: 0.5 } as const;
    const moved = recordProgress(claimed.state, item, NOW + 2000).state;
    expect(changesSince(sent, viewTasks(moved))?.changes).toMatchObject({
      tasks: [{ id: "chunk-0", progress: 0.5 }],
      removed: [],
      attempts: [],
    });
    const gone = { ...moved, tasks: moved.tasks.filter(({ id }) => id !== "audio") };
    expect(changesSince(sent, viewTasks(gone))?.changes.removed).toEqual(["audio"]);
  });
});
