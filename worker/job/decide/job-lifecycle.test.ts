import { describe, expect, it } from "vitest";
import { JOB_STATUSES, type JobMove, moveJob } from "#shared/job/job-status.ts";
import { LEASE_MS } from "#shared/protocol/leases.ts";
import type { OutputReport } from "#shared/protocol/reports.ts";
import { RETENTION_MS } from "../../settings.ts";
import {
  claim,
  encoding,
  file,
  madeImages,
  madeVideo,
  NOW,
  proof,
  recordUploads,
  SOURCE_URL,
  spec,
  statuses,
  UPLOADS,
  upload,
  useSpec,
} from "../../testing/job-steps.ts";
import { AUDIO_PROBE, checkedJob, newSpec, PROBE } from "../../testing/jobs.ts";
import { pendingEffects } from "../effects/job-effects.ts";
import type { JobState } from "../state/job-state.ts";
import { moveTask, TASK_PHASES, TASK_TABLE, type TaskMove } from "../state/task-table.ts";
import { jobPercent, viewJob } from "../views/job-view.ts";
import { retryJob } from "./client-moves.ts";
import { recordProgress } from "./leases.ts";
import { expireLeases } from "./lost-leases.ts";
import { completeTask } from "./reports.ts";
import { failTask } from "./task-ends.ts";

useSpec();

describe("the tables of moves", () => {
  it("allow exactly these moves of a task and a job", () => {
    const moves: TaskMove[] = ["claim", "renew", "release", "complete", "finish", "abandon"];
    const rows = TASK_PHASES.map((from) => `${from}: ${moves.map((move) => moveTask(from, move) ?? "-").join(" ")}`);
    expect([`task: ${moves.join(" ")}`, ...rows]).toMatchInlineSnapshot(`
      [
        "task: claim renew release complete finish abandon",
        "pending: leased leased - completing - failed",
        "leased: - leased pending completing done failed",
        "completing: - - pending - done failed",
        "done: - - - - - -",
        "failed: - - - - - -",
      ]
    `);
    expect(Object.keys(TASK_TABLE)).toEqual([...TASK_PHASES]);
    const jobMoves: JobMove[] = ["complete", "fail", "abort", "retry"];
    expect(JOB_STATUSES.map((from) => [from, ...jobMoves.map((move) => moveJob(from, move))])).toEqual([
      ["job.starting", "job.completed", "job.failed", "job.aborted", null],
      ["job.completed", null, null, null, null],
      ["job.failed", null, null, null, "job.starting"],
      ["job.aborted", null, null, null, "job.starting"],
    ]);
  });
});

describe("a job", () => {
  it("starts as the contract requires, with a single task: inspect", () => {
    const view = viewJob(checkedJob(spec));
    expect(view).toEqual({
      id: spec.id,
      created_at: "2026-01-02 03:04:05 +0000",
      completed_at: null,
      ends_at: null,
      status: "job.starting",
      state: "queued",
      progress: "0%",
      input: { status: "input.starting", source: "https://media.example.com/video.mp4" },
      outputs: [
        { key: "mp4:240p", type: "video", format: "mp4:240p", status: "video.waiting" },
        { key: "jpg:320x", type: "image", format: "jpg:320x", status: "image.waiting" },
      ],
    });
    expect(pendingEffects(checkedJob(spec), RETENTION_MS).map(({ name }) => name)).toEqual(["advertise:inspect"]);
  });

  it("is inspected, encoded and completed, with an event for each step", async () => {
    const eager = await newSpec({
      notification: { type: "http", url: "http://127.0.0.1:9/", events: true, metadata: true },
    });
    const inspecting = claim(checkedJob(eager), "t1", NOW, "node-a", "inspect");
    expect(inspecting.assignments).toEqual([
      {
        lease: `${eager.id}.inspect.1`,
        token: "t1",
        jobId: eager.id,
        kind: "inspect",
        slotClass: "inspect",
        round: 0,
        task: { kind: "inspect", sourceUrl: SOURCE_URL, chunking: null },
      },
    ]);
    const inspected = completeTask(inspecting.state, "inspect", { kind: "inspect", probe: PROBE }, NOW);
    expect(viewJob(inspected).input.status).toBe("input.transferred");
    expect(viewJob(inspected).outputs.map(({ status }) => status)).toEqual(["video.queued", "image.queued"]);

    const { state, assignments } = claim(inspected, "t2");
    expect(assignments[0]?.task).toMatchObject({ kind: "encode", probe: PROBE, outputs: [{ index: 0 }, { index: 1 }] });
    const item = { ...assignments[0], stage: "encoding", fraction: 0.5 } as never;
    const progressed = recordProgress(state, item, NOW).state;
    expect(viewJob(progressed).outputs.map(({ status }) => status)).toEqual(["video.encoding", "image.processing"]);
    expect(viewJob(progressed).progress).toBe("50%");

    const ended = completeTask(
      recordUploads(progressed, "encode", UPLOADS),
      "encode",
      { kind: "encode", outputs: [madeVideo, madeImages] },
      NOW + 5,
    );
    const completed_at = "1970-01-01 00:16:40 +0000";
    expect(viewJob(ended)).toMatchObject({ status: "job.completed", progress: "100%", completed_at });
    expect(viewJob(ended).outputs).toEqual([
      {
        key: "mp4:240p",
        type: "video",
        format: "mp4:240p",
        status: "video.encoded",
        url: "http://127.0.0.1:9/bucket/out/240p.mp4",
      },
      {
        key: "jpg:320x",
        type: "image",
        format: "jpg:320x",
        status: "image.created",
        urls: ["http://127.0.0.1:9/bucket/out/01.jpg", "http://127.0.0.1:9/bucket/out/02.jpg"],
      },
    ]);
    expect(ended.outbox.map(({ event, body }) => [event, JSON.parse(body).metadata])).toEqual([
      ["input.transferred", true],
      ["output.completed", true],
      ["output.completed", false],
      ["job.completed", true],
    ]);
    const last = JSON.parse(ended.outbox.at(-1)?.body ?? "");
    expect(last.data.outputs[0].metadata.format.filename).toBe("http://127.0.0.1:9/bucket/out/240p.mp4");
    expect(last.data.input.metadata.format.filename).toBe("https://media.example.com/video.mp4");
  });

  it("fails outputs that are impossible for the source, and makes the others", async () => {
    const mixed = await newSpec({ outputs: { "mp4:240p": { path: "a.mp4" }, "mp4:x:64k": { path: "a.m4a" } } });
    const inspecting = claim(checkedJob(mixed), "t1", NOW, "node-a", "inspect").state;
    const state = completeTask(inspecting, "inspect", { kind: "inspect", probe: AUDIO_PROBE }, NOW);
    expect(viewJob(state).outputs.map(({ status, error_code }) => [status, error_code])).toEqual([
      ["video.failed", "input_has_no_video"],
      ["video.queued", undefined],
    ]);
    expect(claim(state, "t2").assignments[0]?.task).toMatchObject({ outputs: [{ index: 1 }] });
  });

  it("skips outputs whose condition is false for the input", async () => {
    const outputs = {
      "mp4:240p": { path: "a.mp4", if: "{{ input.width }} >= 1280" },
      "mp4:1080p": { path: "b.mp4", if: "{{ input.width }} >= 1920" },
      "jpg:100x": { path: "c.jpg", if: "{{ input.is_audio_only }}" },
    };
    const inspecting = claim(checkedJob(await newSpec({ outputs })), "t1", NOW, "node-a", "inspect").state;
    const state = completeTask(inspecting, "inspect", { kind: "inspect", probe: PROBE }, NOW);
    expect(statuses(state)).toEqual(["video.queued", "video.skipped", "image.skipped"]);
    expect(claim(state, "t2").assignments[0]?.task).toMatchObject({ outputs: [{ index: 0 }] });

    const none = await newSpec({ outputs: { "mp4:240p": { path: "a.mp4", if: "false" } } });
    const restarted = claim(checkedJob(none), "t1", NOW, "node-a", "inspect").state;
    const ended = completeTask(restarted, "inspect", { kind: "inspect", probe: PROBE }, NOW);
    expect(viewJob(ended)).toMatchObject({ status: "job.completed", outputs: [{ status: "video.skipped" }] });
  });

  it("makes the first possible output of several with the same path", async () => {
    const outputs = {
      "mp4:hevc": { path: "a.mp4", if: "{{ input.width }} > 2000" },
      "mp4:720p": { path: "a.mp4", if: "{{ input.channels }} = 2" },
      "mp4:x:64k": { path: "a.mp4", if: "{{ input.width }} > 1000 OR {{ input.channels }} = 2" },
    };
    const shared = checkedJob(await newSpec({ outputs }));
    const inspected = (state: JobState, probe: typeof PROBE) =>
      completeTask(
        claim(state, "t1", NOW, "node-a", "inspect").state,
        state.tasks[0]?.id ?? "",
        { kind: "inspect", probe },
        NOW,
      );
    const clash = { error_code: "output_path_not_unique", error: expect.stringMatching(/`a.mp4`.* `mp4:720p`/) };
    const state = inspected(shared, PROBE);
    expect(viewJob(state).outputs).toMatchObject([
      { status: "video.skipped" },
      { status: "video.queued" },
      { status: "video.failed", ...clash },
    ]);
    // A source without video: the second output is not possible, so the third does not conflict with it.
    expect(viewJob(inspected(shared, AUDIO_PROBE)).outputs).toMatchObject([
      { status: "video.skipped" },
      { status: "video.failed", error_code: "input_has_no_video" },
      { status: "video.queued" },
    ]);
    const report: OutputReport = { status: "made", output: 1, files: [file(1, 1)], probe: PROBE };
    const encoding = recordUploads(claim(state, "t2").state, "encode", { "1/1": upload() });
    const ended = completeTask(encoding, "encode", { kind: "encode", outputs: [report] }, NOW);
    expect(viewJob(ended).status).toBe("job.failed");
    // A retry does not overwrite the stored output.
    const again = retryJob(ended, 0);
    expect(again && viewJob(inspected(again, PROBE)).outputs).toMatchObject([
      { status: "video.skipped" },
      { status: "video.encoded" },
      { status: "video.failed", ...clash },
    ]);
  });

  it("fails the input and the job, without a retry, when the source is not a media file", () => {
    const inspecting = claim(checkedJob(spec), "t1", NOW, "node-a", "inspect").state;
    const state = failTask(inspecting, "inspect", { code: "input_not_media", message: "This is no media file" }, NOW);
    expect(viewJob(state)).toMatchObject({
      status: "job.failed",
      progress: "100%",
      input: { status: "input.failed", error: "This is no media file", error_code: "input_not_media" },
      outputs: [{ status: "video.failed", error_code: "input_not_media" }, { status: "image.failed" }],
    });
    expect(state.outbox.map(({ event }) => event)).toEqual(["job.failed"]);
  });
});

describe("progress", () => {
  it("never decreases below a shown percentage, and is 100 only at the end", () => {
    const item = { ...proof("encode", 1, "t2"), stage: "encoding" as const, fraction: 0.8 };
    const state = recordProgress(encoding(), item, NOW).state;
    expect(jobPercent(state)).toBeGreaterThan(70);
    const withPercent = { ...state, shownPercent: jobPercent(state) };
    expect(jobPercent(expireLeases(withPercent, NOW + 10 * LEASE_MS))).toBe(jobPercent(withPercent));
    const uploading = recordProgress(state, { ...item, stage: "uploading", fraction: 1 }, NOW).state;
    expect(jobPercent(uploading)).toBe(99);
  });
});
