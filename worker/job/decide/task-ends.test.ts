import { describe, expect, it } from "vitest";
import type { ErrorCode } from "#shared/errors.ts";
import type { OutputReport } from "#shared/protocol/reports.ts";
import {
  claim,
  encoding,
  failed,
  file,
  madeImages,
  madeVideo,
  NOW,
  recordUploads,
  spec,
  UPLOADS,
  upload,
  useSpec,
} from "../../testing/job-steps.ts";
import { checkedJob } from "../../testing/jobs.ts";
import type { JobState } from "../state/job-state.ts";
import { viewJob } from "../views/job-view.ts";
import { expireLeases, loseSession } from "./lost-leases.ts";
import { completeTask } from "./reports.ts";
import { failTask } from "./task-ends.ts";
import { endOverdue, limitOf } from "./time-limits.ts";

useSpec();

describe("a task that its node returns", () => {
  const RETURNED = { code: "node_busy", message: "m" } as const;

  it("goes to another node, or waits, if there was no room for its source", () => {
    const back = failTask(encoding(), "encode", RETURNED, NOW);
    expect(back.tasks.find(({ id }) => id === "encode")).toMatchObject({
      phase: "pending",
      failures: 0,
      losses: 0,
      avoid: ["node-a"],
      notBefore: NOW + 15_000,
    });
    expect(back.outputs.map(({ phase }) => phase)).toEqual(["queued", "queued"]);
  });

  it("waits longer each time that no node has room, and its job ends after `start_within_s`", () => {
    const settings = { ...spec.settings, startWithinMs: 86_400_000 };
    let state: JobState = { ...checkedJob({ ...spec, createdAt: NOW, settings }), startedAt: NOW };
    let [now, leases] = [NOW, 0];
    while (state.status === "job.starting") {
      state = failTask(claim(state, `t${leases}`, now, "node-a", "inspect").state, "inspect", RETURNED, now + 1000);
      leases += 1;
      now = Math.min(state.tasks[0]?.notBefore ?? 0, limitOf(state)?.at ?? 0);
      state = endOverdue(state, now);
    }
    expect([now - NOW, leases]).toEqual([86_401_000, 300]);
    const error = "No encoder node took the work of this job within 86400 s: m";
    expect(viewJob(state)).toMatchObject({ status: "job.failed", input: { error_code: "job_not_started", error } });
  });
});

describe("failures", () => {
  it.each(["encoding_failed", "encoder_not_available"] as const)(
    "retries only the failed output (%s), on another node, and fails it after the second failure",
    (code) => {
      const state = recordUploads(encoding(), "encode", UPLOADS);
      const once = completeTask(state, "encode", { kind: "encode", outputs: [failed(0, code), madeImages] }, NOW);
      expect(viewJob(once)).toMatchObject({
        status: "job.starting",
        outputs: [{ status: "video.queued" }, { status: "image.created" }],
      });
      expect(once.tasks[1]).toMatchObject({ phase: "pending", outputs: [0], avoid: ["node-a"], failures: 1 });
      expect(claim(once, "t3").assignments).toEqual([]);
      const again = claim(once, "t3", NOW + 1000, "node-b");
      expect(again.assignments[0]?.task).toMatchObject({ outputs: [{ index: 0 }] });
      const twice = completeTask(again.state, "encode", { kind: "encode", outputs: [failed(0, code)] }, NOW + 2000);
      expect(viewJob(twice)).toMatchObject({
        status: "job.failed",
        outputs: [{ status: "video.failed", error: "It broke", error_code: code }, { status: "image.created" }],
      });
    },
  );

  it("shows which encoder made an output", () => {
    const note = "Encoded in software, because the hardware encoder h264_nvenc was busy.";
    const report: OutputReport = { ...madeVideo, encoder: "libx264", note };
    const state = recordUploads(encoding(), "encode", UPLOADS);
    const done = completeTask(state, "encode", { kind: "encode", outputs: [report, madeImages] }, NOW);
    const [video, images] = viewJob(done).outputs;
    expect(video).toMatchObject({ status: "video.encoded", encoder: "libx264", note });
    expect(images).not.toHaveProperty("encoder");
  });

  it("retries an unreachable source with increasing pauses, about 40 s in total, and no other failure", () => {
    const pauses = (code: ErrorCode): number[] => {
      let state = claim(checkedJob(spec), "t0", NOW, "node-a", "inspect").state;
      const waited: number[] = [];
      for (let now = NOW; ; ) {
        state = failTask(state, "inspect", { code, message: "unreachable" }, now);
        const [task] = state.tasks;
        if (task?.phase !== "pending") return waited;
        waited.push(task.notBefore - now);
        now = task.notBefore;
        state = claim(state, `t${now}`, now, "node-a", "inspect").state;
      }
    };
    expect(pauses("input_unreachable")).toEqual([5000, 10_000, 20_000]);
    expect(pauses("input_http_503")).toEqual([5000, 10_000, 20_000]);
    expect(pauses("input_timeout")).toEqual([1000]);
    expect(pauses("input_http_404")).toEqual([]);
    expect(pauses("input_host_not_found")).toEqual([]);
  });

  it("gives work that hung a node to only one further node, and counts lost leases separately", () => {
    const hung = { code: "node_failed", message: "stopped responding" } as const;
    let state = claim(checkedJob(spec), "t1", NOW, "node-a", "inspect").state;
    state = loseSession(failTask(state, "inspect", hung, NOW), { session: "s-node-a", hasEnded: true }, NOW);
    state = expireLeases(state, NOW);
    expect(state.tasks[0]).toMatchObject({ phase: "pending", failures: 1, losses: 0, blamed: ["node-a"] });
    state = claim(state, "t2", NOW + 1000, "node-b", "inspect").state;
    state = expireLeases(loseSession(state, { session: "s-node-b", hasEnded: true }, NOW + 1000), NOW + 1000);
    expect(state.tasks[0]).toMatchObject({ phase: "pending", failures: 1, losses: 1 });
    state = failTask(claim(state, "t3", NOW + 2000, "node-c", "inspect").state, "inspect", hung, NOW + 2000);
    expect(viewJob(state)).toMatchObject({ status: "job.failed", input: { error_code: "node_failed" } });
  });

  it("does not retry a failure of the storage", () => {
    const state = completeTask(
      encoding(),
      "encode",
      { kind: "encode", outputs: [failed(0, "storage_denied"), failed(1, "storage_denied")] },
      NOW,
    );
    expect(viewJob(state)).toMatchObject({ status: "job.failed", outputs: [{ error_code: "storage_denied" }, {}] });
  });

  it("does not accept a file whose upload was not signed, or that has another size", () => {
    const signed = recordUploads(encoding(), "encode", { "0/1": upload(), "1/1": upload() });
    const wrongSize = { ...madeVideo, files: [{ ...file(0, 1), sizeBytes: 6 }] };
    const once = completeTask(signed, "encode", { kind: "encode", outputs: [wrongSize, madeImages] }, NOW);
    expect(once.tasks[1]).toMatchObject({ phase: "pending", outputs: [0, 1], failures: 1 });
  });

  it("retries an output that the node did not report", () => {
    const state = recordUploads(encoding(), "encode", UPLOADS);
    const once = completeTask(state, "encode", { kind: "encode", outputs: [madeVideo] }, NOW);
    expect(once.tasks[1]).toMatchObject({ phase: "pending", outputs: [1] });
  });
});
