import { beforeAll, describe, expect, it } from "vitest";
import type { ERRORS, ErrorCode, Failure } from "#shared/errors.ts";
import type { OutputReport } from "#shared/protocol/reports.ts";
import type { JobSpec } from "../../rpc/job-spec.ts";
import {
  claim,
  encoding,
  madeImages,
  madeVideo,
  NOW,
  recordUploads,
  UPLOADS,
  upload,
} from "../../testing/job-steps.ts";
import { newSpec } from "../../testing/jobs.ts";
import type { JobState } from "../state/job-state.ts";
import { viewJob } from "../views/job-view.ts";
import { retryJob } from "./client-moves.ts";
import { acceptOutputs, settleUploads } from "./output-reports.ts";
import { completeTask } from "./reports.ts";
import { failTask } from "./task-ends.ts";

let spec: JobSpec;
beforeAll(async () => {
  const notification = { type: "http", url: "http://127.0.0.1:9/", events: true };
  spec = await newSpec({ notification });
});

const denied: Failure = { code: "input_http_403", message: "The host denies access" };
const failed = (output: number, code: ErrorCode = denied.code): OutputReport => ({
  status: "failed",
  output,
  failure: { code, message: denied.message },
});
const take = (state: JobState, ...reports: OutputReport[]): JobState => acceptOutputs(state, "encode", reports, NOW);
const complete = (state: JobState, ...outputs: OutputReport[]): JobState =>
  completeTask(state, "encode", { kind: "encode", outputs }, NOW);
/** A job whose video and images are encoded; with `videoUpload`, the video is uploaded in parts. */
const started = (videoUpload: string | null = null): JobState =>
  recordUploads(encoding(spec), "encode", { ...UPLOADS, "0/1": upload(videoUpload) });
const events = (state: JobState): string[] => state.outbox.map(({ event }) => event);
const FAILED_INPUT = { status: "input.failed", error: denied.message, error_code: denied.code };

describe("a source that can no longer be read while outputs are made", () => {
  it.each<[string, (state: JobState) => JobState]>([
    ["fails its task", (state) => failTask(state, "encode", denied, NOW)],
    ["fails an output of its task", (state) => take(state, failed(1))],
    ["fails all outputs of its task", (state) => complete(state, failed(0), failed(1))],
  ])("fails the input once when it %s, and all outputs with it", (_, fail) => {
    const state = fail(started());
    expect(viewJob(state)).toMatchObject({
      status: "job.failed",
      progress: "100%",
      input: FAILED_INPUT,
      outputs: [
        { status: "video.failed", error_code: denied.code },
        { status: "image.failed", error_code: denied.code },
      ],
    });
    expect(events(state)).toEqual([
      ...["input.transferred", "input.failed", "output.failed", "output.failed", "job.failed"],
    ]);
  });

  it("keeps the URLs of finished outputs", () => {
    for (const state of [
      failTask(take(started(), madeImages), "encode", denied, NOW),
      complete(started(), failed(0), madeImages),
    ]) {
      expect(viewJob(state)).toMatchObject({
        status: "job.failed",
        input: FAILED_INPUT,
        outputs: [{ status: "video.failed", error_code: denied.code }, { status: "image.created" }],
      });
      expect(viewJob(state).outputs[1]?.urls).toHaveLength(2);
      expect(events(state).filter((event) => event === "input.failed")).toHaveLength(1);
    }
  });

  it.each<[ErrorCode | null, string]>([
    [null, "video.encoded"],
    ["node_failed", "video.failed"],
  ])("waits for the storage to complete the upload of an output (%s), which is then %s", (code, status) => {
    const waiting = failTask(take(started("u-0"), madeVideo), "encode", denied, NOW);
    expect(viewJob(waiting)).toMatchObject({
      status: "job.starting",
      input: FAILED_INPUT,
      outputs: [{}, { status: "image.failed" }],
    });
    expect(waiting.orphans).toEqual([]);
    const [report] = waiting.tasks[1]?.reports ?? [];
    if (report?.status !== "made") throw new Error("The video does not wait");
    const failure = code && { code, message: "It broke" };
    const ended = settleUploads(waiting, { taskId: "encode", report, failure }, NOW);
    expect(viewJob(ended)).toMatchObject({ status: "job.failed", input: FAILED_INPUT, outputs: [{ status }, {}] });
    expect(events(ended).filter((event) => event === "input.failed")).toHaveLength(1);
  });

  it("is read again from the start when the job is retried", () => {
    const again = retryJob(failTask(take(started(), madeImages), "encode", denied, NOW), NOW);
    expect(again && viewJob(again)).toMatchObject({
      status: "job.starting",
      input: { status: "input.starting" },
      outputs: [{ status: "video.waiting" }, { status: "image.created" }],
    });
    expect(again && viewJob(again).input).not.toHaveProperty("error");
    expect(again && claim(again, "t9", NOW, "node-b", "inspect").assignments).toHaveLength(1);
  });
});

/** The service retries some failures; after these attempts it does no longer. */
const lastAttempt = (state: JobState): JobState => ({
  ...state,
  tasks: state.tasks.map((task) => ({ ...task, failures: 9 })),
});

type InputCode = Exclude<Extract<keyof typeof ERRORS, `input_${string}`>, "input_not_valid" | "input_url_not_valid">;
/** The part of a job that each failure ends while outputs are made. */
const ENDS: Readonly<Record<InputCode | "input_http_404", "input" | "output">> = {
  input_address_not_allowed: "input",
  input_clip_beyond_end: "input",
  input_not_media: "input",
  input_too_large: "input",
  input_host_not_found: "input",
  input_unreachable: "input",
  input_timeout: "input",
  input_http_404: "input",
  input_codec_not_supported: "output",
  input_encrypted: "output",
  input_has_no_video: "output",
  input_has_no_audio: "output",
  input_track_not_found: "output",
};

describe.each(Object.entries(ENDS))("the code %s", (code, part) => {
  const failure: Failure = { code: code as InputCode, message: "It failed" };

  it(`ends the ${part} when a node reports an output with it`, () => {
    const view = viewJob(complete(lastAttempt(started()), failed(0, failure.code), madeImages));
    expect(view.input.status).toBe(part === "input" ? "input.failed" : "input.transferred");
    expect(view.outputs).toMatchObject([{ error_code: code }, { status: "image.created" }]);
  });

  it(`ends the ${part} when the last attempt at a task fails with it`, () => {
    const view = viewJob(failTask(lastAttempt(take(started(), madeImages)), "encode", failure, NOW));
    expect(view.input.status).toBe(part === "input" ? "input.failed" : "input.transferred");
    expect(view.outputs).toMatchObject([{ error_code: code }, { status: "image.created" }]);
  });
});
