// Streams that are played while their chunks are encoded: their join starts with the first chunk.
import { describe, expect, it } from "vitest";
import type { LeaseId } from "#shared/ids.ts";
import { LEASE_MS } from "#shared/protocol/leases.ts";
import type { TaskOf } from "#shared/protocol/tasks.ts";
import {
  ALL,
  claim,
  good,
  inspected,
  kindsOf,
  NOW,
  OUTPUTS,
  run,
  STREAM,
  statuses,
  step,
  upload,
} from "../../testing/chunked-jobs.ts";
import { newSpec } from "../../testing/jobs.ts";
import { renewLease } from "../decide/leases.ts";
import { expireLeases } from "../decide/lost-leases.ts";
import { completeTask } from "../decide/reports.ts";
import { failTask } from "../decide/task-ends.ts";
import { limitOf } from "../decide/time-limits.ts";
import type { JobState } from "../state/job-state.ts";
import { MAX_LOSSES } from "../state/task-state.ts";
import { endedLeaseMs } from "../state/used.ts";
import { viewJob } from "../views/job-view.ts";
import { finishedChunks } from "./chunk-work.ts";

const LIVE = { ...OUTPUTS, httpstream: { ...STREAM, live_playlist: true } };
/** A job whose audio and first chunk are done. */
async function begun(outputs: object = LIVE): Promise<JobState> {
  const spec = await newSpec({ settings: { ultrafast: true }, outputs });
  return step(run(inspected(spec), (kind) => kind === "chunk"));
}
const MISMATCH = { code: "chunk_mismatch", message: "A chunk has no track" } as const;

describe("an early join", () => {
  it("starts with the first chunk, gets the others as they are done, and ends the job", async () => {
    const { state, given, id } = claim(await begun());
    expect(id).toBe("join-early");
    const { chunks } = given.task as TaskOf<"join">;
    expect(chunks.map(({ tracks }) => tracks.length)).toEqual([3, ...ALL.slice(1).map(() => 0)]);
    const task = { outputs: [0, 2] };
    expect(finishedChunks(state, task, 0)).toEqual([chunks[0]?.tracks]);
    expect(finishedChunks(state, task, 1)).toEqual([]);
    // The third chunk is done before the second.
    const second = claim(state, "b");
    const third = step(second.state, "c");
    expect(finishedChunks(third, task, 1)).toEqual([]);
    const both = completeTask(third, second.id, good(second.given), NOW + 1000);
    expect(finishedChunks(both, task, 1)).toHaveLength(2);
    const whole = run(both);
    expect(finishedChunks(whole, task, 0)).toHaveLength(ALL.length);
    expect(kindsOf(whole)).toEqual([]);
    const ended = completeTask(upload(whole, id), id, good(given), NOW + 9000);
    expect(ended.status).toBe("job.completed");
    // Its wait does not count. The last chunk was done 1 s after the other chunks started.
    expect(endedLeaseMs(whole.tasks, ended.tasks, NOW + 9000)).toBe(8000);
    expect(endedLeaseMs(both.tasks, [], NOW + 9000)).toBe(0);
  });

  it("is not for jobs without a growing playlist", async () => {
    expect(kindsOf(await begun(OUTPUTS))[0]).toBe("chunk-1");
    const waiting = await begun();
    expect(kindsOf(waiting)[0]).toBe("join-early");
  });

  it("gets chunks in time order; other jobs start with the longest chunk, here the last", async () => {
    const firstOf = async (outputs: object): Promise<string | undefined> => {
      const state = inspected(await newSpec({ settings: { ultrafast: true }, outputs }), { seconds: 250 });
      return kindsOf(run(state, (kind) => kind === "chunk"))[0];
    };
    expect(await firstOf(LIVE)).toBe("chunk-0");
    expect(await firstOf(OUTPUTS)).toMatch(/^chunk-[1-9]/);
  });

  it("starts again on another node after a loss, and late after too many losses", async () => {
    let next = await begun();
    for (let at = 1; at <= MAX_LOSSES + 1; at++) {
      const taken = claim(next, `n${at}`, NOW + at * LEASE_MS);
      expect(taken.id).toBe("join-early");
      next = expireLeases(taken.state, NOW + (at + 1) * LEASE_MS);
    }
    expect(kindsOf(next)).not.toContain("join-early");
    expect(statuses(next)[2]).toBe("httpstream.variants.encoding");
    expect(kindsOf(run(next, (kind) => kind === "join"))).toEqual(["join"]);
  });

  it("is done late after two failures, and keeps the chunks", async () => {
    const once = claim(await begun());
    const again = claim(failTask(once.state, once.id, MISMATCH, NOW), "b", NOW + 2000);
    expect([again.id, again.given.lease]).toEqual(["join-early", expect.stringMatching(/\.2$/)]);
    const late = failTask(again.state, again.id, MISMATCH, NOW + 2000);
    expect(kindsOf(late)[0]).toBe("chunk-1");
    expect(viewJob(late).ultrafast).toEqual({ chunks: ALL.length });
    const ready = run(late, (kind) => kind === "join");
    const last = claim(ready);
    expect(last.given.lease).toMatch(/\.join\.1$/);
    expect(completeTask(upload(last.state, last.id), last.id, good(last.given), NOW).status).toBe("job.completed");
  });

  it("goes to another node without blame if a node has no room, and is done late if none has room", async () => {
    let next = await begun();
    for (let at = 1; at <= 3; at++) {
      const { state, id } = claim(next, `n${at}`, NOW + at * 60_000);
      expect(id).toBe("join-early");
      next = failTask(state, id, { code: "node_busy", message: "Too many wait here" }, NOW + at * 60_000);
    }
    expect(next.tasks.find(({ id }) => id === "join-early")).toMatchObject({
      phase: "pending",
      failures: 0,
      blamed: [],
      avoid: ["n1", "n2", "n3"],
    });
    // A node that had no room for the join gets it again only when all chunks have a node.
    let last = claim(next, "n2", NOW + 600_000);
    while (last.id.startsWith("chunk")) last = claim(last.state, "n2", NOW + 600_000);
    expect(last.id).toBe("join-early");
    const late = failTask(last.state, last.id, { code: "node_busy", message: "Too many wait here" }, NOW + 600_000);
    expect(kindsOf(late)).not.toContain("join-early");
    expect(late.chunks?.mayJoinEarly).toBe(false);
  });

  it("does not keep a job alive while it waits for chunks that no node takes", async () => {
    const { state, given } = claim(await begun());
    const proof = { lease: given.lease as LeaseId, token: given.token };
    const limit = limitOf(state);
    expect(limit?.failure.code).toBe("job_not_started");
    const renewed = renewLease(state, proof, state.spec.createdAt + 500_000).state;
    expect(limitOf(renewed)).toEqual(limit);
    expect(limitOf(claim(renewed, "b").state)).toBeNull();
  });

  it("cannot complete before all chunks are done", async () => {
    const { state, given, id } = claim(await begun());
    const early = completeTask(upload(state, id), id, good(given), NOW);
    expect(statuses(early)[2]).toBe("httpstream.variants.encoding");
    expect(early.tasks.find((task) => task.id === id)).toMatchObject({ phase: "pending", failures: 1 });
  });

  it("is cancelled if its job is not encoded in chunks after all", async () => {
    const { state, given } = claim(await begun());
    const chunk = claim(state, "b");
    const fallen = failTask(chunk.state, chunk.id, { code: "watermark_failed", message: "It is no image" }, NOW);
    expect(fallen.revoked).toContain(given.lease as LeaseId);
    expect(kindsOf(fallen)).toEqual(["encode-whole"]);
  });
});
