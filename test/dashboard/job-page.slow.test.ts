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
const LARGE: Omit<FakeJobOptions, "startMs"> = {
  chunks: 300,
  nodes: 5,
  slots: 20,
  encodeSeconds: 4,
  lost: { node: 3, atSeconds: 20 },
  slow: [30, 31],
};
const SOAK = process.env.COPRA_SOAK !== undefined;
/** Seconds for which the test watches the large job. */
const WATCHED_S = SOAK ? 60 : 8;
const UPDATE_MS = 100;
const LONGEST_TASK_MS = 100;
/**
 * Share of updates that may be late. A busy machine delays single updates; a page that draws too slowly delays most.
 */
const MAX_HELD_UP = 0.25;
const MAX_HEAP_GROWTH = 20e6;

let fake: FakeDashboard;
let browser: Browser;
let page: Page;
let job: FakeJob;
/** Overrides fields of the running job. */
let overrides: Partial<Job> | null;
let streamError: object | null;
/** The metadata of outputs. */
let outputs: readonly object[] = [];
let running: readonly object[] = [];
let timer: ReturnType<typeof setInterval>;
const complaints: string[] = [];
const NOT_KEPT = { status: 409, error_code: "job_state_conflict", message: "It is no longer kept" };

const jobNow = (): Job => ({ ...job.job(Date.now()), ...overrides });
const events = (): string => `/v2/jobs/${job.id}/events`;
const isOver = (): boolean => jobNow().completed_at !== null;

/** The first events of a stream. */
function opening(): unknown {
  if (streamError) return streamError;
  const now = Date.now();
  job.changes(now);
  const tasks = { ...job.list(now), removed: [] };
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
    "GET /v2/jobs/:id/tasks": unlessOld(() => job.list(Date.now())),
    "GET /v2/jobs/:id/commands": unlessOld(() => ({
      job_id: job.id,
      commands: job.commands(Date.now()),
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
    "GET /v2/metadata/jobs/:id": () => ({ job_id: job.id, metadata: { input: {}, outputs } }),
    "DELETE /v2/jobs/:id": () => {
      overrides = { status: "job.aborted", completed_at: job.job(Date.now()).created_at };
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
  overrides = null;
  streamError = null;
  outputs = [];
  running = [];
  complaints.length = 0;
  fake.requests.length = 0;
  await page?.context().close();
});

type View = { width?: number; theme?: "light" | "dark"; still?: boolean; tab?: string };

/** Opens a job that started some seconds ago and runs on. */
async function open(options: Omit<FakeJobOptions, "startMs">, begunS: number, view: View = {}): Promise<void> {
  job = new FakeJob({ ...options, startMs: Date.now() - begunS * 1000 });
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

/** Sends changes until the test ends. */
function goOn(everyMs = UPDATE_MS): void {
  timer = setInterval(() => {
    const now = Date.now();
    fake.send(events(), "job", jobNow());
    fake.send(events(), "tasks", job.changes(now));
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
  it("draws 300 chunks on 20 slots ten times a second without long tasks or memory growth", async () => {
    await open(LARGE, 26);
    await bars().first().waitFor();
    goOn();
    const session = await page.context().newCDPSession(page);
    const heap = async (): Promise<number> => {
      await session.send("HeapProfiler.collectGarbage");
      return (await session.send("Runtime.getHeapUsage")).usedSize;
    };
    await page.waitForTimeout(1500);
    const before = await heap();
    await page.evaluate(() => {
      const durations: number[] = [];
      Object.assign(globalThis, { durations });
      new PerformanceObserver((list) => durations.push(...list.getEntries().map(({ duration }) => duration))).observe({
        type: "longtask",
      });
    });
    const drawn = await bars().count();
    await page.waitForTimeout(WATCHED_S * 1000);
    const durations = await page.evaluate(() => (globalThis as unknown as { durations: number[] }).durations);
    const growth = (await heap()) - before;
    console.info(`long tasks ${durations.map(Math.round)} ms, heap ${Math.round(growth / 1000)} kB, ${drawn} bars`);
    expect(await bars().count()).toBeGreaterThan(drawn);
    const heldUp = durations.filter((duration) => duration > LONGEST_TASK_MS).length;
    expect(heldUp / ((WATCHED_S * 1000) / UPDATE_MS)).toBeLessThan(MAX_HELD_UP);
    expect(growth).toBeLessThan(MAX_HEAP_GROWTH);
    expect(complaints).toEqual([]);
  });

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

  it("can be used by keyboard and by brush", async () => {
    await open(SMALL, 200);
    const chart = page.getByRole("group", { name: /^Timeline: 4 nodes · 24 of 24 chunks done/ });
    await chart.focus();
    await page.keyboard.press("ArrowRight");
    await page.locator(".tl-details h3", { hasText: "inspect, attempt 1 on attic: completed" }).waitFor();
    await page.keyboard.press("ArrowRight");
    await page.locator(".tl-details h3", { hasText: "on attic" }).waitFor();
    await page.keyboard.press("ArrowDown");
    await page.locator(".tl-details .code").first().waitFor();
    await page.keyboard.press("Escape");
    await page.locator(".tl-details").waitFor({ state: "detached" });
    const box = await page.locator("svg.lanes").boundingBox();
    if (!box) throw new Error("No lanes");
    const all = await bars().count();
    await page.mouse.move(box.x + 200, box.y + 20);
    await page.mouse.down();
    await page.mouse.move(box.x + 320, box.y + 40, { steps: 3 });
    await page.mouse.up();
    await page.getByRole("button", { name: "Show the whole job" }).waitFor();
    expect(await bars().count()).toBeLessThan(all);
    await page.keyboard.press("0");
    await expect.poll(() => bars().count()).toBe(all);
  });

  it("does not move for people who prefer reduced motion", async () => {
    await open(SMALL, 12, { still: true });
    await bars("[data-state=running]").first().waitFor();
    const path = () => page.locator(".bar.running .outline").first().getAttribute("d");
    const before = await path();
    await page.waitForTimeout(600);
    expect(await path()).toBe(before);
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
    await open(SMALL, 5);
    const text = await page.locator(".failures").textContent();
    expect(text).toMatch(/mp4: The storage denied access.*Correct the storage.*storage_denied/);
    await page.keyboard.press("r");
    await page.locator(".follow-live").waitFor();
    await page.locator(".failures").waitFor({ state: "detached" });
    expect(fake.requests.some((request) => request.startsWith("POST") && request.endsWith("/retry"))).toBe(true);
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
