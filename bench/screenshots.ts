// node local/bootstrap.mjs bench/screenshots.ts: takes the screenshots of the dashboard in docs/dashboard/, of an
// invented job of 36 chunks on ten slots, of which a node is lost.
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { startFakeDashboard } from "../dashboard/testing/fake-dashboard.ts";
import { FakeJob } from "../dashboard/testing/fake-job.ts";
import { ROOT } from "../local/home/constants.ts";
import { launchChromium } from "../test/players/chromium.ts";

const FOLDER = join(ROOT, "docs/dashboard");
/** How long the job has run in the screenshots, in seconds. */
const RUNS_S = 61;
/** The job is followed so long before the screenshot is taken, so that the page knows how fast it is. */
const FOLLOWED_MS = 6000;
const SCREENSHOTS = [
  { name: "job-light", width: 1200, height: 740, theme: "light", scale: 1.5 },
  { name: "job-dark", width: 1200, height: 740, theme: "dark", scale: 1 },
  { name: "job-phone", width: 390, height: 1060, theme: "dark", scale: 1 },
] as const;

const job = new FakeJob({
  ...{ chunks: 36, nodes: 5, slots: 10, encodeSeconds: 14, lost: { node: 3, atSeconds: 34 }, slow: [20] },
  startMs: Date.now() - RUNS_S * 1000 + FOLLOWED_MS,
});
const events = `/v2/jobs/${job.id}/events`;
const dashboard = await startFakeDashboard({
  "GET /v2/session": () => ({
    account: { id: "account", name: "Studio" },
    ...{ operator: true, expires_at: new Date(Date.now() + 1e7).toISOString() },
  }),
  "GET /v2/admin/accounts": () => ({ accounts: [] }),
  [`EVENTS ${events}`]: () => [
    ["job", job.job(Date.now())],
    ["tasks", { ...job.list(Date.now()), removed: [] }],
  ],
  [`GET /v2/jobs/${job.id}/tasks`]: () => job.list(Date.now()),
  [`GET /v2/jobs/${job.id}/commands`]: () => ({ commands: job.commands(Date.now()), commands_dropped: 0 }),
});
const browser = await launchChromium();
await mkdir(FOLDER, { recursive: true });
const pages = await Promise.all(
  SCREENSHOTS.map(async ({ name, width, height, theme, scale }) => {
    const viewport = { width, height };
    const page = await browser.newPage({ viewport, colorScheme: theme, deviceScaleFactor: scale, timezoneId: "UTC" });
    await page.goto(`${dashboard.url}/dashboard/jobs/${job.id}`);
    await page.locator(".bar").first().waitFor();
    return { page, path: join(FOLDER, `${name}.png`) };
  }),
);
const end = Date.now() + FOLLOWED_MS;
while (Date.now() < end) {
  dashboard.send(events, "job", job.job(Date.now()));
  dashboard.send(events, "tasks", job.changes(Date.now()));
  await sleep(500);
}
for (const { page, path } of pages) await page.screenshot({ path });
await browser.close();
await dashboard.stop();
