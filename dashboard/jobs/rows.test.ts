import { describe, expect, it } from "vitest";
import type { Job, Output } from "../../client/index.ts";
import {
  endOf,
  errorOf,
  mergedRows,
  nameOf,
  outputsOf,
  reasonOf,
  secondsOf,
  sharedReasons,
  shownStatus,
  thumbnailOf,
  withEvent,
} from "./rows.ts";

const job = (changes: Partial<Job> = {}): Job => ({
  id: "3clA7G2GY8bXR5",
  created_at: "2026-11-21 05:23:27 +0000",
  completed_at: null,
  ends_at: null,
  status: "job.starting",
  progress: "40%",
  input: { status: "input.transferred" },
  outputs: [],
  ...changes,
});
const output = (changes: Partial<Output>): Output => ({
  key: "mp4:240p",
  type: "video",
  format: "mp4:240p",
  status: "video.waiting",
  ...changes,
});

describe("a row", () => {
  it.each([
    ["https://media.example.com/a%20b/My%20Clip.mov", "My Clip.mov", "media.example.com/a b"],
    ["https://media.example.com/", "media.example.com", ""],
    ["upload://Zf81kmQpsR02bc/holiday.mp4", "holiday.mp4", "upload"],
    ["https://example.com/100%.mp4", "100%.mp4", "example.com"],
    [undefined, "3clA7G2GY8bXR5", ""],
  ])("names the job of the source %s as %s", (source, name, place) => {
    const input: Job["input"] = { status: "input.transferred", ...(source === undefined ? {} : { source }) };
    expect(nameOf(job({ input }))).toEqual({ name, place });
  });

  it.each([
    ["https://s3.example/a%20b/My%20Clip.mp4?X-Amz-Signature=a/b", 1, "My Clip.mp4"],
    ["https://s3.example/vod/hls/master.m3u8", 2, "hls/master.m3u8"],
    ["s3://vod/100%.mp4", 1, "100%.mp4"],
  ])("names the file at %s by the last %d names of the path", (url, parts, name) => {
    expect(endOf(url, parts)).toBe(name);
  });

  it("shows the start time of a waiting job in the form of other times", () => {
    expect(reasonOf("2026-12-24 02:00:00 +0000")).toMatch(/^2[345] Dec 2026, \d\d:00:00 /);
    expect(reasonOf("a node in pool gpu 2")).toBe("a node in pool gpu 2");
  });

  it("counts the outputs that were not skipped", () => {
    const statuses = ["video.encoded", "video.skipped", "video.failed", "httpstream.packaged"] as const;
    expect(outputsOf(job({ outputs: statuses.map((status) => output({ status })) }))).toEqual({ done: 2, total: 3 });
  });

  it("shows the error of the input, or else the first error of an output", () => {
    const outputs = [output({}), output({ key: "a", error: "No." }), output({ key: "b", error: "Never." })];
    expect(errorOf(job({ outputs }))).toBe("a: No. (and 1 more)");
    expect(errorOf(job({ outputs, input: { status: "input.failed", error: "Gone." } }))).toBe("Gone.");
    const canceled = output({ error: "The job was cancelled", error_code: "cancelled" });
    for (const none of [[], [canceled]]) expect(errorOf(job({ outputs: none }))).toBeUndefined();
  });

  it("shows the middle image of the smallest images that browsers show", () => {
    const urls = (name: string, count: number) =>
      Array.from({ length: count }, (_, at) => `https://x/${name}${at}.jpg`);
    const image = (format: string, list: string[]) => output({ type: "image", format, urls: list });
    expect(thumbnailOf(job({ outputs: [image("jpg:1280x", urls("a", 1)), image("jpg:320x", urls("b", 5))] }))).toBe(
      "https://x/b2.jpg",
    );
    expect(thumbnailOf(job({ outputs: [image("jpg:320x", [...urls("a", 1), "https://x/a.vtt"])] }))).toBe(
      "https://x/a0.jpg",
    );
    expect(thumbnailOf(job({ outputs: [output({ urls: [{ format: "hls", url: "x/a.m3u8" }] })] }))).toBeUndefined();
  });

  it("measures the time from the start of work until the end, or until now", () => {
    const now = Date.parse("2026-11-21T05:24:27Z");
    const started_at = "2026-11-21 05:23:47 +0000";
    expect(secondsOf(job(), now)).toBeNull();
    expect(secondsOf(job({ started_at }), now)).toBe(40);
    expect(secondsOf(job({ started_at, completed_at: "2026-11-21 05:23:50 +0000" }), now)).toBe(3);
  });

  it("shows a waiting job as queued, and an ended job with its status", () => {
    expect(shownStatus(job({ state: "queued" }))).toBe("queued");
    expect(shownStatus(job({ status: "job.failed" }))).toBe("job.failed");
  });
});

describe("rows", () => {
  it("shares the reasons for which several jobs wait", () => {
    const jobs = ["gpu", "disk", undefined, "gpu", undefined].map((waiting_for) => job({ waiting_for }));
    expect([...sharedReasons(jobs)]).toEqual([["gpu", 2]]);
  });

  it("keeps newer progress than the list's, and takes every other status", () => {
    const read = [job({ progress: "0%" }), job({ id: "b", progress: "0%" })];
    expect(mergedRows([job()], read).map(({ progress }) => progress)).toEqual(["40%", "0%"]);
    expect(mergedRows([job()], [job({ status: "job.failed", progress: "100%" })])[0]?.status).toBe("job.failed");
    expect(mergedRows([job({ status: "job.failed" })], [job({ progress: "3%" })])[0]?.progress).toBe("3%");
  });

  it("applies events to the rows of their jobs", () => {
    const { id, status, progress } = job();
    const event = {
      id,
      status,
      progress,
      created_at: "",
      completed_at: null,
      outputs: { completed: 0, failed: 0, total: 1 },
    };
    const rows = [job()];
    expect(withEvent(rows, { ...event, progress: "10%" })).toBe(rows);
    expect(withEvent(rows, { ...event, status: "job.completed", progress: "100%" })?.[0]?.status).toBe("job.completed");
    expect(withEvent([job({ state: "running" })], { ...event, completed_at: "" })?.[0]).not.toHaveProperty("state");
    expect(withEvent(rows, { ...event, id: "other" })).toBeNull();
  });
});
