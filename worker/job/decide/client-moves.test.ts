import { describe, expect, it } from "vitest";
import { RETENTION_MS } from "../../settings.ts";
import {
  claim,
  encoding,
  failed,
  madeImages,
  madeVideo,
  NOW,
  proof,
  recordUploads,
  spec,
  statuses,
  UPLOADS,
  upload,
  useSpec,
} from "../../testing/job-steps.ts";
import { checkedJob, PROBE } from "../../testing/jobs.ts";
import { pendingEffects } from "../effects/job-effects.ts";
import { checkLease } from "../state/check-lease.ts";
import { viewJob } from "../views/job-view.ts";
import { cancelJob, retryJob } from "./client-moves.ts";
import { completeTask } from "./reports.ts";
import { failTask } from "./task-ends.ts";

useSpec();

describe("a cancelled job", () => {
  it("keeps finished outputs, aborts the others, and notifies its nodes", () => {
    const state = recordUploads(encoding(), "encode", { ...UPLOADS, "0/1": upload("u-1") });
    const cancelled = cancelJob(state, NOW + 5);
    expect(cancelled && viewJob(cancelled)).toMatchObject({
      status: "job.aborted",
      progress: "100%",
      outputs: [{ status: "video.aborted", error_code: "cancelled" }, { status: "image.aborted" }],
    });
    const revoked = [`${spec.id}.encode.1`];
    expect(cancelled).toMatchObject({ revoked, orphans: [{ uploadId: "u-1" }], completedAt: NOW + 5 });
    expect(cancelled && pendingEffects(cancelled, RETENTION_MS).map(({ name }) => name)).toEqual(
      expect.arrayContaining(["revoke", "abort-upload:u-1", "index"]),
    );
    expect(cancelled && checkLease(cancelled, proof("encode", 1, "t2")).verdict).toBe("superseded");
    expect(cancelled && cancelJob(cancelled, NOW)).toBeNull();
    expect(cancelled && claim(cancelled, "t9").assignments).toEqual([]);
  });

  it("keeps outputs that an unfinished task has made", () => {
    const state = recordUploads(encoding(), "encode", UPLOADS);
    const outputs = [failed(0, "encoding_failed"), madeImages];
    const half = completeTask(state, "encode", { kind: "encode", outputs }, NOW);
    const cancelled = cancelJob(half, NOW);
    expect(cancelled && statuses(cancelled)).toEqual(["video.aborted", "image.created"]);
  });
});

describe("a retried job", () => {
  it("repeats only its unfinished outputs, with new leases", () => {
    const uploads = recordUploads(encoding(), "encode", UPLOADS);
    const reports = [failed(0, "storage_denied"), madeImages];
    const ended = completeTask(uploads, "encode", { kind: "encode", outputs: reports }, NOW);
    const restarted = retryJob({ ...ended, shownPercent: 99 }, 0);
    if (!restarted) throw new Error("not restarted");
    expect(viewJob(restarted)).toMatchObject({
      status: "job.starting",
      completed_at: null,
      ends_at: null,
      progress: "0%",
      input: { status: "input.starting" },
      outputs: [{ status: "video.waiting" }, { status: "image.created", urls: [{}, {}] }],
    });
    expect(viewJob(restarted).outputs[0]).not.toHaveProperty("error");
    const inspect = claim(restarted, "r1", NOW, "node-b", "inspect");
    expect(inspect.assignments[0]).not.toHaveProperty("trace");
    expect(inspect.assignments[0]?.lease).toBe(`${spec.id}.inspect-r1.1`);
    const inspected = completeTask(inspect.state, "inspect-r1", { kind: "inspect", probe: PROBE }, NOW);
    const encode = claim(inspected, "r2");
    expect(encode.assignments[0]).toMatchObject({ lease: `${spec.id}.encode-r1.1`, task: { outputs: [{ index: 0 }] } });
    expect(checkLease(encode.state, proof("encode", 1, "t2")).verdict).toBe("superseded");
    const signed = recordUploads(encode.state, "encode-r1", { "0/1": upload() });
    const done = completeTask(signed, "encode-r1", { kind: "encode", outputs: [madeVideo] }, NOW);
    expect(done.status).toBe("job.completed");
    expect(done.outbox.map(({ event }) => event)).toEqual(["job.failed", "job.completed"]);
  });

  it("joins the trace of the retry or, without a trace, keeps its own", () => {
    const [first, second] = [1, 2].map((at) => ({ traceparent: `00-${String(at).repeat(32)}-00f067aa0ba902b7-01` }));
    if (!first || !second) throw new Error("no traces");
    const traced = checkedJob({ ...spec, trace: first });
    expect(claim(traced, "t1", NOW, "node-a", "inspect").assignments[0]?.trace).toEqual(first);
    const cancelled = cancelJob(traced, NOW);
    expect(cancelled && retryJob(cancelled, NOW)?.spec.trace).toEqual(first);
    expect(cancelled && retryJob(cancelled, NOW, second)?.spec.trace).toEqual(second);
  });

  it("can be retried after a failed input or a cancellation, but not while it runs or when all is done", () => {
    const inspecting = claim(checkedJob(spec), "t1", NOW, "node-a", "inspect").state;
    const failedInput = failTask(inspecting, "inspect", { code: "input_not_media", message: "No" }, NOW);
    const restarted = retryJob(failedInput, 0);
    expect(restarted && viewJob(restarted)).toMatchObject({
      input: { status: "input.starting" },
      outputs: [{ status: "video.waiting" }, {}],
    });
    expect(restarted && viewJob(restarted).input).not.toHaveProperty("error");
    const cancelled = cancelJob(inspecting, NOW);
    expect(cancelled && retryJob(cancelled, 0)?.status).toBe("job.starting");
    expect(retryJob(inspecting, 0)).toBeNull();
    const done = completeTask(
      recordUploads(encoding(), "encode", UPLOADS),
      "encode",
      { kind: "encode", outputs: [madeVideo, madeImages] },
      NOW,
    );
    expect(retryJob(done, 0)).toBeNull();
  });
});
