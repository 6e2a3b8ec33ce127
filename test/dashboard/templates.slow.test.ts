/// <reference lib="dom" />
// The page of templates with a fake API: edit as JSON, store, use.
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { type FakeDashboard, type FakeRequest, startFakeDashboard } from "../../dashboard/testing/fake-dashboard.ts";
import { launchChromium } from "../players/chromium.ts";
import { accessibilityProblems, editorText, sidewaysPixels } from "./browser.ts";

const SUMMARY = {
  name: "web",
  version: 3,
  created_at: "2026-11-21 05:23:27 +0000",
  outputs: ["mp4"],
  variables: ["id"],
  saved_storage: null,
};
const STORED = {
  ...SUMMARY,
  template: { storage: { service: "s3", bucket: "b" }, outputs: { mp4: { path: "{{ vars.id }}.mp4" } } },
  left_out: ["storage.credentials"],
  versions: [3],
};
const SESSION = { account: { id: "a", name: "test" }, operator: false, expires_at: "2100-01-01T00:00:00.000Z" };

let fake: FakeDashboard;
let browser: Browser;
let stored: FakeRequest[] = [];
const TOKEN = { id: "tok7", created_at: "2026-11-21 05:23:27 +0000", expires_at: null };
let tokens = [TOKEN];
let created: FakeRequest[] = [];

beforeAll(async () => {
  fake = await startFakeDashboard({
    "GET /v2/session": () => SESSION,
    "GET /v2/templates": () => ({ templates: [SUMMARY] }),
    "GET /v2/templates/web": () => STORED,
    "GET /v2/templates/:id/tokens": () => ({ tokens }),
    "POST /v2/templates/:id/tokens": () => {
      tokens.push({ ...TOKEN, id: "tok8" });
      return { ...TOKEN, id: "tok8", url: "https://copra.example/v2/ingest/web/secret" };
    },
    "DELETE /v2/templates/:id/tokens/:id": () => {
      tokens = tokens.filter(({ id }) => id !== "tok7");
      return { id: "tok7", revoked: true };
    },
    "PUT /v2/templates/:id": (request) => {
      stored.push(request);
      return { ...STORED, version: 4 };
    },
    "POST /v2/jobs": (request) => {
      created.push(request);
      return { status: 400, error_code: "template_vars_not_valid", message: "`vars.id` is missing" };
    },
  });
  browser = await launchChromium();
});
beforeEach(() => {
  stored = [];
  created = [];
});
afterAll(async () => {
  await browser?.close();
  await fake?.stop();
});

it("opens a template from the list, and stores a new version of its JSON with the earlier secrets", async () => {
  const page = await browser.newPage();
  await page.goto(`${fake.url}/dashboard/templates`);
  await page.getByRole("row", { name: "web 3 mp4 id 21 Nov 2026" }).waitFor();
  expect(await accessibilityProblems(page)).toEqual([]);
  await page.getByRole("link", { name: "web", exact: true }).click();
  await page.getByRole("heading", { name: "web", exact: true, level: 1 }).waitFor();
  expect(await page.getByRole("table", { name: "List of templates" }).count()).toBe(0);
  const text = page.getByRole("textbox", { name: /^Sections of a job/ });
  expect(JSON.parse(await editorText(text))).toEqual(STORED.template);
  await page.getByText("storage.credentials").waitFor();
  expect(await accessibilityProblems(page)).toEqual([]);
  expect(await sidewaysPixels(page)).toBe(0);
  const changed = { ...STORED.template, settings: { priority: 5 } };
  await text.fill(JSON.stringify(changed));
  await page.getByRole("button", { name: "Store a new version" }).click();
  await page.getByText("web@4 is stored").waitFor();
  expect(stored.map(({ path, body, query }) => [path, body, query.get("keep_secrets")])).toEqual([
    ["/v2/templates/web", changed, "true"],
  ]);
  await page.close();
});

it("lists the tokens for events of buckets, creates one and revokes one", async () => {
  const page = await browser.newPage();
  await page.goto(`${fake.url}/dashboard/templates?name=web`);
  const card = page.locator("section", { has: page.getByRole("heading", { name: "Events of buckets" }) });
  const row = (id: string) => card.getByRole("row", { name: id });
  await row("tok7").waitFor();
  await card.getByRole("button", { name: "Create a URL" }).click();
  await card.getByText("https://copra.example/v2/ingest/web/secret").waitFor();
  await row("tok8").waitFor();
  await card.getByRole("button", { name: "Revoke tok7" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
  await row("tok7").waitFor({ state: "detached" });
  expect(await accessibilityProblems(page)).toEqual([]);
  await page.close();
});

it("creates a job from a template, and shows an error about its variables", async () => {
  const page = await browser.newPage();
  await page.goto(`${fake.url}/dashboard/templates?name=web`);
  await page.getByRole("button", { name: "Use" }).click();
  await page.getByLabel(/^URL of the source/).fill("https://example.com/a.mov");
  await page.getByLabel("id", { exact: true }).fill("42");
  await page.getByRole("button", { name: "Create the job" }).click();
  await page.getByText("`vars.id` is missing").waitFor();
  expect(created.map(({ body }) => body)).toEqual([
    { template: "web@3", vars: { id: "42" }, input: { url: "https://example.com/a.mov" } },
  ]);
  await page.close();
});
