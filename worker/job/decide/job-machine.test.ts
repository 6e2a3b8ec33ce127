import { beforeAll, describe, expect, it } from "vitest";
import type { ErrorCode } from "#shared/errors.ts";
import { JOB_STATUSES, type JobMove, moveJob } from "#shared/job/job-status.ts";
import { LEASE_MS, OFFER_MS } from "#shared/protocol/leases.ts";
import type { OutputReport } from "#shared/protocol/reports.ts";
import type { JobSpec } from "../../rpc/job-spec.ts";
import { RETENTION_MS } from "../../settings.ts";
import { AUDIO_PROBE, checkedJob, newSpec, PROBE } from "../../testing/jobs.ts";
import { nextAlarmAt, pendingEffects } from "../effects/job-effects.ts";
import { checkLease } from "../state/check-lease.ts";
import type { JobState } from "../state/job-state.ts";
import { madeReports } from "../state/remaining-outputs.ts";
import { MAX_LOSSES } from "../state/task-state.ts";
import { moveTask, TASK_PHASES, TASK_TABLE, type TaskMove } from "../state/task-table.ts";
import { recordUpload } from "../uploads/sign-uploads.ts";
import { jobPercent, viewJob } from "../views/job-view.ts";
import { cancelJob, retryJob } from "./client-moves.ts";
import { claimTasks, expireLeases, recordProgress, renewLease, shortenLeases } from "./leases.ts";
import { settleUploads } from "./output-reports.ts";
import { completeTask } from "./reports.ts";
import { failTask } from "./task-ends.ts";

const SOURCE_URL = "https://media.example.com/film.mp4";
const NOW = 1_000_000;
let spec: JobSpec;
beforeAll(async () => {
  spec = await newSpec();
});

const claim = (
  state: JobState,
  token: string,
  now = NOW,
  nodeId = "node-a",
  slotClass: "inspect" | "encode" = "encode",
) =>
  claimTasks(
    state,
    {
      nodeId,
      session: `s-${nodeId}`,
      slotClass,
      max: 4,
      tokens: [token],
      sourceUrl: SOURCE_URL,
      streamKeys: new Map(),
      chunking: null,
    },
    now,
  );

/** A job whose source was inspected, and whose encode task a node has taken with token `t2`. */
function encoding(of: JobSpec = spec): JobState {
  const inspecting = claim(checkedJob(of), "t1", NOW, "node-a", "inspect").state;
  return claim(completeTask(inspecting, "inspect", { kind: "inspect", probe: PROBE }, NOW), "t2").state;
}

const proof = (task: string, attempt: number, token: string) => ({
  lease: `${spec.id}.${task}.${attempt}` as never,
  token,
});
const upload = (uploadId: string | null = null) => ({ sizeBytes: 5, partCount: 1, uploadId });
const recordUploads = (state: JobState, task: string, uploads: Record<string, ReturnType<typeof upload>>): JobState =>
  Object.entries(uploads).reduce((next, [key, signed]) => {
    const [output, number] = key.split("/").map(Number);
    return recordUpload(next, task, { output: output ?? 0, file: number ?? 0 }, signed);
  }, state);
const file = (output: number, file: number) => ({ output, file, sizeBytes: 5, etags: ['"e"'] });
const madeVideo: OutputReport = { status: "made", output: 0, files: [file(0, 1)], probe: PROBE };
const madeImages: OutputReport = { status: "made", output: 1, files: [file(1, 2), file(1, 1)], probe: null };
const failed = (
  output: number,
  code: "encoding_failed" | "encoder_not_available" | "storage_denied",
): OutputReport => ({
  status: "failed",
  output,
  failure: { code, message: "It broke" },
});
const UPLOADS = { "0/1": upload(), "1/1": upload(), "1/2": upload() };

describe("a task that its node gives back", () => {
  const GIVEN = { message: "m" } as const;

  it("waits at the end of the turn, for the node that has a part of its source, and has lost no attempt", () => {
    const taken = claim(checkedJob(spec), "t1", NOW, "node-a", "inspect").state;
    const back = failTask(taken, "inspect", { ...GIVEN, code: "turn_over" }, NOW + 5);
    expect(back.tasks[0]).toMatchObject({
      ...{ phase: "pending", failures: 0, losses: 0, avoid: [], yieldedAt: NOW + 5, notBefore: NOW + 5, grant: null },
    });
    expect([back.sourceNode, back.advertisedAt.inspect]).toEqual(["node-a", null]);
  });

  it("goes to another node, or comes later, when there was no room for its source", () => {
    const back = failTask(encoding(), "encode", { ...GIVEN, code: "node_busy" }, NOW);
    expect(back.tasks.find(({ id }) => id === "encode")).toMatchObject({
      ...{ phase: "pending", failures: 0, losses: 0, avoid: ["node-a"], yieldedAt: 0, notBefore: NOW + 15_000 },
    });
    expect(back.outputs.map(({ phase }) => phase)).toEqual(["queued", "queued"]);
  });

  it.each(["turn_over", "node_busy"] as const)("is not given back for ever: %s", (code) => {
    let state = checkedJob(spec);
    let [now, grants] = [NOW, 0];
    while (state.tasks[0]?.phase === "pending") {
      state = claim(state, `t${grants}`, now, "node-a", "inspect").state;
      grants += 1;
      state = failTask(state, "inspect", { ...GIVEN, code }, now);
      now += 60_000;
    }
    expect([state.status, grants]).toEqual(["job.failed", 202]);
  });
});

describe("tables", () => {
  it("moves a task and a job only as their tables say", () => {
    const moves: TaskMove[] = ["claim", "renew", "release", "complete", "finish", "abandon"];
    const rows = TASK_PHASES.map((from) => `${from}: ${moves.map((move) => moveTask(from, move) ?? "-").join(" ")}`);
    expect([`task: ${moves.join(" ")}`, ...rows]).toMatchInlineSnapshot(`
      [
        "task: claim renew release publish finish abandon",
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

describe("the way of a job", () => {
  it("begins as the contract says, with one inspection to do", () => {
    const view = viewJob(checkedJob(spec));
    expect(view).toEqual({
      id: spec.id,
      created_at: "2026-01-02 03:04:05 +0000",
      completed_at: null,
      status: "job.starting",
      progress: "0%",
      input: { status: "input.starting" },
      outputs: [
        { key: "mp4:240p", type: "video", format: "mp4:240p", status: "video.waiting" },
        { key: "jpg:320x", type: "image", format: "jpg:320x", status: "image.waiting" },
      ],
    });
    expect(pendingEffects(checkedJob(spec), RETENTION_MS).map(({ name }) => name)).toEqual(["advertise:inspect"]);
  });

  it("goes from inspection through encoding to its end, and announces each step", async () => {
    const eager = await newSpec({
      notification: { type: "http", url: "http://127.0.0.1:9/", events: true, metadata: true },
    });
    const inspecting = claim(checkedJob(eager), "t1", NOW, "node-a", "inspect");
    expect(inspecting.assignments).toEqual([
      {
        lease: `${eager.id}.inspect.1`,
        token: "t1",
        jobId: eager.id,
        task: { kind: "inspect", sourceUrl: SOURCE_URL, chunking: null },
      },
    ]);
    const inspected = completeTask(inspecting.state, "inspect", { kind: "inspect", probe: PROBE }, NOW);
    expect(viewJob(inspected).input.status).toBe("input.transferred");
    expect(viewJob(inspected).outputs.map(({ status }) => status)).toEqual(["video.queued", "image.queued"]);

    const { state, assignments } = claim(inspected, "t2");
    expect(assignments[0]?.task).toMatchObject({ kind: "encode", probe: PROBE, outputs: [{ index: 0 }, { index: 1 }] });
    const progressed = recordProgress(
      state,
      { ...assignments[0], stage: "encoding", fraction: 0.5 } as never,
      NOW,
    ).state;
    expect(viewJob(progressed).outputs.map(({ status }) => status)).toEqual(["video.encoding", "image.processing"]);
    expect(viewJob(progressed).progress).toBe("50%");

    const ended = completeTask(
      recordUploads(progressed, "encode", UPLOADS),
      "encode",
      { kind: "encode", outputs: [madeVideo, madeImages] },
      NOW + 5,
    );
    expect(viewJob(ended)).toMatchObject({
      status: "job.completed",
      progress: "100%",
      completed_at: "1970-01-01 00:16:40 +0000",
    });
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
    expect(last.data.input.metadata.format.filename).toBe("https://media.example.com/film.mp4");
  });

  it("fails outputs that the source cannot give as soon as it is known, and does the others", async () => {
    const mixed = await newSpec({ outputs: { "mp4:240p": { path: "a.mp4" }, "mp4:x:64k": { path: "a.m4a" } } });
    const inspecting = claim(checkedJob(mixed), "t1", NOW, "node-a", "inspect").state;
    const state = completeTask(inspecting, "inspect", { kind: "inspect", probe: AUDIO_PROBE }, NOW);
    expect(viewJob(state).outputs.map(({ status, error_code }) => [status, error_code])).toEqual([
      ["video.failed", "input_has_no_video"],
      ["video.queued", undefined],
    ]);
    expect(claim(state, "t2").assignments[0]?.task).toMatchObject({ outputs: [{ index: 1 }] });
  });

  it("skips outputs whose condition does not hold for the input", async () => {
    const outputs = {
      "mp4:240p": { path: "a.mp4", if: "{{ input.width }} >= 1280" },
      "mp4:1080p": { path: "b.mp4", if: "{{ input.width }} >= 1920" },
      "jpg:100x": { path: "c.jpg", if: "{{ input.is_audio_only }}" },
    };
    const inspecting = claim(checkedJob(await newSpec({ outputs })), "t1", NOW, "node-a", "inspect").state;
    const state = completeTask(inspecting, "inspect", { kind: "inspect", probe: PROBE }, NOW);
    expect(viewJob(state).outputs.map(({ status }) => status)).toEqual([
      "video.queued",
      "video.skipped",
      "image.skipped",
    ]);
    expect(claim(state, "t2").assignments[0]?.task).toMatchObject({ outputs: [{ index: 0 }] });

    const none = await newSpec({ outputs: { "mp4:240p": { path: "a.mp4", if: "false" } } });
    const begun = claim(checkedJob(none), "t1", NOW, "node-a", "inspect").state;
    const ended = completeTask(begun, "inspect", { kind: "inspect", probe: PROBE }, NOW);
    expect(viewJob(ended)).toMatchObject({ status: "job.completed", outputs: [{ status: "video.skipped" }] });
  });

  it("makes the first of the outputs that share a path, whichever can be made", async () => {
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
    const clash = {
      error_code: "output_path_not_unique",
      error: expect.stringMatching(/`a.mp4` as the output `mp4:720p`/),
    };
    const state = inspected(shared, PROBE);
    expect(viewJob(state).outputs).toMatchObject([
      { status: "video.skipped" },
      { status: "video.queued" },
      { status: "video.failed", ...clash },
    ]);
    // A source without a picture: the second cannot be made, so the third is not in its way.
    expect(viewJob(inspected(shared, AUDIO_PROBE)).outputs).toMatchObject([
      { status: "video.skipped" },
      { status: "video.failed", error_code: "input_has_no_video" },
      { status: "video.queued" },
    ]);
    const made: OutputReport = { status: "made", output: 1, files: [file(1, 1)], probe: PROBE };
    const encoding = recordUploads(claim(state, "t2").state, "encode", { "1/1": upload() });
    const ended = completeTask(encoding, "encode", { kind: "encode", outputs: [made] }, NOW);
    expect(viewJob(ended).status).toBe("job.failed");
    // A retry does not write over what the first one has stored.
    const again = retryJob(ended, 0);
    expect(again && viewJob(inspected(again, PROBE)).outputs).toMatchObject([
      { status: "video.skipped" },
      { status: "video.encoded" },
      { status: "video.failed", ...clash },
    ]);
  });

  it("fails the input and the job when the source is no media, without a second try", () => {
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

describe("failures of the work", () => {
  it.each(["encoding_failed", "encoder_not_available"] as const)(
    "encodes again only the output that failed (%s), on another node, and gives it up after the second failure",
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

  it("says of a finished output what made it", () => {
    const note = "Encoded in software, because the hardware encoder h264_nvenc was busy.";
    const made: OutputReport = { ...madeVideo, encoder: "libx264", note };
    const state = recordUploads(encoding(), "encode", UPLOADS);
    const done = completeTask(state, "encode", { kind: "encode", outputs: [made, madeImages] }, NOW);
    const [film, images] = viewJob(done).outputs;
    expect(film).toMatchObject({ status: "video.encoded", encoder: "libx264", note });
    expect(images).not.toHaveProperty("encoder");
  });

  it("waits longer and longer for a source that is away, for some 40 s, and for nothing else", () => {
    const pauses = (code: ErrorCode): number[] => {
      let state = claim(checkedJob(spec), "t0", NOW, "node-a", "inspect").state;
      const waited: number[] = [];
      for (let now = NOW; ; ) {
        state = failTask(state, "inspect", { code, message: "away" }, now);
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

  it("does not try again what cannot get better", () => {
    const state = completeTask(
      encoding(),
      "encode",
      { kind: "encode", outputs: [failed(0, "storage_denied"), failed(1, "storage_denied")] },
      NOW,
    );
    expect(viewJob(state)).toMatchObject({ status: "job.failed", outputs: [{ error_code: "storage_denied" }, {}] });
  });

  it("does not take a file for stored that was never granted, or is not the one", () => {
    const granted = recordUploads(encoding(), "encode", { "0/1": upload(), "1/1": upload() });
    const wrongSize = { ...madeVideo, files: [{ ...file(0, 1), sizeBytes: 6 }] };
    const once = completeTask(granted, "encode", { kind: "encode", outputs: [wrongSize, madeImages] }, NOW);
    expect(once.tasks[1]).toMatchObject({ phase: "pending", outputs: [0, 1], failures: 1 });
  });

  it("fails an output of which the node said nothing", () => {
    const state = recordUploads(encoding(), "encode", UPLOADS);
    const once = completeTask(state, "encode", { kind: "encode", outputs: [madeVideo] }, NOW);
    expect(once.tasks[1]).toMatchObject({ phase: "pending", outputs: [1] });
  });
});

describe("leases", () => {
  it("grants a task once", () => {
    const first = claim(checkedJob(spec), "t1", NOW, "node-a", "inspect");
    expect(claim(first.state, "t2", NOW, "node-b", "inspect").assignments).toEqual([]);
    expect(claim(checkedJob(spec), "t1", NOW, "node-a", "encode").assignments).toEqual([]);
  });

  it("knows a current report from a stale and from a repeated one", () => {
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

  it("lives as long as it is renewed, and goes to another node when it is not", () => {
    const state = encoding();
    expect(nextAlarmAt({ ...state, indexedVersion: state.version }, () => 0, RETENTION_MS)).toBe(NOW + OFFER_MS);
    const renewed = renewLease(state, proof("encode", 1, "t2"), NOW + 5000).state;
    expect(expireLeases(renewed, NOW + 5000 + LEASE_MS - 1)).toBe(renewed);
    const lost = expireLeases(renewed, NOW + 5000 + LEASE_MS);
    expect(lost.tasks[1]).toMatchObject({ phase: "pending", losses: 1, failures: 0, avoid: ["node-a"] });
    const { state: elsewhere } = claim(lost, "t3", NOW + 60_000, "node-b");
    expect(checkLease(elsewhere, proof("encode", 1, "t2")).verdict).toBe("superseded");
    expect(checkLease(elsewhere, proof("encode", 2, "t3")).verdict).toBe("current");
  });

  it("takes the word of a node whose lease lapsed while nobody else has the task", () => {
    const lost = expireLeases(recordUploads(encoding(), "encode", UPLOADS), NOW + OFFER_MS);
    const revived = renewLease(lost, proof("encode", 1, "t2"), NOW + OFFER_MS + 5);
    expect(revived.verdict).toBe("current");
    const ended = completeTask(
      revived.state,
      "encode",
      { kind: "encode", outputs: [madeVideo, madeImages] },
      NOW + OFFER_MS + 5,
    );
    expect(ended.status).toBe("job.completed");
  });

  it("gives the task up when node after node is lost", () => {
    let state = encoding();
    for (let loss = 1; loss <= MAX_LOSSES; loss++) {
      state = claim(expireLeases(state, NOW + loss * OFFER_MS), `r${loss}`, NOW + loss * OFFER_MS).state;
      expect(state.status).toBe("job.starting");
    }
    state = expireLeases(state, NOW + 100 * OFFER_MS);
    expect(viewJob(state)).toMatchObject({
      status: "job.failed",
      outputs: [{ error_code: "node_lost" }, { error_code: "node_lost" }],
    });
  });

  it("shortens the leases of a lost connection, of that session only", () => {
    const state = renewLease(encoding(), proof("encode", 1, "t2"), NOW).state;
    expect(shortenLeases(state, "another", 10_000, NOW).tasks[1]?.lease?.expiresAt).toBe(NOW + LEASE_MS);
    expect(shortenLeases(state, "s-node-a", 10_000, NOW).tasks[1]?.lease?.expiresAt).toBe(NOW + 10_000);
  });

  it("counts work that was handed back neither as a failure nor as a loss, until the same node does it again", () => {
    const handBack = (held: JobState): JobState =>
      failTask(held, "encode", { code: "node_lost", message: "handed back" }, NOW);
    let state = handBack(encoding());
    expect(state.tasks[1]).toMatchObject({ phase: "pending", losses: 0, failures: 0 });
    expect(state.outputs).toMatchObject([{ phase: "queued" }, { phase: "queued" }]);
    expect(checkLease(state, proof("encode", 1, "t2")).verdict).toBe("superseded");
    for (let node = 1; node <= MAX_LOSSES + 1; node++)
      state = handBack(claim(state, `r${node}`, NOW, `n${node}`).state);
    expect(state.tasks[1]).toMatchObject({ phase: "pending", losses: 0 });
    state = handBack(claim(state, "again", NOW, "n1").state);
    expect(state.tasks[1]).toMatchObject({ phase: "pending", losses: 1 });
  });

  it("is not handed on for ever by ever new nodes, and remembers the last of them", () => {
    let state = encoding();
    for (let node = 1; state.tasks[1]?.phase === "leased" && node < 100; node++) {
      state = failTask(state, "encode", { code: "node_lost", message: "handed back" }, NOW);
      expect(state.tasks[1]?.avoid.length).toBeLessThanOrEqual(16);
      if (state.tasks[1]?.phase === "pending") state = claim(state, `r${node}`, NOW, `n${node}`).state;
    }
    expect(state.tasks[1]).toMatchObject({ phase: "failed", attempt: 50 + MAX_LOSSES + 1 });
    expect(state.tasks[1]?.avoid.at(-1)).toBe(`n${50 + MAX_LOSSES}`);
    expect(viewJob(state)).toMatchObject({ status: "job.failed", outputs: [{ error_code: "node_lost" }, {}] });
  });
});

describe("multipart uploads", () => {
  const multipart = { "0/1": upload("u-1"), "1/1": upload(), "1/2": upload() };

  it("wait for the storage before their output is done", () => {
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

  it("are aborted when their grant came to nothing", () => {
    const lost = expireLeases(recordUploads(encoding(), "encode", multipart), NOW + OFFER_MS);
    expect(lost.orphans).toEqual([]);
    const { state } = claim(lost, "t3", NOW + OFFER_MS, "node-b");
    expect(state.orphans).toEqual([{ objectName: "out/240p.mp4", uploadId: "u-1" }]);
    expect(pendingEffects(state, RETENTION_MS).map(({ name }) => name)).toContain("abort-upload:u-1");
  });

  it("are aborted when their output fails beside one that is done", () => {
    const state = recordUploads(encoding(), "encode", multipart);
    const reports = [failed(0, "storage_denied"), madeImages];
    const settled = completeTask(state, "encode", { kind: "encode", outputs: reports }, NOW);
    expect(settled).toMatchObject({ status: "job.failed", orphans: [{ uploadId: "u-1" }] });
  });
});

describe("a cancelled job", () => {
  it("keeps what is finished, aborts the rest, and has its nodes told", () => {
    const state = recordUploads(encoding(), "encode", { ...UPLOADS, "0/1": upload("u-1") });
    const cancelled = cancelJob(state, NOW + 5);
    expect(cancelled && viewJob(cancelled)).toMatchObject({
      status: "job.aborted",
      progress: "100%",
      outputs: [{ status: "video.aborted", error_code: "cancelled" }, { status: "image.aborted" }],
    });
    expect(cancelled).toMatchObject({
      revoked: [`${spec.id}.encode.1`],
      orphans: [{ uploadId: "u-1" }],
      completedAt: NOW + 5,
    });
    expect(cancelled && pendingEffects(cancelled, RETENTION_MS).map(({ name }) => name)).toEqual(
      expect.arrayContaining(["revoke", "abort-upload:u-1", "index"]),
    );
    expect(cancelled && checkLease(cancelled, proof("encode", 1, "t2")).verdict).toBe("superseded");
    expect(cancelled && cancelJob(cancelled, NOW)).toBeNull();
    expect(cancelled && claim(cancelled, "t9").assignments).toEqual([]);
  });

  it("keeps outputs that were made", () => {
    const state = recordUploads(encoding(), "encode", UPLOADS);
    const half = completeTask(
      state,
      "encode",
      { kind: "encode", outputs: [failed(0, "encoding_failed"), madeImages] },
      NOW,
    );
    const cancelled = cancelJob(half, NOW);
    expect(cancelled && viewJob(cancelled).outputs.map(({ status }) => status)).toEqual([
      "video.aborted",
      "image.created",
    ]);
  });
});

describe("a job that is retried", () => {
  it("does again only what it did not finish, under leases of their own", () => {
    const uploads = recordUploads(encoding(), "encode", UPLOADS);
    const reports = [failed(0, "storage_denied"), madeImages];
    const ended = completeTask(uploads, "encode", { kind: "encode", outputs: reports }, NOW);
    const begun = retryJob({ ...ended, shownPercent: 99 }, 0);
    if (!begun) throw new Error("not begun");
    expect(viewJob(begun)).toMatchObject({
      status: "job.starting",
      completed_at: null,
      progress: "0%",
      input: { status: "input.starting" },
      outputs: [{ status: "video.waiting" }, { status: "image.created", urls: [{}, {}] }],
    });
    expect(viewJob(begun).outputs[0]).not.toHaveProperty("error");
    const inspect = claim(begun, "r1", NOW, "node-b", "inspect");
    expect(inspect.assignments[0]?.lease).toBe(`${spec.id}.inspect-1.1`);
    const inspected = completeTask(inspect.state, "inspect-1", { kind: "inspect", probe: PROBE }, NOW);
    const encode = claim(inspected, "r2");
    expect(encode.assignments[0]).toMatchObject({ lease: `${spec.id}.encode-1.1`, task: { outputs: [{ index: 0 }] } });
    expect(checkLease(encode.state, proof("encode", 1, "t2")).verdict).toBe("superseded");
    const granted = recordUploads(encode.state, "encode-1", { "0/1": upload() });
    const done = completeTask(granted, "encode-1", { kind: "encode", outputs: [madeVideo] }, NOW);
    expect(done.status).toBe("job.completed");
    expect(done.outbox.map(({ event }) => event)).toEqual(["job.failed", "job.completed"]);
  });

  it("begins again after a failed input or a cancel, but not while it runs or when all is done", () => {
    const inspecting = claim(checkedJob(spec), "t1", NOW, "node-a", "inspect").state;
    const failedInput = failTask(inspecting, "inspect", { code: "input_not_media", message: "No" }, NOW);
    const begun = retryJob(failedInput, 0);
    expect(begun && viewJob(begun)).toMatchObject({
      input: { status: "input.starting" },
      outputs: [{ status: "video.waiting" }, {}],
    });
    expect(begun && viewJob(begun).input).not.toHaveProperty("error");
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

describe("progress", () => {
  it("never goes back below what was shown, and is 100 only at the end", () => {
    const item = { ...proof("encode", 1, "t2"), stage: "encoding" as const, fraction: 0.8 };
    const state = recordProgress(encoding(), item, NOW).state;
    expect(jobPercent(state)).toBeGreaterThan(70);
    const shown = { ...state, shownPercent: jobPercent(state) };
    expect(jobPercent(expireLeases(shown, NOW + 10 * LEASE_MS))).toBe(jobPercent(shown));
    const uploading = recordProgress(state, { ...item, stage: "uploading", fraction: 1 }, NOW).state;
    expect(jobPercent(uploading)).toBe(99);
  });
});
