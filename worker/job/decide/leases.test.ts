import { describe, expect, it } from "vitest";
import { LEASE_MS, OFFER_MS } from "#shared/protocol/leases.ts";
import type { JobSpec } from "../../rpc/job-spec.ts";
import { RETENTION_MS } from "../../settings.ts";
import {
  claim,
  encoding,
  madeImages,
  madeVideo,
  NOW,
  proof,
  recordUploads,
  SOURCE_URL,
  spec,
  UPLOADS,
  useSpec,
} from "../../testing/job-steps.ts";
import { checkedJob, newSpec, PROBE } from "../../testing/jobs.ts";
import { nextAlarmAt } from "../effects/job-effects.ts";
import { checkLease } from "../state/check-lease.ts";
import type { JobState } from "../state/job-state.ts";
import { MAX_LOSSES } from "../state/task-state.ts";
import { viewJob } from "../views/job-view.ts";
import { claimTasks, renewLease } from "./leases.ts";
import { expireLeases } from "./lost-leases.ts";
import { completeTask } from "./reports.ts";
import { failTask } from "./task-ends.ts";

useSpec();

describe("leases", () => {
  it("leases a task only once", () => {
    const first = claim(checkedJob(spec), "t1", NOW, "node-a", "inspect");
    expect(claim(first.state, "t2", NOW, "node-b", "inspect").assignments).toEqual([]);
    expect(claim(checkedJob(spec), "t1", NOW, "node-a", "encode").assignments).toEqual([]);
  });

  it("returns the same leases for a repeated claim", () => {
    const state = completeTask(
      claim(checkedJob(spec), "t1", NOW, "node-a", "inspect").state,
      "inspect",
      { kind: "inspect", probe: PROBE },
      NOW,
    );
    const secrets = { sourceUrl: SOURCE_URL, streamKeys: new Map(), chunking: null };
    const request = { nodeId: "node-a", session: "s-node-a", slotClass: "encode", max: 1, ...secrets } as const;
    const first = claimTasks(state, { ...request, requestId: "r1", newToken: () => "t2" }, NOW);
    const again = claimTasks(first.state, { ...request, requestId: "r1", newToken: () => "t3" }, NOW + 1);
    expect(again.assignments).toEqual(first.assignments);
    expect(again.state).toBe(first.state);
    const other = claimTasks(first.state, { ...request, requestId: "r2", newToken: () => "t4" }, NOW + 1);
    expect([first.assignments.length, other.assignments.length]).toEqual([1, 0]);
  });

  const options = { acl: null, storageClass: null, cacheControl: null, expires: null };
  const bucket = { kind: "s3", bucket: "b", region: "r", addressing: "path", path: "", options, secure: true } as const;
  const azure = { kind: "azure", account: "a", container: "c", path: "", cacheControl: null } as const;
  it.each<[string, JobSpec["storage"], string | null]>([
    ["a bucket", { ...bucket, endpoint: "https://s3.example.com" }, "https://s3.example.com/b"],
    ["a container", { ...azure, endpoint: "https://a.example.com" }, "https://a.example.com/c"],
    ["a bucket at a private address", { ...bucket, endpoint: "http://10.1.2.3" }, null],
    ["the service's own storage", { kind: "builtin", origin: "https://copra.test", path: "" }, null],
    ["a receiver of uploads", { kind: "http", url: "https://up.example.com/in" }, null],
    ["a folder", { kind: "folder", folder: "media", path: "" }, null],
  ])("names the public playlists of the streams of a task: %s", async (_, storage, base) => {
    const stream = { path: "s", hls: { path: "h" }, dash: { path: "d" }, variants: ["mp4:240p"] };
    const outputs = { "mp4:240p": { path: "a.mp4" }, httpstream: stream };
    const streamed = { ...(await newSpec({ outputs })), storage };
    const inspecting = claim(checkedJob(streamed), "t1", NOW, "node-a", "inspect");
    const inspected = completeTask(inspecting.state, "inspect", { kind: "inspect", probe: PROBE }, NOW);
    const [encode] = claim(inspected, "t2").assignments;
    expect(inspecting.assignments[0]).not.toHaveProperty("playlists");
    expect(encode?.playlists).toEqual(
      base === null
        ? undefined
        : [
            { output: 1, format: "hls", url: `${base}/s/h/master.m3u8` },
            { output: 1, format: "dash", url: `${base}/s/d/master.mpd` },
          ],
    );
  });

  it("distinguishes current, superseded and repeated reports", () => {
    const state = encoding();
    const done = completeTask(
      recordUploads(state, "encode", UPLOADS),
      "encode",
      { kind: "encode", outputs: [madeVideo, madeImages] },
      NOW,
    );
    const rows: [JobState, string, number, string, string][] = [
      [state, "encode", 1, "t2", "current"],
      [state, "encode", 1, "wrong", "superseded"],
      [state, "encode", 2, "t2", "superseded"],
      [state, "other", 1, "t2", "superseded"],
      [state, "inspect", 1, "t1", "repeat"],
      [done, "encode", 1, "t2", "repeat"],
    ];
    for (const [of, task, attempt, token, verdict] of rows) {
      expect(checkLease(of, proof(task, attempt, token)).verdict, `${task} ${attempt} ${token}`).toBe(verdict);
    }
  });

  it("keeps a lease while it is renewed; then another node gets the task", () => {
    const state = encoding();
    expect(nextAlarmAt({ ...state, indexedVersion: state.version }, () => 0, RETENTION_MS)).toBe(NOW + OFFER_MS);
    const renewed = renewLease(state, proof("encode", 1, "t2"), NOW + 5000).state;
    expect(expireLeases(renewed, NOW + 5000 + LEASE_MS - 1)).toBe(renewed);
    const lost = expireLeases(renewed, NOW + 5000 + LEASE_MS);
    expect(lost.tasks[1]).toMatchObject({ phase: "pending", losses: 1, failures: 0, avoid: ["node-a"] });
    const { state: elsewhere } = claim(lost, "t3", NOW + 5000 + LEASE_MS, "node-b");
    expect(checkLease(elsewhere, proof("encode", 1, "t2")).verdict).toBe("superseded");
    expect(checkLease(elsewhere, proof("encode", 2, "t3")).verdict).toBe("current");
  });

  it("renews an expired lease while no other node has the task", () => {
    const lost = expireLeases(recordUploads(encoding(), "encode", UPLOADS), NOW + LEASE_MS);
    const revived = renewLease(lost, proof("encode", 1, "t2"), NOW + LEASE_MS + 5);
    expect(revived.verdict).toBe("current");
    const result = { kind: "encode" as const, outputs: [madeVideo, madeImages] };
    const ended = completeTask(revived.state, "encode", result, NOW + LEASE_MS + 5);
    expect(ended.status).toBe("job.completed");
  });

  it("fails the task when too many nodes are lost", () => {
    let state = encoding();
    for (let loss = 1; loss <= MAX_LOSSES; loss++) {
      state = claim(expireLeases(state, NOW + loss * LEASE_MS), `r${loss}`, NOW + loss * LEASE_MS).state;
      expect(state.status).toBe("job.starting");
    }
    state = expireLeases(state, NOW + 100 * LEASE_MS);
    expect(viewJob(state)).toMatchObject({
      status: "job.failed",
      outputs: [{ error_code: "node_lost" }, { error_code: "node_lost" }],
    });
  });

  it("counts returned leases as neither failures nor losses, until the same node returns the task again", () => {
    const returnIt = (held: JobState): JobState =>
      failTask(held, "encode", { code: "node_lost", message: "returned" }, NOW);
    let state = returnIt(encoding());
    expect(state.tasks[1]).toMatchObject({ phase: "pending", losses: 0, failures: 0 });
    expect(state.outputs).toMatchObject([{ phase: "queued" }, { phase: "queued" }]);
    expect(checkLease(state, proof("encode", 1, "t2")).verdict).toBe("superseded");
    for (let node = 1; node <= MAX_LOSSES + 1; node++)
      state = returnIt(claim(state, `r${node}`, NOW, `n${node}`).state);
    expect(state.tasks[1]).toMatchObject({ phase: "pending", losses: 0 });
    state = returnIt(claim(state, "again", NOW, "n1").state);
    expect(state.tasks[1]).toMatchObject({ phase: "pending", losses: 1 });
  });

  it("limits how often a task is passed on, and remembers only the last nodes", () => {
    let state = encoding();
    for (let node = 1; state.tasks[1]?.phase === "leased" && node < 100; node++) {
      state = failTask(state, "encode", { code: "node_lost", message: "returned" }, NOW);
      expect(state.tasks[1]?.avoid.length).toBeLessThanOrEqual(16);
      if (state.tasks[1]?.phase === "pending") state = claim(state, `r${node}`, NOW, `n${node}`).state;
    }
    expect(state.tasks[1]).toMatchObject({ phase: "failed", attempt: 50 + MAX_LOSSES + 1 });
    expect(state.tasks[1]?.avoid.at(-1)).toBe(`n${50 + MAX_LOSSES}`);
    expect(viewJob(state)).toMatchObject({ status: "job.failed", outputs: [{ error_code: "node_lost" }, {}] });
  });
});
