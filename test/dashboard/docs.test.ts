/// <reference lib="dom" />
// The pages of /docs in a browser: search, languages of samples, phones, and the ways to the dashboard and back.
import { afterAll, beforeAll, expect, it } from "vitest";
import { sharedStack } from "../stack.ts";
import { accessibilityProblems, type DashboardBrowser, openDashboard, sidewaysPixels } from "./browser.ts";

const stack = sharedStack();
const { origin } = new URL(stack.api);
let dashboard: DashboardBrowser;
beforeAll(async () => {
  dashboard = await openDashboard(stack);
});
afterAll(() => dashboard?.close());

it("finds a section by its words with the keyboard, and shows it", async () => {
  const page = await dashboard.open();
  await page.goto(`${origin}/docs`);
  await page.keyboard.press("/");
  await page.keyboard.type("verfy webhook python");
  await page.getByRole("dialog").getByRole("link", { name: "Verify webhooks: Python" }).waitFor();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await page.waitForURL(`${origin}/docs/verify-webhooks#python`);
  expect(dashboard.complaints).toEqual([]);
});

it("leads from a page of the dashboard to its guide, and with a sample to the form of a new job", async () => {
  const page = await dashboard.open({ path: "/templates" });
  expect(await page.locator(".rail .docs").getAttribute("href")).toBe("/docs/templates");
  await page.goto(`${origin}/docs/quick-start`);
  await page.getByRole("button", { name: "Python" }).click();
  await page.getByText("import os, requests").waitFor();
  expect(await page.locator(".sample pre:visible").count()).toBe(1);
  await page.locator(".sample").getByRole("button", { name: "Copy" }).filter({ visible: true }).click();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toContain("requests.post(");
  await page.goto(`${origin}/docs/reference/jobs`);
  expect(await page.locator(".sample").first().locator("pre:visible").textContent()).toContain("requests");
  await page.getByRole("link", { name: "Open it in New job" }).first().click();
  await page.getByRole("heading", { name: "New job" }).waitFor();
  expect(dashboard.complaints).toEqual([]);
});

it("runs a request of the reference that reads, with the session of the dashboard", async () => {
  const page = await dashboard.open({ path: "/templates" });
  await page.goto(`${origin}/docs/reference/jobs`);
  const request = page.locator(".run", { has: page.getByRole("button", { name: "Run" }) }).first();
  await request.getByRole("textbox").fill("/v2/jobs?limit=1");
  await request.getByRole("button", { name: "Run" }).click();
  await expect.poll(() => request.locator("pre").textContent()).toMatch(/^200\n\{\n {2}"jobs": \[/);
  await request.getByRole("textbox").fill("/v2/jobs/none");
  await request.getByRole("button", { name: "Run" }).click();
  await expect.poll(() => request.locator("pre").textContent()).toContain("job_not_found");
});

it.each(["/docs", "/docs/quick-start", "/docs/reference/jobs"])(
  "fits %s into a phone, and is accessible in light and dark",
  async (path) => {
    for (const theme of ["light", "dark"] as const) {
      const page = await dashboard.open({ width: 360, theme });
      await page.goto(`${origin}${path}`);
      expect(await sidewaysPixels(page)).toBe(0);
      expect(await accessibilityProblems(page)).toEqual([]);
    }
  },
);
