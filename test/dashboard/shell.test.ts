/// <reference lib="dom" />
// The dashboard of the real system: sessions, accessibility of all pages, and open tabs during a deploy.
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { few } from "../../encoder-node/testing/few.ts";
import { serveFile } from "../../local/demo/file-server.ts";
import { sampleClip } from "../../local/demo/sample.ts";
import { startWebhookReceiver } from "../services/webhook-receiver.ts";
import { sharedStack } from "../stack.ts";
import { accessibilityProblems, type DashboardBrowser, openDashboard, sidewaysPixels } from "./browser.ts";

const stack = sharedStack();
const { origin } = new URL(stack.api);
const admin = { authorization: `Bearer ${stack.adminToken}` };

let dashboard: DashboardBrowser;
/** The ids of a completed job and of a failed job. */
let jobs: { readonly done: string; readonly failed: string };
let closeSource: () => Promise<void>;

beforeAll(async () => {
  const source = await serveFile(await sampleClip(stack.home));
  closeSource = source.close;
  const outputs = { "mp4:240p": { path: "shell/240p.mp4" }, "jpg:320x": { path: "shell/%02d.jpg", number: 2 } };
  const [done, failed] = await Promise.all([
    stack.submit({ input: { url: source.url }, outputs }),
    stack.submit({ input: { url: `${source.url}/missing` }, outputs: { mp4: { path: "shell/none.mp4" } } }),
  ]);
  await Promise.all([stack.waitForJob(done.id), stack.waitForJob(failed.id)]);
  jobs = { done: done.id, failed: failed.id };
  dashboard = await openDashboard(stack, [stack.s3.endpoint, new URL(source.url).origin]);
});
afterAll(async () => {
  await dashboard?.close();
  await closeSource?.();
});

const heading = (page: Page, name: string | RegExp): Promise<void> =>
  page.getByRole("heading", { name, level: 1 }).waitFor();

/** The URLs to which "back" and "forward" lead in a tab. */
const historyOf = (page: Page): Promise<(string | null)[]> =>
  page.evaluate(() => navigation.entries().map(({ url }) => url));

describe("a session", () => {
  it("starts with a link that works once, and leaves no secret in the address and the history", async () => {
    const link = await dashboard.link();
    const page = await (await dashboard.browser.newContext()).newPage();
    await page.goto(link);
    await heading(page, "Jobs");
    expect(page.url()).toBe(dashboard.url);
    expect(await historyOf(page)).toEqual([dashboard.url]);
    const other = await (await dashboard.browser.newContext()).newPage();
    await other.goto(link);
    await heading(other, "Sign in");
    await other.getByText("already used, or is older than a minute").waitFor();
  });

  it("starts with a link that is opened in the tab of the sign-in page", async () => {
    const page = await (await dashboard.browser.newContext()).newPage();
    await page.goto(dashboard.url);
    await heading(page, "Sign in");
    // Only the fragment changes, so that the browser loads nothing again.
    await page.goto(await dashboard.link());
    await heading(page, "Jobs");
    expect(page.url()).toBe(dashboard.url);
    expect(await historyOf(page)).toEqual([dashboard.url, dashboard.url]);
  });

  it("starts with an account's link only after a question that names the account", async () => {
    const page = await (await dashboard.browser.newContext()).newPage();
    await page.goto(await dashboard.link("client"));
    const question = page.getByRole("dialog", { name: /^Sign in as “.+” \(.+\)\?$/ });
    await question.getByText("whose owner sees your actions there").waitFor();
    expect(await accessibilityProblems(page)).toEqual([]);
    await page.keyboard.press("Escape");
    await heading(page, "Sign in");
    await page.goto("about:blank");
    await page.goto(await dashboard.link("client"));
    await question.getByRole("button", { name: /^Sign in as / }).click();
    await heading(page, "Jobs");
  });

  it("is replaced by another account's session only after a question that names both accounts", async () => {
    const client = await dashboard.open({ as: "client" });
    const name = (await client.locator(".account .ellipsis").textContent()) ?? "";
    const created = await fetch(`${stack.api}/admin/accounts`, {
      method: "POST",
      headers: admin,
      body: JSON.stringify({ name: "stranger" }),
    });
    const { api_key: key } = (await created.json()) as { api_key: string };
    const headers = { authorization: `Basic ${btoa(`${key}:`)}` };
    const newLink = async (): Promise<string> => {
      const response = await fetch(`${stack.api}/session/links`, { method: "POST", headers });
      return ((await response.json()) as { url: string }).url;
    };
    const visit = async (url: string): Promise<void> => {
      // Otherwise only the fragment would change.
      await client.goto("about:blank");
      await client.goto(url);
    };
    const question = client.getByRole("dialog", { name: "Sign in as another account?" });
    const link = await newLink();
    await visit(link);
    await question.getByText(`“${name}”`).waitFor();
    // The question did not use up the link.
    const body = JSON.stringify({ once: link.split("#once=")[1] });
    const used = await fetch(`${stack.api}/session`, { method: "POST", body });
    expect([used.status, await used.json()]).toEqual([200, expect.objectContaining({ operator: false })]);
    await question.getByText("“stranger”").waitFor();
    expect(await accessibilityProblems(client)).toEqual([]);
    await client.keyboard.press("Escape");
    await question.waitFor({ state: "detached" });
    await client.reload();
    expect(await client.locator(".account .ellipsis").textContent()).toBe(name);
    // A link of the same account asks nothing.
    await visit(await dashboard.link("client"));
    await heading(client, "Jobs");
    expect([await question.count(), await client.locator(".account .ellipsis").textContent()]).toEqual([0, name]);
    await visit(await newLink());
    await question.getByRole("button", { name: "Sign in as stranger" }).press("Enter");
    await client.locator(".account .ellipsis", { hasText: "stranger" }).waitFor();
  });

  it("starts with a key, ends at the sign-out, and cannot be read by scripts", async () => {
    const context = await dashboard.browser.newContext();
    const page = await context.newPage();
    await page.goto(`${dashboard.url}/usage`);
    await page.getByLabel("API key or admin token").fill(`k-${"0".repeat(43)}`);
    await page.keyboard.press("Enter");
    await page.getByText("The service does not know this API key.").waitFor();
    await page.getByLabel("API key or admin token").fill("guess");
    await page.keyboard.press("Enter");
    await page.getByText("This is neither an API key, which starts with k-, nor the admin token").waitFor();
    await page.getByLabel("API key or admin token").fill(stack.apiKey);
    await page.keyboard.press("Enter");
    await heading(page, "Usage");
    expect(await page.evaluate(() => document.cookie + JSON.stringify(localStorage))).not.toContain("k-");
    const [cookie] = await context.cookies();
    expect(cookie).toMatchObject({ httpOnly: true, sameSite: "Strict" });
    expect(decodeURIComponent(cookie?.value ?? "")).not.toContain(stack.apiKey.slice(2, 12));
    expect(await page.getByRole("link", { name: "Nodes" }).count()).toBe(0);
    await page.goto(`${dashboard.url}/settings`);
    await page.getByRole("button", { name: "Sign out" }).click();
    await heading(page, "Sign in");
    expect(await context.cookies()).toEqual([]);
  });

  it("shows a not-found page at an unknown path, with links to the documentation", async () => {
    const page = await dashboard.open({ path: "/job" });
    await page.getByRole("heading", { name: "There is no such page" }).waitFor();
    const links = await page.getByRole("link", { name: "documentation" }).all();
    expect(await Promise.all(links.map((link) => link.getAttribute("href")))).toEqual(["/docs", "/docs"]);
    await page.getByRole("main").getByRole("link", { name: "jobs" }).click();
    await heading(page, "Jobs");
  });

  it("leads from / to the dashboard; without a session, / leads to the documentation", async () => {
    const page = await dashboard.open();
    await page.goto(origin);
    expect(new URL(page.url()).pathname).toBe("/dashboard");
    const stranger = await (await dashboard.browser.newContext()).newPage();
    await stranger.goto(origin);
    expect(new URL(stranger.url()).pathname).toBe("/docs");
  });

  it("ends when its key is revoked: at the next request the page asks to sign in and explains why", async () => {
    const created = await fetch(`${stack.api}/admin/accounts`, {
      method: "POST",
      headers: admin,
      body: JSON.stringify({ name: "revoked" }),
    });
    const { account_id: id, api_key: key } = (await created.json()) as { account_id: string; api_key: string };
    const page = await (await dashboard.browser.newContext()).newPage();
    await page.goto(dashboard.url);
    await page.getByLabel("API key or admin token").fill(key);
    await page.keyboard.press("Enter");
    await heading(page, "Jobs");
    const keys = await (await fetch(`${stack.api}/admin/accounts/${id}/keys`, { headers: admin })).json();
    const [{ id: keyId }] = (keys as { keys: [{ id: string }] }).keys;
    await fetch(`${stack.api}/admin/keys/${keyId}`, { method: "DELETE", headers: admin });
    // A request of the page itself may come first.
    const click = page.getByRole("link", { name: "Usage" }).click({ timeout: 2000 });
    await click.catch(() => undefined);
    await heading(page, "Sign in");
    await page.getByText("Your session has ended").waitFor();
  });

  it("rejects changes from pages of another site", async () => {
    const page = await dashboard.open({ as: "client" });
    const [cookie] = await page.context().cookies();
    const change = (headers: Record<string, string>) =>
      fetch(`${stack.api}/jobs/${jobs.done}/retry`, {
        method: "POST",
        headers: { ...headers, cookie: `${cookie?.name}=${cookie?.value}` },
      }).then(({ status }) => status);
    expect(await change({ "sec-fetch-site": "cross-site" })).toBe(403);
    expect(await change({ origin: "https://evil.example" })).toBe(403);
    // Allowed, but without effect: a completed job cannot be retried.
    expect(await change({ "sec-fetch-site": "same-origin" })).toBe(409);
  });
});

const PAGES = (): readonly (readonly [path: string, heading: string | RegExp])[] => [
  ["/", "Jobs"],
  [`/jobs/${jobs.done}`, /./],
  [`/jobs/${jobs.failed}`, /./],
  ["/new", /./],
  ["/nodes", "Nodes"],
  ["/usage", "Usage"],
  ["/settings", "Settings"],
];

few(2).each([
  ["light", 1280],
  ["dark", 320],
  ["light", 320],
  ["dark", 1280],
] as const)(
  "every page in the %s theme at %i pixels has no violation that axe finds, and no sideways scroll",
  async (theme, width) => {
    const page = await dashboard.open({ theme, width, height: 800, reducedMotion: true });
    const problemsByPath: Record<string, unknown> = {};
    for (const [path, name] of PAGES()) {
      await page.goto(`${dashboard.url}${path}`);
      await heading(page, name);
      await page.waitForFunction(() => document.querySelector(".loading") === null);
      problemsByPath[path] = [await accessibilityProblems(page), await sidewaysPixels(page)];
    }
    await page.keyboard.press("?");
    await page.getByRole("dialog").waitFor();
    problemsByPath.help = [await accessibilityProblems(page), await sidewaysPixels(page)];
    await page.context().clearCookies();
    await page.goto(dashboard.url);
    await heading(page, "Sign in");
    problemsByPath.signIn = [await accessibilityProblems(page), await sidewaysPixels(page)];
    for (const [path, problems] of Object.entries(problemsByPath)) expect([path, problems]).toEqual([path, [[], 0]]);
  },
);

describe("a tab that was open during a deploy", () => {
  it("continues, and offers to reload for a page that the service no longer has", async () => {
    const page = await dashboard.open();
    await page.context().route(/settings-page-/, (route) => route.fulfill({ status: 404 }));
    await page.getByRole("link", { name: "Settings" }).click();
    await page.getByText("There is a new version of the dashboard").waitFor();
    await page.getByRole("link", { name: "Jobs" }).click();
    await heading(page, "Jobs");
    await page.context().unroute(/settings-page-/);
    await page.getByRole("link", { name: "Settings" }).click();
    await page.getByRole("button", { name: "Reload" }).click();
    await heading(page, "Settings");
  });
});

describe("settings", () => {
  it("show a new key once, and revoke it after a question", async () => {
    const page = await dashboard.open({ path: "/settings?tab=keys" });
    const card = page.getByRole("region", { name: /^API keys of/ });
    const rows = card.locator("tbody tr");
    await rows.first().waitFor();
    const before = await rows.count();
    await card.getByRole("button", { name: "Create a key" }).click();
    const key = (await card.locator("code").first().textContent()) ?? "";
    expect(key).toMatch(/^k-\w{43}$/);
    const works = () =>
      fetch(`${stack.api}/jobs`, { headers: { authorization: `Basic ${btoa(`${key}:`)}` } }).then(
        ({ status }) => status,
      );
    expect(await works()).toBe(200);
    await card.getByRole("button", { name: "Done" }).click();
    expect(await card.getByText(key).count()).toBe(0);
    await expect.poll(() => rows.count()).toBe(before + 1);
    const revoke = rows.last().getByRole("button", { name: /^Revoke/ });
    await revoke.click();
    await page.getByRole("dialog").waitFor();
    await page.keyboard.press("Escape");
    // Keys of a person without a mouse go on where they were.
    await expect.poll(() => revoke.evaluate((button) => button === document.activeElement)).toBe(true);
    await page.keyboard.press("Enter");
    await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
    await expect.poll(() => rows.count()).toBe(before);
    expect(await works()).toBe(401);
  });

  it("create a key with a name, and list its creation in the audit", async () => {
    const page = await dashboard.open({ path: "/settings?tab=keys" });
    const card = page.getByRole("region", { name: /^API keys of/ });
    await card.getByLabel("Name").fill("shop");
    await card.getByRole("button", { name: "Create a key" }).click();
    await card.getByRole("button", { name: "Done" }).click();
    const row = card.getByRole("row", { name: /^[0-9a-f]{12} shop all .* – Revoke/ });
    const id = await row.getByRole("cell").first().textContent();
    await page.getByRole("tab", { name: "Audit" }).click();
    const audit = page.getByRole("region", { name: "Audit" });
    await audit.getByRole("row", { name: new RegExp(`operator createKey keys/${id} .* 201$`) }).waitFor();
    await audit.getByLabel("Shown changes").selectOption("All accounts and the service");
    await audit.getByRole("row", { name: new RegExp(`createKey keys/${id} .* 201 \\w{14}$`) }).waitFor();
    await page.getByRole("tab", { name: "Keys" }).click();
    await card.getByRole("button", { name: "Revoke shop", exact: true }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
  });

  it("create a key with scopes and an end", async () => {
    const page = await dashboard.open({ path: "/settings?tab=keys" });
    const card = page.getByRole("region", { name: /^API keys of/ });
    await card.getByText("Only some requests").click();
    await card.getByLabel("jobs:read").check();
    await card.getByLabel("Valid until").fill("2100-01-31");
    await card.getByRole("button", { name: "Create a key" }).click();
    const key = (await card.locator("code").first().textContent()) ?? "";
    const headers = { authorization: `Basic ${btoa(`${key}:`)}` };
    expect((await fetch(`${stack.api}/jobs`, { headers })).status).toBe(200);
    expect((await fetch(`${stack.api}/usage`, { headers })).status).toBe(403);
    await card.getByRole("button", { name: "Done" }).click();
    const row = card.getByRole("row", { name: /jobs:read · .*Revoke/ });
    await row.waitFor();
    await row.getByRole("button", { name: /^Revoke/ }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
    await row.waitFor({ state: "detached" });
  });

  it("save an alert, send its test message, and delete it", async () => {
    const receiver = await startWebhookReceiver();
    const page = await dashboard.open({ path: "/settings?tab=alerts" });
    const card = page.getByRole("region", { name: "Alerts", exact: true });
    await card.getByLabel("Name").fill("late");
    await card.getByLabel("When").selectOption("queue.age");
    await card.getByLabel("Minutes").fill("30");
    await card.getByLabel("URL").fill(receiver.url);
    await card.getByRole("button", { name: "Save alert" }).click();
    const row = card.getByRole("row", { name: /^late A task waits too long/ });
    await row.getByRole("button", { name: "Test late" }).click();
    await page.getByText("late: test sent").waitFor();
    const text = expect.stringMatching(/^Copra alert late of [\w.:]+: test\nhttp:\/\/[\w.:]+\/dashboard\/nodes$/);
    expect(receiver.received.map(({ body }) => body)).toEqual([{ text }]);
    const stored = await (await fetch(`${stack.api}/admin/alerts/late`, { headers: admin })).json();
    expect(stored).toMatchObject({ when: "queue.age", seconds: 1800, to: { type: "slack" } });
    await row.getByRole("button", { name: "Delete late" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
    await row.waitFor({ state: "detached" });
    await receiver.close();
  });

  it("switch the theme, and keep it", async () => {
    const page = await dashboard.open({ path: "/settings?tab=browser", theme: "light" });
    const canvas = () => page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
    const light = await canvas();
    await page.getByLabel("Dark").check();
    expect(await canvas()).not.toBe(light);
    await page.reload();
    await heading(page, "Settings");
    expect(await canvas()).not.toBe(light);
  });
});

it("requests no player for the first page", async () => {
  const page = await dashboard.open();
  const requested: string[] = [];
  page.on("request", (request) => requested.push(new URL(request.url()).pathname.replace("/dashboard", "")));
  await page.reload();
  await page.locator("main tbody tr").first().waitFor();
  expect(requested.length).toBeGreaterThan(1);
  expect(requested.filter((path) => /player|hls|dash-/.test(path))).toEqual([]);
});

it("violates no policy, has no script errors and calls no other host on any page", () =>
  expect(dashboard.complaints).toEqual([]));
