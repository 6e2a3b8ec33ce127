import { expect, it } from "vitest";
import type { Job } from "../../../client/index.ts";
import { withChanges } from "../live/observed-log.ts";
import type { Bar } from "../timeline/bars.ts";
import { historyOf } from "./history.ts";

const job = (more: Partial<Job>): Job => ({
  id: "x",
  created_at: "2026-11-23 01:00:00 +0000",
  completed_at: null,
  ends_at: null,
  status: "job.starting",
  progress: "0%",
  input: { status: "input.starting" },
  outputs: [{ key: "mp4", type: "video", format: "mp4", status: "video.queued" }],
  ...more,
});
const start = Date.parse("2026-11-23T01:00:00Z");
const bar = (more: Partial<Bar>): Bar => ({
  key: "k",
  task: "encode",
  attempt: 1,
  kind: "encode",
  node: "attic",
  parts: [],
  outputs: [],
  chunk: undefined,
  isSpeculative: false,
  isEarlier: false,
  reason: undefined,
  progress: 0,
  fps: undefined,
  speed: undefined,
  fromMs: start + 1000,
  toMs: start + 5000,
  state: "completed",
  ...more,
});

it("lists the history of a job, the newest entry first", () => {
  const bars = [
    bar({ state: "lost", reason: "The node did not report again" }),
    bar({ attempt: 2, fromMs: start + 5000, toMs: null, state: "running", node: "cellar" }),
  ];
  expect(historyOf(job({}), bars, []).map(({ text, kind }) => [text, kind])).toEqual([
    ["encode, attempt 2, started on cellar", "info"],
    ["encode was lost with attic: The node did not report again", "bad"],
    ["encode started on attic", "info"],
    ["The job was created", "info"],
  ]);
});

it("adds observed entries, and the end of the job once", () => {
  const [before, after] = [
    job({}),
    job({
      status: "job.failed",
      completed_at: "2026-11-23 01:00:09 +0000",
      input: { status: "input.transferred" },
      outputs: [{ key: "mp4", type: "video", format: "mp4", status: "video.failed", error: "It broke" }],
    }),
  ];
  const seen = withChanges([], before, after, start + 9500);
  expect(seen.map(({ text, kind }) => [text, kind])).toEqual([
    ["The input: transferred", "info"],
    ["Output mp4: failed. It broke", "bad"],
    ["The job: failed", "bad"],
  ]);
  expect(withChanges(seen, after, after, start + 9600)).toBe(seen);
  expect(withChanges([], undefined, after, start)).toEqual([]);
  expect(historyOf(after, [], seen)[0]?.text).toBe("The job: failed");
  expect(historyOf(after, [], []).map(({ text }) => text)).toEqual(["The job: failed", "The job was created"]);
});
