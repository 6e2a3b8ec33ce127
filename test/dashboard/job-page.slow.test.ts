/// <reference lib="dom" />
// The page of a job with a fake API: large jobs, failures, and views of followers.
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Job } from "../../client/index.ts";
import { type FakeDashboard, type FakeRequest, startFakeDashboard } from "../../dashboard/testing/fake-dashboard.ts";
import { FakeJob, type FakeJobOptions } from "../../dashboard/testing/fake-job.ts";
import { launchChromium } from "../players/chromium.ts";

import { accessibilityProblems, sidewaysPixels } from "./browser.ts";

const SMALL: Omit<FakeJobOptions, "startMs"> = {
  chunks: 24,
  nodes: 4,
  slots: 8,
  encodeSeconds: 14,
  lost: { node: 2, atSeconds: 20 },
  slow: [2],
};
let fake: FakeDashboard;
let browser: Browser;
let page: Page;
let job: FakeJob;
/** Overrides fields of the running job. */
let overrides: Partial<Job> | null;
let streamError: object | null;
/** The metadata of outputs. */
let outputs: readonly object[] = [];
/** The metadata of the source. */
let input: object = {};
let running: readonly object[] = [];
let timer: ReturnType<typeof setInterval>;
const complaints: string[] = [];
const NOT_KEPT = { status: 409, error_code: "job_state_conflict", message: "It is no longer kept" };

/** The time of the job, which stands still until `goOn`. */
let now: () => number;

const jobNow = (): Job => ({ ...job.job(now()), ...overrides });
const events = (): string => `/v2/jobs/${job.id}/events`;
const isOver = (): boolean => jobNow().completed_at !== null;

/** The first events of a stream. */
function opening(): unknown {
  if (streamError) return streamError;
  const at = now();
  job.changes(at);
  const tasks = { ...job.list(at), removed: [] };
  return [["job", jobNow()], ...(isOver() ? [["end", jobNow()]] : [["tasks", tasks]])];
}

beforeAll(async () => {
  const unlessOld = (read: (request: FakeRequest) => object) => (request: FakeRequest) =>
    overrides?.id === "old" ? NOT_KEPT : read(request);
  fake = await startFakeDashboard({
    "GET /v2/session": () => ({
      account: { id: "account", name: "me" },
      operator: false,
      expires_at: new Date(Date.now() + 1e7).toISOString(),
    }),
    "EVENTS /v2/jobs/:id/events": opening,
    "GET /v2/jobs/:id": jobNow,
    "GET /v2/jobs/:id/tasks": unlessOld(() => job.list(now())),
    "GET /v2/jobs/:id/commands": unlessOld(() => ({
      job_id: job.id,
      commands: job.commands(now()),
      commands_dropped: 0,
    })),
    "GET /v2/jobs/:id/running": () => ({ job_id: job.id, commands: running }),
    "GET /v2/jobs/:id/request": unlessOld(() => ({
      job_id: job.id,
      request: {
        input: { url: "https://media.example.com/a.mov" },
        storage: {},
        outputs: {},
        notification: {},
        settings: {},
      },
      left_out: ["storage.credentials"],
    })),
    "GET /v2/jobs/:id/notifications": unlessOld(() => ({
      job_id: job.id,
      notifications: [
        {
          id: "msg_1",
          event: "job.failed",
          status: "abandoned",
          attempts: 9,
          last_result: "HTTP 500",
          created_at: "2026-11-23 02:00:00 +0000",
          next_attempt_at: null,
        },
      ],
    })),
    "POST /v2/jobs/:id/notifications/:n/replay": () => ({ response: { delivered: true, status: 204, seconds: 0.1 } }),
    "GET /v2/metadata/jobs/:id": () => ({ job_id: job.id, metadata: { input, outputs } }),
    "DELETE /v2/jobs/:id": () => {
      overrides = { status: "job.aborted", completed_at: job.job(now()).created_at };
      return jobNow();
    },
    "POST /v2/jobs/:id/retry": () => {
      overrides = null;
      return jobNow();
    },
  });
  browser = await launchChromium();
});
afterAll(async () => {
  clearInterval(timer);
  await browser?.close();
  await fake?.stop();
});
beforeEach(async () => {
  clearInterval(timer);
  await page?.context().close();
  overrides = null;
  streamError = null;
  outputs = [];
  input = {};
  running = [];
  complaints.length = 0;
  fake.requests.length = 0;
});

type View = { width?: number; theme?: "light" | "dark"; still?: boolean; tab?: string };

/** Opens a job that started some seconds ago. */
async function open(options: Omit<FakeJobOptions, "startMs">, begunS: number, view: View = {}): Promise<void> {
  const openedMs = Date.now();
  now = () => openedMs;
  job = new FakeJob({ ...options, startMs: openedMs - begunS * 1000 });
  const context = await browser.newContext({
    viewport: { width: view.width ?? 1280, height: 800 },
    colorScheme: view.theme ?? "light",
    reducedMotion: view.still ? "reduce" : "no-preference",
    timezoneId: "UTC",
  });
  page = await context.newPage();
  page.on("pageerror", ({ message }) => complaints.push(message));
  page.on(
    "console",
    (line) => line.type() === "error" && !/40[49]|429/.test(line.text()) && complaints.push(line.text()),
  );
  await page.goto(`${fake.url}/dashboard/jobs/${job.id}${view.tab === undefined ? "" : `?tab=${view.tab}`}`);
  await page.locator("main h1").waitFor();
}

/** Lets the job run on, and sends changes until the test ends. */
function goOn(everyMs: number): void {
  const lateMs = Date.now() - now();
  now = () => Date.now() - lateMs;
  timer = setInterval(() => {
    fake.send(events(), "job", jobNow());
    fake.send(events(), "tasks", job.changes(now()));
    if (isOver()) fake.send(events(), "end", jobNow());
  }, everyMs);
}

const bars = (state = "") => page.locator(`.bar[data-key]${state}`);

describe("the quality of an output", () => {
  const summary = { mean: 94.25, harmonic_mean: 94, percentile_1: 71.5, min: 60.25 };
  const series = {
    interval_seconds: 1,
    vmaf: [96, 95, 60.5, null, 97],
    psnr: [40, 40, 31, null, 41],
    ssim: [0.99, 0.99, 0.9, null, 0.99],
  };
  const rendition = {
    track: "video",
    width: 1280,
    height: 720,
    shown_width: 1920,
    shown_height: 1080,
    model: "vmaf_v0.6.1",
    frames: 50,
    every: 3,
    vmaf: summary,
    psnr: summary,
    ssim: { ...summary, mean: 0.98 },
    series,
  };

  it("is shown over the output's length, also as a table", async () => {
    const [first] = (job ?? new FakeJob({ ...SMALL, startMs: Date.now() })).job(Date.now()).outputs;
    const key = first?.key ?? "";
    overrides = { status: "job.completed", completed_at: "2026-11-23 02:00:00 +0000" };
    overrides.outputs = first ? [{ ...first, status: "video.encoded" }] : [];
    outputs = [{ [key]: { streams: [], format: {}, quality: { renditions: [rendition] } } }];
    await open(SMALL, 200);
    const section = page.getByRole("region", { name: `Quality of ${key}` });
    expect(await section.locator("dd").allTextContents()).toEqual([
      ...["94.3", "71.5", "60.3", "94.3 dB", "0.9800", "one of 3 frames"],
    ]);
    const strip = section.getByRole("img", { name: `VMAF of ${key} over its length, worst at 0:02: 60.5` });
    expect(await strip.locator("rect").count()).toBe(4);
    await section.getByText("VMAF over time").click();
    await expect
      .poll(() => section.locator("tbody tr").allTextContents())
      .toEqual([
        ...["0:0096.040.00.9900", "0:0195.040.00.9900", "0:0260.531.00.9000", "0:03–––", "0:0497.041.00.9900"],
      ]);
    expect(await accessibilityProblems(page)).toEqual([]);
    expect(complaints).toEqual([]);
  });
});

describe("the timeline", () => {
  it("shows lost attempts and second attempts as they happen", async () => {
    await open(SMALL, 22);
    await bars("[data-state=running]").first().waitFor();
    expect(await bars("[data-state=lost]").count()).toBe(0);
    goOn(250);
    await bars("[data-state=lost]").first().waitFor();
    await page.locator(".bar.speculative").first().waitFor();
    const title = await page.locator(".tl > header p").textContent();
    expect(title).toMatch(/attempts? lost/);
    await page.getByRole("button", { name: "Table" }).click();
    await page.locator(".tl-table td", { hasText: "lost" }).first().waitFor();
  });

  it("selects attempts by keyboard and by pointer", async () => {
    await open(SMALL, 200);
    const chart = page.getByRole("group", { name: /^Timeline: 4 nodes · 24 of 24 chunks done/ });
    await chart.focus();
    await page.keyboard.press("ArrowRight");
    await page.locator(".tl-details h3", { hasText: "inspect, attempt 1 on attic: completed" }).waitFor();
    await page.keyboard.press("End");
    await page.locator(".tl-details h3", { hasText: "join, attempt 1 on garage: completed" }).waitFor();
    await page.locator(".tl-details .code").first().waitFor();
    await page.keyboard.press("Escape");
    await page.locator(".tl-details").waitFor({ state: "detached" });
    const lost = bars("[data-state=lost]").first();
    await lost.click();
    await page.locator(".tl-details h3", { hasText: "on garage: lost" }).waitFor();
    expect(await lost.getAttribute("title")).toMatch(
      /^chunk \d+ · .*: lost\ngarage, attempt 1\n.*did not report again$/s,
    );
    expect(await page.locator(".bar.related").count()).toBe(1);
    expect(await page.locator(".cell.selected").count()).toBe(1);
  });

  it("shows the whole of a long job, or its last ten minutes", async () => {
    await open({ chunks: 60, nodes: 2, slots: 4, encodeSeconds: 60 }, 5000);
    await bars().first().waitFor();
    const all = await bars().count();
    const recent = page.getByRole("button", { name: "Last 10 minutes" });
    await recent.click();
    await expect.poll(() => bars().count()).toBeLessThan(all);
    await bars('[data-key^="join "]').waitFor();
    await recent.click();
    await expect.poll(() => bars().count()).toBe(all);
  });

  it("does not move for people who prefer reduced motion", async () => {
    await open(SMALL, 12, { still: true });
    await bars("[data-state=running]").first().waitFor();
    const style = () => page.locator(".slot > .bar.running").first().getAttribute("style");
    const before = await style();
    await page.waitForTimeout(600);
    expect(await style()).toBe(before);
  });
});

describe("the page of a job", () => {
  it.each([
    ["light", 1280, "commands"],
    ["dark", 1280, "notifications"],
    ["light", 320, "history"],
    ["dark", 320, "request"],
  ] as const)("has no problems for assistive technology: %s, %d px, %s", async (theme, width, tab) => {
    await open(SMALL, 40, { theme, width, tab });
    await bars().first().waitFor();
    await page.getByRole("tabpanel").locator("button, time, .code").first().waitFor();
    expect(await accessibilityProblems(page)).toEqual([]);
    expect(await sidewaysPixels(page)).toBe(0);
    expect(complaints).toEqual([]);
  });

  it("shows the commands that run now, with the end of their output", async () => {
    const started_at = new Date().toISOString();
    const run = { task: "chunk-3", attempt: 1, node: "attic", started_at, seconds: 4, argv: ["-i", "source"] };
    running = [{ ...run, output: "frame=12 speed=2x" }];
    await open(SMALL, 12);
    const command = page.locator(".run", { hasText: "chunk-3" }).filter({ hasText: "Its output now" });
    await command.getByText("ffmpeg -i source").waitFor();
    running = [{ ...run, output: "frame=99 speed=2x" }];
    await command.getByText("frame=99 speed=2x").waitFor();
    expect(complaints).toEqual([]);
  });

  it("shows why a job failed and how to fix it, and retries the job", async () => {
    const failed = { key: "mp4", type: "video", format: "mp4", status: "video.failed" } as const;
    overrides = {
      status: "job.failed",
      completed_at: "2026-11-23 02:00:09 +0000",
      outputs: [{ ...failed, error: "The storage denied access", error_code: "storage_denied" }],
    };
    await open(SMALL, 0);
    await page.getByRole("tab", { name: "Commands" }).waitFor({ state: "detached" });
    await page.getByRole("tab", { name: "Request", selected: true }).waitFor();
    const text = await page.locator("main").textContent();
    expect(text).toMatch(/mp4: The storage denied access.*Correct the storage: Edit and send again.*storage_denied/);
    expect(text?.match(/The storage denied access/g)).toHaveLength(1);
    expect(await page.locator(".page-head .primary").allTextContents()).toEqual(["Edit and send again"]);
    await page.keyboard.press("r");
    await page.locator(".follow-live").waitFor();
    await page.locator(".failures").waitFor({ state: "detached" });
    expect(fake.requests.some((request) => request.startsWith("POST") && request.endsWith("/retry"))).toBe(true);
  });

  it("answers with the source and the sizes of the outputs when a job has ended, and then with its course", async () => {
    const file = (codec_name: string, width: number, height: number, size: string) => ({
      streams: [{ codec_type: "video", codec_name, width, height, avg_frame_rate: "25/1" }],
      format: { duration: "60", size },
    });
    input = file("prores", 1920, 1080, "8000000");
    outputs = [{ mp4: file("h264", 1280, 720, "2000000") }];
    const url = `${fake.url}/vod/My%20clip.mp4`;
    overrides = {
      status: "job.completed",
      completed_at: "2026-11-23 02:00:09 +0000",
      speed: 7.5,
      outputs: [{ key: "mp4", type: "video", format: "mp4", status: "video.encoded", url }],
    };
    await open(SMALL, 200);
    const source = page.getByRole("listitem").filter({ has: page.getByRole("heading", { name: "Source" }) });
    await source.getByText("ProRes 1920×1080 · 25 fps").waitFor();
    expect(await page.locator(".size").allTextContents()).toEqual(["8 MB", "2 MB25 % of the source"]);
    const widths = await page.locator(".size > .bar").evaluateAll((bars) => bars.map(({ clientWidth }) => clientWidth));
    expect(widths[0]).toBe(4 * (widths[1] ?? 0));
    expect(await source.locator("img").count()).toBe(0);
    expect(await page.getByRole("link", { name: "My clip.mp4" }).getAttribute("href")).toBe(url);
    expect(await page.locator("main h2").allTextContents()).toEqual(["Outputs", "Timeline"]);
    await page.getByText("Encoded at 7.5× real time").waitFor();
    expect(await accessibilityProblems(page)).toEqual([]);
    expect(complaints).toEqual([]);
  });

  it("asks before it cancels a job", async () => {
    await open(SMALL, 5);
    await page.getByRole("button", { name: "Cancel", exact: true }).click();
    await page.getByRole("button", { name: "Cancel the job" }).click();
    await page.locator(".status", { hasText: "canceled" }).waitFor();
  });

  it("replays a notification to another URL, and shows the response", async () => {
    await open(SMALL, 200, { tab: "notifications" });
    await page.getByRole("button", { name: "Replay to …" }).click();
    await page.getByLabel("URL").fill("https://staging.example.com/hook");
    await page.getByRole("button", { name: "Send", exact: true }).click();
    await page.locator("dialog .status", { hasText: "HTTP 204" }).waitFor();
  });

  it("polls a job with too many followers every 5 s, and shows it", async () => {
    streamError = { status: 429, error_code: "rate_limited", message: "Too many followers" };
    await open(SMALL, 15);
    await page.locator(".follow-polling", { hasText: "Every 5 s" }).waitFor();
    await bars("[data-state=running]").first().waitFor();
  });

  it("shows that the tasks of an old job are no longer kept", async () => {
    overrides = { id: "old" };
    await open(SMALL, 200);
    await page.getByText("no longer kept").first().waitFor();
    expect(await page.locator(".tl").count()).toBe(0);
  });
});
