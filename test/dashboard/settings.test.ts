/// <reference lib="dom" />
// The settings with a fake API: a tab for each subject.
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, it, onTestFinished } from "vitest";
import { SETTINGS_TABS } from "../../dashboard/core/settings-tabs.ts";
import { type FakeDashboard, startFakeDashboard } from "../../dashboard/testing/fake-dashboard.ts";
import { launchChromium } from "../players/chromium.ts";
import { accessibilityProblems, sidewaysPixels } from "./browser.ts";

const CREATED = "2026-11-21 05:23:27 +0000";
const CREDENTIAL = { created_at: CREATED, revoked_at: null };
const ALERT = {
  name: "late",
  when: "queue.age",
  firing: ["A task of the pool gpu waits for 20 minutes"],
  to: { type: "slack", receiver: "hooks.slack.com" },
  last_sent_at: CREATED,
  last_error: null,
};

const UPLOAD_LINK = {
  id: "link1",
  status: "completed",
  name: "clip.mov",
  max_size: 5e9,
  origins: [],
  last_refused_origin: "https://www.example.com",
  upload: null,
  job: "job1",
  job_error: null,
  created_at: "2026-11-21T05:23:27.000Z",
  expires_at: "2026-11-21T06:23:27.000Z",
  ended_at: null,
};

const ENTRY = {
  id: "entry1",
  created_at: CREATED,
  account: "a",
  actor: "operator",
  actor_name: null,
  ip: "192.0.2.1",
  action: "createKey",
  object: "keys/key1",
  status: 201,
};

let fake: FakeDashboard;
let browser: Browser;
let isOperator = true;

beforeAll(async () => {
  fake = await startFakeDashboard({
    "GET /v2/session": () => ({
      account: { id: "a", name: "studio" },
      operator: isOperator,
      expires_at: "2100-01-01T00:00:00.000Z",
    }),
    "GET /v2/jobs": () => ({ jobs: [], next_cursor: null }),
    "GET /v2/jobs/counts": () => ({ counts: {}, capped: false }),
    "GET /v2/storages": () => ({ storages: [{ name: "archive", created_at: CREATED }] }),
    "GET /v2/upload-links": () => ({ upload_links: [UPLOAD_LINK], next_cursor: null }),
    "GET /v2/admin/accounts": () => ({ accounts: [{ id: "a", name: "studio", created_at: CREATED }] }),
    "GET /v2/admin/accounts/:id/keys": () => ({ keys: [{ id: "key1", ...CREDENTIAL, scopes: ["jobs:read"] }] }),
    "GET /v2/admin/node-tokens": () => ({ node_tokens: [{ id: "token1", name: "rack", pool: "gpu", ...CREDENTIAL }] }),
    "GET /v2/audit": () => ({ entries: [ENTRY], next_cursor: null }),
    "GET /v2/admin/alerts": () => ({ alerts: [ALERT] }),
  });
  browser = await launchChromium();
});
afterAll(async () => {
  await browser?.close();
  await fake?.stop();
});

async function open(path: string, width = 1280, theme: "light" | "dark" = "light"): Promise<Page> {
  const context = await browser.newContext({ viewport: { width, height: 800 }, colorScheme: theme });
  onTestFinished(() => context.close());
  const page = await context.newPage();
  await page.goto(`${fake.url}/dashboard${path}`);
  await page.locator("main h1").waitFor();
  await page.waitForFunction(() => document.querySelector(".loading") === null);
  return page;
}

const chosenTab = (page: Page): Promise<string | null> => page.getByRole("tab", { selected: true }).textContent();

it.each(SETTINGS_TABS)(
  "opens the tab $label by its address, accessible in both themes and at 320 pixels",
  async (tab) => {
    for (const [width, theme] of [
      [1280, "light"],
      [320, "dark"],
    ] as const) {
      const page = await open(`/settings?tab=${tab.name}`, width, theme);
      expect(await chosenTab(page)).toBe(tab.label);
      for (const details of await page.locator("main details").all()) await details.click({ position: { x: 5, y: 5 } });
      expect(await accessibilityProblems(page)).toEqual([]);
      expect(await sidewaysPixels(page)).toBe(0);
    }
  },
);

it("changes the tab by arrow keys, and opens it from the palette of another page", async () => {
  const page = await open("/settings");
  await page.getByRole("tab", { name: "Account" }).press("ArrowRight");
  await page.getByRole("heading", { name: "API keys of studio" }).waitFor();
  expect(new URL(page.url()).search).toBe("?tab=keys");
  const other = await open("/");
  await other.keyboard.press("Control+k");
  await other.keyboard.type("alerts");
  await other.keyboard.press("Enter");
  await other.getByRole("heading", { name: "Alerts" }).waitFor();
});

it("shows all tabs in a row on a phone, and the chosen tab in its view", async () => {
  const page = await open("/settings?tab=browser", 390);
  const tabs = page.getByRole("tab");
  const isVisible = (tab: Element) => tab.getBoundingClientRect().left >= 0 && tab.getBoundingClientRect().right <= 390;
  expect(new Set(await tabs.evaluateAll((all) => all.map((tab) => tab.getBoundingClientRect().top))).size).toBe(1);
  expect(await tabs.last().evaluate(isVisible)).toBe(true);
  await tabs.last().press("ArrowRight");
  expect(await tabs.first().evaluate(isVisible)).toBe(true);
  expect(await tabs.last().evaluate(isVisible)).toBe(false);
});

it("opens the palette by a button on a phone", async () => {
  const page = await open("/", 320);
  await page.getByRole("button", { name: "Go to …" }).click();
  await page.getByRole("combobox", { name: "A page, command, view or job" }).fill("webhooks");
  expect(await accessibilityProblems(page)).toEqual([]);
  expect(await sidewaysPixels(page)).toBe(0);
  await page.getByRole("option", { name: "Settings: Webhooks" }).click();
  await page.getByRole("heading", { name: "Test a webhook" }).waitFor();
});

it("hides the tabs of the operator from a client", async () => {
  isOperator = false;
  onTestFinished(() => {
    isOperator = true;
  });
  const page = await open("/settings?tab=keys");
  expect(await page.getByRole("tab").allInnerTexts()).toEqual([
    "Account",
    "Webhooks",
    "Storages",
    "Upload links",
    "Audit",
    "This browser",
  ]);
  expect(await chosenTab(page)).toBe("Account");
});
