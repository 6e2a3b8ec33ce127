// Outputs that a node reports separately while their task goes on.
import { beforeAll, describe, expect, it } from "vitest";
import type { ErrorCode } from "#shared/errors.ts";
import { LEASE_MS } from "#shared/protocol/leases.ts";
import type { OutputReport } from "#shared/protocol/reports.ts";
import type { JobSpec } from "../../rpc/job-spec.ts";
import { RETENTION_MS } from "../../settings.ts";
import { checkedJob, newSpec, PROBE } from "../../testing/jobs.ts";
import { pendingEffects } from "../effects/job-effects.ts";
import { taskOf } from "../state/job-moves.ts";
import type { JobState } from "../state/job-state.ts";
import { madeReports, remainingOutputs } from "../state/remaining-outputs.ts";
import { MAX_LOSSES } from "../state/task-state.ts";
import { recordUpload } from "../uploads/sign-uploads.ts";
import { viewJob } from "../views/job-view.ts";
import { cancelJob } from "./client-moves.ts";
import { claimTasks, recordProgress } from "./leases.ts";
import { expireLeases } from "./lost-leases.ts";
import { acceptOutputs, settleUploads } from "./output-reports.ts";
import { completeTask } from "./reports.ts";

const NOW = 1_000_000;
const OUTPUTS = {
  "mp4:240p": { path: "a.mp4" },
  "mp4:480p": { path: "b.mp4" },
  "jpg:320x": { path: "c.jpg" },
  "mp4:1080p": { path: "never.mp4", if: "{{ input.width }} > 1280" },
};
let spec: JobSpec;
beforeAll(async () => {
  const notification = { type: "http", url: "http://127.0.0.1:9/", events: true };
  spec = await newSpec({ outputs: OUTPUTS, notification });
});

const claim = (state: JobState, slotClass: "inspect" | "encode", now = NOW, nodeId = "node-a") =>
  claimTasks(
    state,
    {
      nodeId,
      session: `s-${nodeId}`,
      slotClass,
      max: 1,
      newToken: () => `t-${nodeId}`,
      sourceUrl: "https://media.example.com/video.mp4",
      streamKeys: new Map(),
      chunking: null,
    },
    now,
  );

/** All outputs are being encoded. The named outputs are uploaded in parts. */
function encoding(...inParts: number[]): JobState {
  const inspecting = claim(checkedJob(spec), "inspect").state;
  const inspected = completeTask(inspecting, "inspect", { kind: "inspect", probe: PROBE }, NOW);
  return signed(claim(inspected, "encode").state, ...inParts);
}

/** Signs uploads of all outputs that are still to be made. */
const signed = (state: JobState, ...inParts: number[]): JobState =>
  remainingOutputs(state, taskOf(state, "encode")).reduce((next, output) => {
    const upload = { sizeBytes: 5, partCount: 1, uploadId: inParts.includes(output) ? `u-${output}` : null };
    return recordUpload(next, "encode", { output, file: 1 }, upload);
  }, state);

const madeReport = (output: number): OutputReport => ({
  status: "made",
  output,
  files: [{ output, file: 1, sizeBytes: 5, etags: ['"e"'] }],
  probe: output === 2 ? null : PROBE,
});
const failed = (output: number, code: ErrorCode): OutputReport => ({
  status: "failed",
  output,
  failure: { code, message: "It broke" },
});
const take = (state: JobState, ...reports: OutputReport[]): JobState => acceptOutputs(state, "encode", reports, NOW);
const complete = (state: JobState, ...outputs: OutputReport[]): JobState =>
  completeTask(state, "encode", { kind: "encode", outputs }, NOW);
const completed = (state: JobState, output: number, code: ErrorCode | null = null): JobState => {
  const report = madeReports(state.tasks[1] ?? { reports: [] }).find((candidate) => candidate.output === output);
  if (!report) throw new Error(`Output ${output} is not waiting`);
  return settleUploads(state, { taskId: "encode", report, failure: code && { code, message: "It broke" } }, NOW);
};
const statuses = (state: JobState): string[] => viewJob(state).outputs.map(({ status }) => status);
const events = (state: JobState): string[] =>
  state.outbox.map(({ event, body }) => {
    const { key, progress } = JSON.parse(body).data;
    return event.startsWith("output") ? `${key} ${event} ${progress}` : event;
  });
const toComplete = (state: JobState): string[] =>
  pendingEffects(state, RETENTION_MS).flatMap(({ name }) => (name.startsWith("complete") ? [name] : []));
const WAITING = ["video.encoding", "video.encoding", "image.processing", "video.skipped"];

it("ends outputs when they are reported, and counts them in events, except skipped outputs", () => {
  const { lease, token } =
    claim(
      completeTask(claim(checkedJob(spec), "inspect").state, "inspect", { kind: "inspect", probe: PROBE }, NOW),
      "encode",
    ).assignments[0] ?? {};
  const started = recordProgress(encoding(), { lease, token, stage: "encoding", fraction: 0.5 } as never, NOW).state;
  expect(statuses(started)).toEqual(WAITING);
  const first = take(started, madeReport(2));
  expect(statuses(first)).toEqual(WAITING.with(2, "image.created"));
  expect(viewJob(first).outputs[2]?.urls).toHaveLength(1);
  const second = take(first, madeReport(0));
  const done = complete(second, madeReport(1));
  expect(done.status).toBe("job.completed");
  expect(events(done)).toEqual([
    "input.transferred",
    "jpg:320x output.completed 33%",
    "mp4:240p output.completed 66%",
    "mp4:480p output.completed 100%",
    "job.completed",
  ]);
  expect(Number.parseInt(viewJob(second).progress, 10)).toBeLessThan(99);
});

it("counts an output once, however often it is reported", () => {
  const once = take(encoding(), madeReport(2));
  const again = take(take(once, madeReport(2)), failed(2, "storage_denied"));
  expect(again.outbox).toEqual(once.outbox);
  const done = complete(again, madeReport(0), madeReport(1), madeReport(2));
  expect(done.status).toBe("job.completed");
  expect(done.outbox).toHaveLength(5);
});

it("completes the task with its last output, even if the final report is lost", () => {
  const done = take(take(encoding(), madeReport(2)), madeReport(0), madeReport(1));
  expect([done.status, done.tasks[1]?.phase]).toEqual(["job.completed", "done"]);
});

it("encodes an output again if the uploads of its files were not signed", () => {
  const { outputs } = JSON.parse(JSON.stringify(encoding())) as JobState;
  const wrong = { ...madeReport(2), files: [{ output: 2, file: 1, sizeBytes: 6, etags: ['"e"'] }] } as OutputReport;
  const state = take(encoding(), wrong);
  expect(state.outputs).toEqual(outputs);
  expect(complete(state, madeReport(0), madeReport(1)).tasks[1]).toMatchObject({ phase: "pending", outputs: [2] });
});

describe("failures", () => {
  it("ends an output at once after a permanent failure, and at the end of the task after others", () => {
    const state = take(encoding(), failed(0, "storage_unreachable"), failed(1, "encoding_failed"));
    expect(viewJob(state).outputs.map(({ error_code }) => error_code)).toEqual(["storage_unreachable", ...Array(3)]);
    const rest = complete(state, madeReport(2));
    expect(rest.tasks[1]).toMatchObject({ phase: "pending", outputs: [1], failures: 1 });
    expect(events(rest)).toEqual(["input.transferred", "mp4:240p output.failed 33%", "jpg:320x output.completed 66%"]);
  });

  it("skips optional text whose track the input lacks, and fails other outputs alone", async () => {
    const outputs = {
      vtt: [
        { path: "fr.vtt", from: "fr", optional: true },
        { path: "de.vtt", from: "de" },
      ],
      srt: { path: "cc.srt", from: "cc1", optional: true },
    };
    const usual = spec;
    spec = await newSpec({ outputs, notification: { type: "http", url: "http://127.0.0.1:9/", events: true } });
    const started = encoding();
    spec = usual;
    const lacks = (output: number): OutputReport => failed(output, "input_track_not_found");
    const first = take(started, lacks(0));
    expect(statuses(first)).toEqual(["video.skipped", "video.queued", "video.queued"]);
    const failedOnly = complete(first, lacks(1), failed(2, "subtitle_failed"));
    expect(viewJob(failedOnly)).toMatchObject({
      status: "job.failed",
      input: { status: "input.transferred" },
      outputs: [
        { status: "video.skipped" },
        { error_code: "input_track_not_found" },
        { error_code: "subtitle_failed" },
      ],
    });
    const allSkipped = complete(first, madeReport(1), lacks(2));
    expect([allSkipped.status, ...statuses(allSkipped)]).toEqual([
      "job.completed",
      ...["video.skipped", "video.encoded", "video.skipped"],
    ]);
    expect(events(allSkipped)).toEqual(["input.transferred", "vtt:2 output.completed 50%", "job.completed"]);
  });

  it("never encodes again after a failure of the storage, however the task ends", () => {
    const state = complete(encoding(), failed(0, "storage_unreachable"), madeReport(1), madeReport(2));
    const outputs = [{ error_code: "storage_unreachable" }, {}, {}, {}];
    expect(viewJob(state)).toMatchObject({ status: "job.failed", outputs });
  });
});

describe("a lost node", () => {
  const lost = (state: JobState): JobState => expireLeases(state, NOW + LEASE_MS);

  it("leaves only unreported outputs to the next node", () => {
    const state = lost(take(encoding(), madeReport(2), failed(1, "encoding_failed")));
    expect(state.tasks[1]).toMatchObject({ phase: "pending" });
    const next = claim(state, "encode", NOW + LEASE_MS, "node-b");
    expect(next.assignments[0]?.task).toMatchObject({ outputs: [{ index: 0 }, { index: 1 }] });
    const done = complete(signed(next.state), madeReport(0), madeReport(1));
    expect(done.status).toBe("job.completed");
  });

  it("keeps its reported uploads, which are completed while another node has the task", () => {
    const state = lost(take(encoding(0), madeReport(0)));
    expect(toComplete(state)).toEqual(["complete-uploads:encode:0"]);
    const next = claim(state, "encode", NOW + LEASE_MS, "node-b");
    expect(next.assignments[0]?.task).toMatchObject({ outputs: [{ index: 1 }, { index: 2 }] });
    expect(next.state.orphans).toEqual([]);
    const rest = complete(signed(next.state), madeReport(1), madeReport(2));
    expect([rest.status, rest.tasks[1]?.phase]).toEqual(["job.starting", "completing"]);
    expect(completed(rest, 0)).toMatchObject({ status: "job.completed", orphans: [] });
  });

  it("fails only unreported outputs after the last attempt", () => {
    let state = take(encoding(0), madeReport(0));
    for (let at = 0; at <= MAX_LOSSES; at++) {
      state = lost({
        ...state,
        tasks: state.tasks.map((task) =>
          task.lease ? { ...task, phase: task.id === "encode" ? ("leased" as const) : task.phase } : task,
        ),
      });
    }
    expect(statuses(state).slice(1, 3)).toEqual(["video.failed", "image.failed"]);
    expect(toComplete(state)).toEqual(["complete-uploads:encode:0"]);
    expect(completed(state, 0)).toMatchObject({ status: "job.failed", outputs: [{ phase: "done" }, {}, {}, {}] });
  });
});

describe("uploads in parts", () => {
  it("completes the uploads of each output while the task continues", () => {
    const state = take(encoding(0, 1), madeReport(0));
    expect(toComplete(state)).toEqual(["complete-uploads:encode:0"]);
    expect(statuses(state)[0]).not.toBe("video.encoded");
    const one = completed(state, 0);
    expect(statuses(one)[0]).toBe("video.encoded");
    const rest = complete(one, madeReport(1), madeReport(2));
    expect(toComplete(rest)).toEqual(["complete-uploads:encode:1"]);
    expect(completed(rest, 1).status).toBe("job.completed");
  });

  it.each([
    ["node_failed", "queued", { phase: "pending", outputs: [0] }],
    ["storage_denied", "failed", { phase: "done" }],
  ] as const)("after the failure %s of an upload, sets its output to %s", (code, phase, task) => {
    const early = complete(completed(take(encoding(0), madeReport(0)), 0, code), madeReport(1), madeReport(2));
    const late = completed(complete(encoding(0), madeReport(0), madeReport(1), madeReport(2)), 0, code);
    for (const state of [early, late]) {
      expect([state.outputs[0]?.phase, state.tasks[1]]).toEqual([phase, expect.objectContaining(task)]);
    }
  });

  it("aborts uploads when the job is cancelled", () => {
    const state = cancelJob(take(encoding(0), madeReport(0)), NOW);
    expect(state).toMatchObject({ orphans: [{ uploadId: "u-0" }], outputs: [{ phase: "aborted" }, {}, {}, {}] });
    expect(state && toComplete(state)).toEqual([]);
  });
});
