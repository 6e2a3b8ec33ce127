import { describe, expect, it } from "vitest";
import { LEASE_MS } from "#shared/protocol/leases.ts";
import { RETENTION_MS } from "../../settings.ts";
import {
  claim,
  encoding,
  failed,
  madeImages,
  madeVideo,
  NOW,
  recordUploads,
  upload,
  useSpec,
} from "../../testing/job-steps.ts";
import { pendingEffects } from "../effects/job-effects.ts";
import { madeReports } from "../state/remaining-outputs.ts";
import { viewJob } from "../views/job-view.ts";
import { expireLeases } from "./lost-leases.ts";
import { settleUploads } from "./output-reports.ts";
import { completeTask } from "./reports.ts";

useSpec();

describe("multipart uploads", () => {
  const multipart = { "0/1": upload("u-1"), "1/1": upload(), "1/2": upload() };

  it("completes uploads before their output is done", () => {
    const state = recordUploads(encoding(), "encode", multipart);
    const completing = completeTask(state, "encode", { kind: "encode", outputs: [madeVideo, madeImages] }, NOW);
    expect(completing.status).toBe("job.starting");
    expect(pendingEffects(completing, RETENTION_MS).map(({ name }) => name)).toContain("complete-uploads:encode:0");
    expect(expireLeases(completing, NOW + 100 * LEASE_MS)).toBe(completing);
    expect(viewJob(completing).outputs[1]?.status).toBe("image.created");
    const [waiting] = madeReports(completing.tasks[1] ?? { reports: [] });
    const settled = waiting && settleUploads(completing, { taskId: "encode", report: waiting, failure: null }, NOW);
    expect(settled?.status).toBe("job.completed");
    expect(settled?.orphans).toEqual([]);
  });

  it("aborts uploads of an expired lease when another node claims the task", () => {
    const lost = expireLeases(recordUploads(encoding(), "encode", multipart), NOW + LEASE_MS);
    expect(lost.orphans).toEqual([]);
    const { state } = claim(lost, "t3", NOW + LEASE_MS, "node-b");
    expect(state.orphans).toEqual([{ objectName: "out/240p.mp4", uploadId: "u-1" }]);
    expect(pendingEffects(state, RETENTION_MS).map(({ name }) => name)).toContain("abort-upload:u-1");
  });

  it("aborts uploads of a failed output when another output is done", () => {
    const state = recordUploads(encoding(), "encode", multipart);
    const reports = [failed(0, "storage_denied"), madeImages];
    const settled = completeTask(state, "encode", { kind: "encode", outputs: reports }, NOW);
    expect(settled).toMatchObject({ status: "job.failed", orphans: [{ uploadId: "u-1" }] });
  });
});
