/// <reference lib="dom" />
// Works without a mouse: find a failed job, read the error, edit the request, send it again, and watch the result.
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { serveFile } from "../../local/demo/file-server.ts";
import { sampleClip } from "../../local/demo/sample.ts";
import { sharedStack } from "../stack.ts";
import { accessibilityProblems, type DashboardBrowser, openDashboard } from "./browser.ts";

const stack = sharedStack();
/** More presses of Tab would be too many for a user. */
const MAX_TABS = 12;

let source: Awaited<ReturnType<typeof serveFile>>;
let dashboard: DashboardBrowser;
let failed: string;

beforeAll(async () => {
  source = await serveFile(await sampleClip(stack.home));
  // The service's own storage needs no credentials. An edited request would lack them.
  const { id } = await stack.submit({
    input: { url: `${source.url}-misspelled` },
    storage: { service: "coconut" },
    outputs: { "mp4:240p": { path: "watched/240p.mp4" } },
  });
  expect(await stack.waitForJob(id)).toMatchObject({ status: "job.failed" });
  failed = id;
  dashboard = await openDashboard(stack, [new URL(source.url).origin]);
});
afterAll(async () => {
  await dashboard?.close();
  await source?.close();
});

/** Presses Tab until a field of the request has the focus. */
async function tabTo(page: Page, name: string): Promise<void> {
  const field = page.locator(`[data-field="${name}"]`);
  for (let tabs = 0; tabs < MAX_TABS; tabs++) {
    await page.keyboard.press("Tab");
    if (await field.evaluate((element) => element === document.activeElement)) return;
  }
  throw new Error(`Tab does not reach ${name}`);
}

it("leads by keyboard from a failed job to a video that plays", async () => {
  const page = await dashboard.open();
  const { keyboard } = page;
  // Find it.
  await keyboard.press("/");
  await keyboard.type("misspelled");
  await keyboard.press("Enter");
  await expect.poll(() => page.locator(".jobs tbody tr").count()).toBe(1);
  await page.locator(".jobs .remark.bad").waitFor();
  await keyboard.press("j");
  await keyboard.press("Enter");
  // Read why.
  await page.locator(".failures").waitFor();
  expect(new URL(page.url()).pathname).toBe(`/dashboard/jobs/${failed}`);
  expect(await page.locator(".failures").textContent()).toMatch(/404/);
  await keyboard.press("Escape");
  await expect.poll(() => page.evaluate(() => document.activeElement?.closest("tr")?.dataset.id)).toBe(failed);
  expect(new URL(page.url()).search).toBe("?q=misspelled");
  await keyboard.press("Enter");
  await page.locator(".failures").waitFor();
  // Edit and send again.
  await keyboard.press("e");
  await page.getByRole("heading", { name: "New job", level: 1 }).waitFor();
  await tabTo(page, "input.url");
  await keyboard.press("ControlOrMeta+a");
  await keyboard.type(source.url);
  await keyboard.press("ControlOrMeta+Enter");
  // Watch.
  await page.waitForURL((url) => url.pathname.startsWith("/dashboard/jobs/") && !url.pathname.endsWith(failed));
  const id = new URL(page.url()).pathname.split("/").at(-1) ?? "";
  const { status, input } = await stack.waitForJob(id);
  expect([status, input.error]).toEqual(["job.completed", undefined]);
  await page.locator(".job-head .status", { hasText: "completed" }).waitFor();
  await keyboard.press("p");
  const video = page.frameLocator("iframe").locator("video").first();
  await expect.poll(() => video.evaluate((element: HTMLVideoElement) => element.currentTime)).toBeGreaterThan(0.2);
  expect(dashboard.complaints).toEqual([]);
});

it("finds a job, its actions and a saved view in the command palette", async () => {
  const page = await dashboard.open({ path: "/?q=misspelled" });
  await page.getByRole("button", { name: "Save as …" }).press("Enter");
  await page.getByLabel("Name of the view").fill("Misspelled sources");
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "Misspelled sources", pressed: true }).waitFor();
  const goTo = async (text: string, option: string): Promise<void> => {
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox", { name: "A page, command, view or job" }).fill(text);
    await page.getByRole("option", { name: option, selected: true }).waitFor();
    if (text === failed) expect(await accessibilityProblems(page)).toEqual([]);
    await page.keyboard.press("Enter");
  };
  await goTo(failed, "-misspelled");
  await page.locator(".failures").waitFor();
  await goTo("edit", "Edit the request and send it again");
  await page.getByRole("heading", { name: "New job", level: 1 }).waitFor();
  await goTo("sources", "Misspelled sources");
  await page.getByRole("button", { name: "Forget this view" }).press("Enter");
  expect(await page.getByRole("button", { name: "Misspelled sources" }).count()).toBe(0);
  await page.getByRole("button", { name: "Save as …" }).waitFor();
  expect(new URL(page.url()).search).toBe("?q=misspelled");
  expect(dashboard.complaints).toEqual([]);
});

it("encodes the sample clip as the first job of an account", async () => {
  const created = await fetch(`${stack.api}/admin/accounts`, {
    method: "POST",
    headers: { authorization: `Bearer ${stack.adminToken}` },
    body: JSON.stringify({ name: "newcomer" }),
  });
  const { api_key: key } = (await created.json()) as { api_key: string };
  const page = await (await dashboard.browser.newContext()).newPage();
  await page.goto(dashboard.url);
  await page.getByLabel("API key or admin token").fill(key);
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "Try it with a sample" }).press("Enter");
  await page.locator(".job-head .status", { hasText: "completed" }).waitFor();
  await expect.poll(() => page.locator(".gallery img").count()).toBe(3);
});
