/// <reference lib="dom" />
// The calculator in the guide on costs, as the running service serves it.
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { launchChromium } from "../players/chromium.ts";
import { sharedStack } from "../stack.ts";
import { accessibilityProblems, sidewaysPixels } from "./browser.ts";

const url = new URL("/docs/costs", sharedStack().api).href;
let browser: Browser;
const complaints: string[] = [];

beforeAll(async () => {
  browser = await launchChromium();
});
afterAll(() => browser?.close());

async function open(options: { width: number; theme: "light" | "dark"; scripts?: boolean }): Promise<Page> {
  const { width, theme, scripts = true } = options;
  const viewport = { width, height: 900 };
  const context = await browser.newContext({ viewport, colorScheme: theme, javaScriptEnabled: scripts });
  const page = await context.newPage();
  page.on("pageerror", ({ message }) => complaints.push(message));
  page.on("console", (line) => line.type() === "error" && complaints.push(line.text()));
  await page.goto(url);
  return page;
}

it.each([
  { width: 1280, theme: "light" },
  { width: 320, theme: "dark" },
] as const)("computes at once, $width pixels wide, accessible, and within the policy", async (view) => {
  const page = await open(view);
  const cell = (name: string) => page.getByRole("row", { name }).getByRole("cell");
  await page.getByLabel("Each video becomes").selectOption({ label: "MP4 of 1080p, 720p and 480p" });
  expect(await cell("A service by the minute").textContent()).toBe("$375.00");
  await page.getByLabel("Minutes of video in a month").fill("1000");
  expect(await cell("A service by the minute").textContent()).toBe("$37.50");
  await page.getByLabel("The control plane runs on").selectOption({ label: "a server that is there anyway" });
  expect(await cell("Control plane").textContent()).toBe("$0.00");
  await page.getByLabel("Minutes of video in a month").fill("");
  expect(await cell("Copra in all").textContent()).toBe("$0.00");
  expect(await accessibilityProblems(page)).toEqual([]);
  expect(await sidewaysPixels(page)).toBe(0);
  expect(complaints).toEqual([]);
  await page.context().close();
});

it("has examples without scripts", async () => {
  const page = await open({ width: 1280, theme: "light", scripts: false });
  expect(await page.getByRole("cell", { name: "MP4 of 1080p, 720p and 480p" }).count()).toBeGreaterThan(0);
  expect(await page.locator("#calculator *").count()).toBe(0);
  await page.context().close();
});
