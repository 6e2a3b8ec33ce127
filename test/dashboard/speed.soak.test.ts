/// <reference lib="dom" />
// The time until the dashboard is usable, with throttled network and processor (by Chromium's tools).
import { availableParallelism, loadavg } from "node:os";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { serveFile } from "../../local/demo/file-server.ts";
import { sampleClip } from "../../local/demo/sample.ts";
import { sharedStack } from "../stack.ts";
import { type DashboardBrowser, openDashboard } from "./browser.ts";

declare global {
  interface Window {
    /** ms from the start of the navigation until rows were on the screen. */
    rowsAt?: number;
  }
}

const stack = sharedStack();
const { origin } = new URL(stack.api);
let dashboard: DashboardBrowser;

beforeAll(async () => {
  const source = await serveFile(await sampleClip(stack.home));
  const outputs = { "mp4:240p": { path: "speed/240p.mp4" }, "jpg:320x": { path: "speed/%02d.jpg", number: 2 } };
  const { id } = await stack.submit({ input: { url: source.url }, outputs });
  await stack.waitForJob(id);
  await source.close();
  dashboard = await openDashboard(stack, [stack.s3.endpoint]);
});
afterAll(() => dashboard?.close());

describe("speed", () => {
  /** 1.6 Mbit/s, 150 ms latency, and a processor at a quarter of its speed: a mid-range phone ("slow 4G"). */
  const SLOW = { offline: false, latency: 150, downloadThroughput: 200_000, uploadThroughput: 93_750 };

  it("shows rows and reacts to keys within 1 s on a slow phone, and within 300 ms with a warm cache", async () => {
    const times: Record<"cold" | "warm", number[]> = { cold: [], warm: [] };
    const best = (rounds: readonly number[]): number => Math.min(...rounds, Number.POSITIVE_INFINITY);
    // A single undisturbed round is enough. An overloaded machine has no such round.
    const patience = (loadavg()[0] ?? 0) > availableParallelism() ? 2 : 1;
    const isFast = (): boolean => best(times.cold) < patience * 1000 && best(times.warm) < patience * 300;
    for (let round = 0; round < 6 && !isFast(); round++) {
      const page = await dashboard.open();
      await page.addInitScript(observeRows);
      const client = await page.context().newCDPSession(page);
      await client.send("Network.clearBrowserCache");
      await client.send("Network.emulateNetworkConditions", SLOW);
      await client.send("Emulation.setCPUThrottlingRate", { rate: 4 });
      times.cold.push(await timeToRows(page));
      await client.send("Network.emulateNetworkConditions", { ...SLOW, latency: 0, downloadThroughput: -1 });
      await client.send("Emulation.setCPUThrottlingRate", { rate: 1 });
      times.warm.push(await timeToRows(page));
      await page.context().close();
    }
    console.info(`rows after ${Math.round(best(times.cold))} ms, cached ${Math.round(best(times.warm))} ms`);
    expect([isFast(), times, loadavg()]).toEqual([true, times, expect.anything()]);
  });

  /** ms from the start of a navigation until rows are on the screen. */
  async function timeToRows(page: Page): Promise<number> {
    await page.goto(dashboard.url, { waitUntil: "commit" });
    await page.waitForFunction(() => window.rowsAt !== undefined);
    return page.evaluate(() => window.rowsAt ?? Number.NaN);
  }

  /** Runs in the page. A test outside the page polls every 500 ms and would see rows up to 500 ms late. */
  function observeRows(): void {
    const observer = new MutationObserver(() => {
      if (document.querySelector("main tbody tr") === null) return;
      observer.disconnect();
      requestAnimationFrame(() => {
        // After the frame was painted.
        setTimeout(() => {
          window.rowsAt = performance.now();
        });
      });
    });
    observer.observe(document, { childList: true, subtree: true });
  }

  it("the first page requests no player and nothing from other hosts", async () => {
    const page = await dashboard.open();
    const requested: string[] = [];
    // Thumbnails come from the storages of jobs.
    page.on("request", (request) => request.resourceType() === "image" || requested.push(request.url()));
    await page.reload();
    await page.locator("main tbody tr").first().waitFor();
    expect(requested.filter((url) => /player|hls|dash-/.test(new URL(url).pathname.replace("/dashboard", "")))).toEqual(
      [],
    );
    expect(requested.filter((url) => new URL(url).origin !== origin)).toEqual([]);
  });
});
