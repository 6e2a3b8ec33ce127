/// <reference lib="dom" />
// The pages of jobs, nodes and usage with a fake API whose numbers are known.
import type { Browser, Page, Route } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Job, JobEvent, Node } from "../../client/index.ts";
import { type FakeDashboard, type FakeRequest, startFakeDashboard } from "../../dashboard/testing/fake-dashboard.ts";
import { launchChromium } from "../players/chromium.ts";
import { accessibilityProblems, sidewaysPixels } from "./browser.ts";

const NOW = Date.parse("2026-11-23T12:00:00Z");
const JOBS = 10_000;
/** Jobs of each status. axe takes seconds for a hundred rows. */
const FEW_JOBS = 12;
const contractDate = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19).replace("T", " ")} +0000`;
const idOf = (at: number): string => `job${String(at).padStart(11, "0")}`;

/** The newest two jobs run; each tenth has failed. */
function jobAt(at: number): Job {
  const isRunning = at < 2;
  const failed = !isRunning && at % 10 === 5;
  return {
    id: idOf(at),
    created_at: contractDate(NOW - at * 60_000),
    completed_at: isRunning ? null : contractDate(NOW - at * 60_000 + 30_000),
    ends_at: null,
    status: isRunning ? "job.starting" : failed ? "job.failed" : "job.completed",
    progress: isRunning ? "10%" : "100%",
    input: { status: "input.transferred", source: `https://media.example.com/${at}/clip-${at}.mp4` },
    outputs: [
      {
        key: "mp4:240p",
        type: "video",
        format: "mp4:240p",
        ...(failed ? { status: "video.failed", error: "The disk is full" } : { status: "video.encoded" }),
      },
    ],
  };
}

const NODE: Node = {
  id: "attic",
  state: "ready",
  not_ready: [],
  pool: "default",
  labels: ["gpu"],
  region: null,
  spot: false,
  host: "attic.lan",
  version: "0.1.0",
  protocol: 3,
  ffmpeg: "7.1.5",
  cpus: 8,
  hardware: null,
  leases: 1,
  score: 0,
  disk: { free_bytes: 2e11, total_bytes: 5e11 },
  connected_at: new Date(NOW).toISOString(),
  last_seen_at: null,
  lost_leases: [],
  hub: "hub:default:0",
  slots: { inspect: { free: 4, running: 0 }, encode: { free: 1, running: 1 } },
};
/** Half of the day one slot was busy, then two. */
const STEPS = Array.from({ length: 96 }, (_, at) => ({
  at: new Date(NOW - (96 - at) * 900_000).toISOString(),
  busy: at < 48 ? 1 : 2,
  speed: at < 48 ? 2.5 : 5.5,
}));
const TOKEN = `n-${"a".repeat(43)}`;
const DEMAND = { wanted: 2, running: 1, waiting: 1, free: 1, oldest_wait_seconds: 3, mean_task_seconds: 20 };
const USAGE = {
  jobs: { completed: 3, failed: 1, cancelled: 0 },
  output_seconds: { audio: 0, sd: 0, hd: 6000, uhd: 0 },
  node_seconds: 7200,
  stored_bytes: 5e9,
};
/** The usage of a 20 s clip on a fast node. */
const LITTLE = { ...USAGE, output_seconds: { audio: 0, sd: 0, hd: 20, uhd: 0 }, node_seconds: 5, stored_bytes: 1000 };

let jobs: Job[];
let state: Node["state"];
let isForgotten = false;
/** True if a second node has connected. */
let hasCome = false;

function listPage({ query }: FakeRequest) {
  const q = query.get("q") ?? "";
  const statuses = query.get("status")?.split(",") ?? [];
  const matching = jobs.filter(
    ({ id, status, input }) =>
      `${id} ${input.source}`.includes(q) && (statuses.length === 0 || statuses.includes(status)),
  );
  // All ended jobs took the same time.
  const listed = query.get("sort") === "took" ? matching.filter((job) => job.completed_at !== null) : matching;
  const start = Number(query.get("cursor") ?? 0);
  const end = start + Number(query.get("limit") ?? 20);
  return { jobs: listed.slice(start, end), next_cursor: end < listed.length ? String(end) : null };
}

const counts = () => ({
  counts: Object.fromEntries(
    ["job.starting", "job.completed", "job.failed", "job.aborted"].map((status) => [
      status,
      jobs.filter((job) => job.status === status).length,
    ]),
  ),
  capped: false,
});

function retried({ body }: FakeRequest) {
  const { ids = [] } = body as { ids?: string[] };
  return {
    jobs: ids.map((id) =>
      jobs.find((job) => job.id === id)?.status === "job.failed"
        ? { id, status: "job.starting" }
        : { id, error: { error_code: "job_state_conflict", message: "The job has completed" } },
    ),
    has_more: false,
    next_cursor: null,
  };
}

let fake: FakeDashboard;
/** True if the operator's session is for an account. */
let hasAccount = true;
const NO_LIMITS = { max_unfinished_jobs: null, max_running: null, max_priority: null, weight: 1 };
let accounts: ({ id: string; name: string; created_at: string } & object)[] = [];
let browser: Browser;
let page: Page;
const complaints: string[] = [];

beforeAll(async () => {
  const gone = () => ({ last_seen_at: contractDate(Date.now() - 180_000), lost_leases: [`${idOf(1)}.chunk-7.2`] });
  const node = () => ({ ...NODE, state, ...(state === "gone" ? gone() : {}) });
  const setState = (next: Node["state"]) => () => {
    state = next;
    return node();
  };
  fake = await startFakeDashboard({
    "GET /v2/session": () => ({
      account: hasAccount ? { id: "account", name: "me" } : null,
      operator: true,
      expires_at: new Date(Date.now() + 1e7).toISOString(),
    }),
    "GET /v2/jobs": listPage,
    "GET /v2/jobs/counts": counts,
    "GET /v2/jobs/:id": ({ path }) => jobs.find(({ id }) => path.endsWith(id)),
    "POST /v2/jobs/retry": retried,
    "GET /v2/admin/accounts": () => ({ accounts }),
    "POST /v2/admin/accounts": ({ body }) => {
      accounts = [{ ...NO_LIMITS, id: "first", created_at: contractDate(NOW), ...(body as { name: string }) }];
      return { account_id: "first", api_key: "k-first", webhook_secret: "whsec_first" };
    },
    "POST /v2/admin/accounts/:id/limits": ({ path, body }) => {
      accounts = accounts.map((row) => (path.split("/").at(-2) === row.id ? { ...row, ...(body as object) } : row));
      return { account_id: "first", ...(body as object) };
    },
    "GET /v2/admin/nodes": () => ({
      nodes: isForgotten ? [] : [node(), ...(hasCome ? [{ ...NODE, id: "cellar" }] : [])],
    }),
    "POST /v2/admin/node-tokens": ({ body }) => ({ id: "t1", node_token: TOKEN, pool: "default", ...(body as object) }),
    "DELETE /v2/admin/nodes/:id": () => {
      isForgotten = true;
      return node();
    },
    "GET /v2/admin/nodes/:id/history": () => ({ id: NODE.id, step_seconds: 900, steps: STEPS }),
    "GET /v2/admin/nodes/:id": () => ({
      ...node(),
      running: [{ lease: `${idOf(1)}.chunk-7.2`, class: "encode" }],
      capabilities: {
        ffmpegVersion: "7.1.5",
        encoders: ["libx264"],
        cpus: 8,
        isolation: { level: "partial", missing: ["network"] },
      },
    }),
    "POST /v2/admin/nodes/:id/cordon": setState("cordoned"),
    "POST /v2/admin/nodes/:id/uncordon": setState("ready"),
    "POST /v2/admin/nodes/:id/drain": setState("draining"),
    "GET /v2/autoscale": () => ({
      encode: DEMAND,
      inspect: DEMAND,
      pools: { default: { encode: DEMAND, inspect: DEMAND } },
    }),
    "GET /v2/usage": ({ query }) => {
      const [from, to] = [query.get("from"), query.get("to")];
      const total = to === "2026-11-23" ? USAGE : LITTLE;
      return { from, to, days: [{ day: to, ...total }], total };
    },
  });
  browser = await launchChromium();
});
afterAll(async () => {
  await browser.close();
  await fake.stop();
});

beforeEach(async () => {
  // First, because the page of the test before may still request what changes here.
  await page?.context().close();
  jobs = Array.from({ length: JOBS }, (_, at) => jobAt(at));
  state = "ready";
  isForgotten = false;
  hasCome = false;
  fake.requests.length = 0;
  complaints.length = 0;
});

type Opening = {
  readonly width?: number;
  readonly theme?: "light" | "dark";
  /** Resolves when the page may open its event stream. */
  readonly events?: Promise<void>;
};

async function open(path: string, options: Opening = {}): Promise<void> {
  const context = await browser.newContext({
    viewport: { width: options.width ?? 1280, height: 800 },
    colorScheme: options.theme ?? "light",
    timezoneId: "UTC",
  });
  page = await context.newPage();
  page.on("pageerror", ({ message }) => complaints.push(message));
  page.on("console", (line) => line.type() === "error" && complaints.push(`${line.text()} ${line.location().url}`));
  const { events } = options;
  if (events) await page.route(/\/v2\/events/, (route) => events.then(() => route.continue()));
  await page.goto(`${fake.url}/dashboard${path}`);
  await page.locator("main h1").waitFor();
  await page.waitForFunction(() => document.querySelector(".loading") === null);
}

const rows = () => page.locator(".jobs tbody tr");
const press = async (...keys: string[]): Promise<void> => {
  for (const key of keys) await page.keyboard.press(key);
};
const listRequests = (): string[] => fake.requests.filter((request) => request.startsWith("GET /v2/jobs?"));
const focusedJob = () => page.evaluate(() => document.activeElement?.closest<HTMLElement>("tr")?.dataset.id);
/** Sends an event of the account once the stream is open. */
async function announce(job: Job): Promise<void> {
  await page.getByRole("button", { name: "Live" }).waitFor();
  const { id, status, progress, created_at, completed_at } = job;
  const data: JobEvent = {
    id,
    status,
    progress,
    created_at,
    completed_at,
    outputs: { completed: 0, failed: 0, total: 1 },
  };
  fake.send("/v2/events", "job", data);
}

describe("the list of jobs", () => {
  it("loads 10,000 jobs in pages of 100, never more at once", async () => {
    await open("/");
    for (let at = 0; at < 3; at++) {
      await rows()
        .locator(`text=clip-${at * 100}.mp4`)
        .waitFor();
      expect(await rows().count()).toBe(100);
      await press("]");
    }
    await rows().locator("text=clip-300.mp4").waitFor();
    expect(listRequests().every((request) => /limit=100\b/.test(request))).toBe(true);
    await press("[");
    await rows().locator("text=clip-200.mp4").waitFor();
    expect(await page.getByRole("button", { name: "failed" }).textContent()).toBe("failed1,000");
    expect(complaints).toEqual([]);
  });

  it("shows once why several jobs wait, and the id of each", async () => {
    const waiting = (at: number, waiting_for: string): Job => ({ ...jobAt(at), state: "queued", waiting_for });
    jobs = [
      ...[waiting(0, "a node in pool gpu"), waiting(1, "a node in pool gpu")],
      { ...waiting(2, "a node with libsvtav1"), status: "job.starting", completed_at: null },
      jobAt(5),
    ];
    await open("/");
    expect(await page.locator(".jobs > .notice").allTextContents()).toEqual([
      "2 of these jobs wait for a node in pool gpu.",
    ]);
    for (const at of [0, 1, 2, 3])
      await rows()
        .nth(at)
        .getByText(jobs[at]?.id ?? "")
        .waitFor();
    expect(await rows().locator(".remark").allTextContents()).toEqual([
      "waits for a node with libsvtav1",
      "✕ mp4:240p: The disk is full",
    ]);
    expect(await page.locator("th.image").isVisible()).toBe(false);
    expect(await accessibilityProblems(page)).toEqual([]);
  });

  it("has a column for images if a job has an image that the browser can read", async () => {
    const image = { key: "jpg", type: "image", format: "jpg", status: "image.created" } as const;
    jobs = [{ ...jobAt(2), outputs: [{ ...image, urls: [`${fake.url}/image.jpg`] }] }, jobAt(3)];
    const arrival = Promise.withResolvers<void>();
    await open("/");
    await page.route("**/image.jpg", (route) => arrival.promise.then(() => route.abort()));
    await page.reload();
    await page.locator("th.image").waitFor();
    arrival.resolve();
    await page.locator("th.image").waitFor({ state: "hidden" });
  });

  it("shows the filters on a phone on request", async () => {
    jobs = jobs.slice(0, FEW_JOBS);
    await open("/", { width: 390 });
    const failed = page.getByRole("button", { name: /^failed/ });
    expect(await failed.isVisible()).toBe(false);
    await page.getByRole("button", { name: "Filters" }).click();
    await failed.click();
    await page.getByRole("button", { name: "Filtered" }).click();
    await failed.waitFor({ state: "hidden" });
    expect(await accessibilityProblems(page)).toEqual([]);
    expect([await sidewaysPixels(page), complaints]).toEqual([0, []]);
  });

  it("shows jobs that were created during the load, before events arrived", async () => {
    const created = Promise.withResolvers<void>();
    await open("/", { events: created.promise });
    jobs = [{ ...jobAt(0), id: "new00000000001" }, ...jobs];
    created.resolve();
    await expect.poll(() => rows().first().getAttribute("data-id")).toBe("new00000000001");
  });

  it("sorts by a column, shows the chosen columns, and keeps both in a saved view", async () => {
    jobs = jobs.slice(0, FEW_JOBS);
    await open("/");
    await page.getByRole("button", { name: "Took" }).click();
    await expect.poll(() => listRequests().at(-1)).toContain("sort=took");
    await rows().first().locator("text=clip-2.mp4").waitFor();
    expect(await page.locator("th.took").getAttribute("aria-sort")).toBe("descending");
    await page.locator("summary", { hasText: "Columns" }).click();
    await page.getByRole("checkbox", { name: "Formats" }).check();
    await page.getByRole("checkbox", { name: "Outputs" }).uncheck();
    // The column of the order stays.
    await page.getByRole("checkbox", { name: "Took" }).uncheck();
    expect(await page.locator("th:not(.check, .image)").allInnerTexts()).toEqual([
      "Job",
      "Status",
      "Formats",
      "Created",
      "Took\n↓",
    ]);
    expect(await accessibilityProblems(page)).toEqual([]);
    await page.getByRole("button", { name: "Save as …" }).click();
    await page.getByRole("textbox", { name: "Name of the view" }).fill("Slow");
    await press("Enter");
    const saved = "?sort=took&columns=formats%2Ctags%2Ccreated";
    await expect.poll(() => new URL(page.url()).search).toBe(saved);
    await page.getByRole("button", { name: "Created" }).click();
    await expect.poll(() => new URL(page.url()).search).toBe("?columns=formats%2Ctags%2Ccreated");
    await page.getByRole("button", { name: "Slow" }).click();
    await expect.poll(() => new URL(page.url()).search).toBe(saved);
    // Another visit has the columns, too.
    await page.goto(`${fake.url}/dashboard`);
    await page.locator("th.formats").waitFor();
    expect([await page.locator("th.outputs").count(), complaints]).toEqual([0, []]);
  });

  it("takes letters after Ctrl K as text of the palette, also while scripts arrive late", async () => {
    await open("/");
    await rows().first().waitFor();
    await page.route(/\/assets\/.*\.(js|css)$/, (route) => setTimeout(() => route.continue(), 800));
    await press("Control+k", "a", "c");
    await expect.poll(() => page.getByRole("combobox", { name: /view or job/ }).inputValue()).toBe("ac");
    await press("Escape");
    expect(await page.getByRole("dialog").count()).toBe(0);
    expect(await page.locator(".jobs input:checked").count()).toBe(0);
    expect(complaints).toEqual([]);
  });

  it("opens a dialog before the next key", async () => {
    await open("/");
    await rows().first().waitFor();
    const hasTyped = await page.evaluate(async () => {
      const press = (key: string, ctrlKey = false): boolean =>
        (document.activeElement ?? document.body).dispatchEvent(
          new KeyboardEvent("keydown", { key, ctrlKey, bubbles: true, cancelable: true }),
        );
      press("k", true);
      await Promise.resolve().then(() => undefined);
      return press("a");
    });
    expect(hasTyped).toBe(true);
    expect(await page.locator(".jobs input:checked").count()).toBe(0);
  });

  it("offers to retry jobs only if some are selected or have the focus", async () => {
    await open("/");
    await rows().first().waitFor();
    const retry = page.getByRole("option", { name: "Retry the selected jobs" });
    await press("Control+k");
    await page.getByRole("option", { name: "Search" }).waitFor();
    expect(await retry.count()).toBe(0);
    await press("Escape", "j", "x", "Control+k");
    await retry.waitFor();
  });

  it("ignores the response of an earlier load if a later load has ended", async () => {
    await open("/");
    const read = Promise.withResolvers<void>();
    const late = Promise.withResolvers<void>();
    const hold = async (route: Route): Promise<void> => {
      const response = await route.fetch();
      read.resolve();
      await late.promise;
      await route.fulfill({ response });
    };
    await page.route(/\/v2\/jobs\?/, hold, { times: 1 });
    await press("g", "r");
    await read.promise;
    jobs = [{ ...jobAt(0), id: "new00000000001" }, ...jobs];
    await press("g", "r");
    await expect.poll(() => rows().first().getAttribute("data-id")).toBe("new00000000001");
    const arrived = page.waitForEvent("requestfinished", (request) => /\/v2\/jobs\?/.test(request.url()));
    late.resolve();
    await arrived;
    await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
    expect(await rows().first().getAttribute("data-id")).toBe("new00000000001");
  });

  it("shows the tags of jobs, and filters by up to three tags in the URL", async () => {
    jobs = [{ ...jobAt(0), tags: { tenant: "a", empty: "" } }, ...jobs.slice(1, FEW_JOBS)];
    await open("/?status=failed");
    expect(await page.locator("th.tags").count()).toBe(0);
    const field = page.getByRole("textbox", { name: "Tag" });
    for (const tag of ["order.id = 7=7", "x=1"]) {
      await field.fill(tag);
      await field.press("Enter");
    }
    await expect.poll(() => new URL(page.url()).search).toBe("?status=failed&tag.order.id=7%3D7&tag.x=1");
    await expect.poll(() => listRequests().at(-1)).toContain("tag.order.id=7%3D7&tag.x=1");
    await page.getByRole("button", { name: "Without the tag x=1" }).click();
    await page.getByRole("button", { name: "Clear" }).click();
    await expect.poll(() => new URL(page.url()).search).toBe("");
    await rows().getByRole("link", { name: "tenant=a" }).click();
    await expect.poll(() => new URL(page.url()).search).toBe("?tag.tenant=a");
    await field.fill("no tag");
    await field.press("Enter");
    expect(new URL(page.url()).search).toBe("?tag.tenant=a");
    expect(await accessibilityProblems(page)).toEqual([]);
    expect([await sidewaysPixels(page), complaints]).toEqual([0, []]);
  });

  it("can be used by keyboard: search, move, select, open, and return to the same job", async () => {
    await open("/?status=failed");
    await press("/");
    await page.keyboard.type("clip-15");
    await press("Enter");
    await expect.poll(() => rows().count()).toBe(12);
    expect(new URL(page.url()).search).toBe("?status=failed&q=clip-15");
    await press("j", "j", "x", "k");
    expect(await focusedJob()).toBe(idOf(15));
    expect(await page.locator(".bulk strong").textContent()).toBe("1 job selected");
    await press("Escape");
    expect(await page.locator(".bulk").count()).toBe(0);
    await press("j", "Enter");
    await expect.poll(() => new URL(page.url()).pathname).toBe(`/dashboard/jobs/${idOf(155)}`);
    await page.goBack();
    await expect.poll(focusedJob).toBe(idOf(155));
  });

  it("filters jobs by a named period or by days", async () => {
    await open("/");
    await page.getByRole("combobox", { name: "Created" }).selectOption("Last 7 days");
    await expect.poll(() => listRequests().at(-1)).toMatch(/created_after=\d{4}-/);
    expect(new URL(page.url()).search).toBe("?from=7d");
    await page.getByRole("combobox", { name: "Created" }).selectOption("Days …");
    await page.getByLabel("Created from this day").fill("2026-11-20");
    await page.getByLabel("Created until this day").fill("2026-11-21");
    const days = await page
      .locator(".filters .day")
      .evaluateAll((all: HTMLElement[]) => all.map(({ dataset }) => dataset.text));
    expect(days).toEqual(["20 Nov 2026", "21 Nov 2026"]);
    await expect.poll(() => listRequests().at(-1)).toMatch(/created_after=2026-11-.*created_before=2026-11-/);
    expect(new URL(page.url()).search).toBe("?from=2026-11-20&to=2026-11-21");
    await page.getByRole("button", { name: "Clear" }).click();
    await expect.poll(() => new URL(page.url()).search).toBe("");
  });

  it("applies events: changed jobs at once, new jobs at the top unless that would disturb", async () => {
    await open("/");
    const done: Job = { ...jobAt(0), status: "job.completed", progress: "100%", completed_at: contractDate(NOW) };
    jobs[0] = done;
    await announce(done);
    await rows().first().locator("text=completed").waitFor();
    jobs = [{ ...jobAt(0), id: "new00000000001" }, ...jobs];
    await announce(jobs[0] ?? done);
    await expect.poll(() => rows().first().getAttribute("data-id")).toBe("new00000000001");
    expect(await rows().count()).toBe(100);
    await press("j", "x");
    jobs = [{ ...jobAt(0), id: "new00000000002" }, ...jobs];
    await announce(jobs[0] ?? done);
    await page.getByRole("button", { name: "Show 1 new job" }).click();
    await expect.poll(() => rows().first().getAttribute("data-id")).toBe("new00000000002");
  });

  it("reads the progress of visible running jobs, and reads nothing while paused", async () => {
    await open("/");
    // The first response, and the response after the stream has opened.
    await expect.poll(listRequests).toHaveLength(2);
    jobs[1] = { ...jobAt(1), progress: "55%" };
    await rows().nth(1).locator("text=55 %").waitFor();
    const read = fake.requests.filter((request) => /^GET \/v2\/jobs\/job/.test(request));
    expect(new Set(read)).toEqual(new Set([`GET /v2/jobs/${idOf(0)}`, `GET /v2/jobs/${idOf(1)}`]));
    await press("p");
    await page.getByRole("button", { name: "Paused" }).waitFor();
    await page.waitForTimeout(200);
    fake.requests.length = 0;
    await page.waitForTimeout(3500);
    expect(fake.requests).toEqual([]);
  });

  it("changes many jobs, and shows a result for each", async () => {
    await open("/?q=clip-1");
    await rows().first().waitFor();
    await press("j", "x");
    await page.getByRole("checkbox", { name: "Select clip-15.mp4" }).check();
    await press("r");
    const dialog = page.getByRole("dialog");
    await dialog.locator("text=1 job retried, 1 not.").waitFor();
    expect(await dialog.locator("tbody tr").allTextContents()).toEqual([
      `${idOf(1)}✕ The job has completed`,
      `${idOf(15)}▶ starting`,
    ]);
    await press("Escape");
    await expect.poll(() => dialog.count()).toBe(0);
  });

  it("asks before it cancels, and shows a first command if there are no jobs", async () => {
    await open("/");
    await rows().first().waitFor();
    await press("j", "x", "c");
    const dialog = page.getByRole("dialog");
    await dialog.locator("text=Cancel 1 job?").waitFor();
    await dialog.getByRole("button", { name: "Back" }).click();
    expect(fake.requests.filter((request) => request.startsWith("POST"))).toEqual([]);
    jobs = [];
    await open("/");
    await page.locator("text=No jobs yet").waitFor();
    expect(await page.locator("pre").first().textContent()).toContain(`${fake.url}/v2/jobs`);
    await open("/?q=nothing");
    await page.locator("text=No job matches").waitFor();
  });
});

describe("the nodes", () => {
  it("are cordoned, opened and drained by keyboard", async () => {
    await open("/nodes");
    await press("j", "c");
    await page.locator(".nodes .status", { hasText: "cordoned" }).waitFor();
    await press("Enter");
    await page.locator("text=Its sandbox lacks network").waitFor();
    expect(await page.locator(".node-detail .tasks").textContent()).toBe(`${idOf(1)} chunk-7 encode, attempt 2`);
    const history = page.getByRole("region", { name: "Last 24 hours" });
    await history.getByText("Busy encode slots 1.5 on average, 2 at most").waitFor();
    await history.getByText("Speed 4× on average, 5.5× at most").waitFor();
    await press("d");
    await page.getByRole("dialog").getByRole("button", { name: "Drain attic" }).click();
    await page.locator(".nodes .status", { hasText: "draining" }).waitFor();
  });

  it("are added by a command, and the page reports when the node has connected", async () => {
    await open("/nodes");
    await page.getByRole("button", { name: "Add a node" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Name").fill("rack");
    await dialog.getByRole("button", { name: "Create its token" }).click();
    await dialog.getByText("Waiting for the node").waitFor();
    const commands = dialog.locator("pre");
    expect(await commands.textContent()).toContain(`npm run copra -- node --url ${fake.url} --token-file`);
    for (const [way, command] of [
      ["Docker", "docker run"],
      ["systemd", "node install"],
    ] as const) {
      await dialog.getByRole("tab", { name: way }).click();
      await expect.poll(() => commands.textContent()).toContain(command);
    }
    expect(await accessibilityProblems(page)).toEqual([]);
    hasCome = true;
    await dialog.getByText("A node has connected").waitFor();
    await dialog.getByText("cellar ✓ ready").waitFor();
    await dialog.getByRole("button", { name: "Done" }).click();
  });

  it("show since when a gone node is missing and its lost tasks, until it is forgotten", async () => {
    state = "gone";
    await open("/nodes");
    await page.getByRole("row", { name: /^attic gone .* ago / }).waitFor();
    await page.getByRole("button", { name: "attic", exact: true }).click();
    await expect.poll(() => page.locator(".node-detail .tasks").textContent()).toBe(`${idOf(1)} chunk-7 attempt 2`);
    expect(await accessibilityProblems(page)).toEqual([]);
    await page.getByRole("button", { name: "Forget attic" }).click();
    await expect.poll(() => page.getByRole("button", { name: "attic", exact: true }).count()).toBe(0);
  });
});

describe("the usage", () => {
  it("shows days and their sums", async () => {
    await open("/usage?from=2026-11-01&to=2026-11-23");
    expect(await page.locator(".days-table tfoot").textContent()).toBe("Total3100010002" + "5 GB");
    await page.locator(".usage-chart .part").waitFor();
  });

  it("shows fractions of minutes and hours as more than 0", async () => {
    await open("/usage?from=2026-11-22&to=2026-11-22");
    await page.locator(".usage-chart .part").waitFor();
    expect(await page.locator(".days-table tfoot").textContent()).toBe("Total310" + "000.330" + "< 0.01" + "1 kB");
    const [minutes, hours] = await page.locator(".key-figures dd:not(.detail)").allTextContents();
    expect([minutes, hours]).toEqual(["0.33", "< 0.01"]);
    expect(await page.locator(".usage-chart title").textContent()).toMatch(/: 0\.33 min \(HD 0\.33\)$/);
  });
});

describe("each page", () => {
  it.each(["/", "/nodes?node=attic", "/usage"])(
    "%s is accessible in both themes, and fits 320 pixels",
    async (path) => {
      jobs = jobs.slice(0, FEW_JOBS);
      for (const [theme, width] of [
        ["light", 1280],
        ["dark", 320],
      ] as const) {
        await open(path, { theme, width });
        await page.waitForTimeout(300);
        expect(await accessibilityProblems(page)).toEqual([]);
        expect(await sidewaysPixels(page)).toBe(0);
      }
      expect(complaints).toEqual([]);
    },
  );
});

describe("an operator without an account", () => {
  beforeEach(() => {
    hasAccount = false;
  });
  afterEach(() => {
    hasAccount = true;
  });

  it("creates an account with limits, whose key is shown once, and chooses it", async () => {
    await open("");
    await page.getByText("There is no account yet").waitFor();
    await page.getByLabel("Name").fill("studio");
    await page.getByLabel("Tasks at most").fill("8");
    await page.getByRole("button", { name: "Create an account" }).click();
    await page.getByText("k-first").waitFor();
    await page.getByText("whsec_first").waitFor();
    expect(await accessibilityProblems(page)).toEqual([]);
    await page.getByRole("button", { name: "Done" }).click();
    await page.getByRole("row", { name: /^studio .* 8 / }).waitFor();
    await page.getByRole("button", { name: "Choose studio" }).click();
    await page.getByRole("heading", { name: "Jobs", level: 1 }).waitFor();
  });

  it("sees only pages that need no account, and changes the limits of accounts", async () => {
    accounts = ["studio", "tests"].map((name) => ({ ...NO_LIMITS, id: name, name, created_at: contractDate(NOW) }));
    await open("/usage");
    await page.getByRole("heading", { name: "Choose an account" }).waitFor();
    expect(await page.locator(".rail nav a").allTextContents()).toEqual(["Nodes", "Settings"]);
    await page.getByRole("button", { name: "Limits tests" }).click();
    await page.getByRole("dialog").getByLabel("Weight").fill("3");
    expect(await accessibilityProblems(page)).toEqual([]);
    await page.getByRole("dialog").getByRole("button", { name: "Save" }).click();
    await page.getByRole("row", { name: /^tests .* 3 / }).waitFor();
  });
});
