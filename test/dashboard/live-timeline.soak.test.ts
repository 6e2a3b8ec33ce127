/// <reference lib="dom" />
// The timeline of a real job: the delay between a node's report and its bar, and the bars of a node that dies.
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { parseLeaseId } from "#shared/ids.ts";
import { decodeNodeFrame } from "#shared/protocol/frames.ts";
import { type FaultNode, startFaultNode } from "../faults/fault-node.ts";
import { fileFolder, untilEnd } from "../fixtures.ts";
import { makeLongClip } from "../media.ts";
import { type NodeConnection, startNodeConnection } from "../services/node-connection.ts";
import { startSourceServer } from "../services/source-server.ts";
import { type DashboardStack, startDashboard } from "./browser.ts";

/**
 * Longer than a minute, so that the clip is encoded in chunks. The outputs are large, so that a chunk takes seconds.
 */
const SECONDS = 80;
const OUTPUTS = { "mp4:720p": { path: "timeline/720p.mp4" } };
/** Limit from a node's report to its bar. Measured on two busy cores (2026-11-23): 20 ms (median), 98 ms (p95). */
const P95_MS = 1000;

const folder = fileFolder();
const sources = untilEnd(await startSourceServer(folder));
let dashboard: DashboardStack;
let connection: NodeConnection;
let nodes: FaultNode[];

type Report = { readonly key: string; readonly progress: number; readonly atMs: number };
/** The reports of all nodes. */
const reports: Report[] = [];

function record(text: string): string {
  const frame = text.startsWith("{") ? decodeNodeFrame(text) : undefined;
  if (frame?.ok && frame.value.type === "progress") {
    for (const { lease, stage, fraction } of frame.value.items) {
      const { task, attempt } = parseLeaseId(lease) ?? {};
      const progress = Math.round(fraction * 1000) / 1000;
      if (stage === "encoding") reports.push({ key: `${task} ${attempt}`, progress, atMs: Date.now() });
    }
  }
  return text;
}

beforeAll(async () => {
  await makeLongClip(folder, SECONDS, "320x180", 12);
  dashboard = await startDashboard({ nodes: 0 });
  const { api, nodeToken: token } = dashboard.stack;
  connection = await startNodeConnection(new URL(api).origin, record);
  const url = `http://127.0.0.1:${connection.port}`;
  nodes = ["attic", "cellar"].map((name) => startFaultNode({ name, url, token, home: folder }));
  await Promise.all(nodes.map((node) => node.connected()));
});
afterAll(async () => {
  for (const node of nodes ?? []) await node.end();
  await connection?.close();
  await dashboard?.close();
});

/** Starts to record the times at which bars change their progress. */
const watchBars = (page: Page): Promise<void> =>
  page.evaluate(() => {
    const seen: { key: string; progress: number; atMs: number }[] = [];
    Object.assign(globalThis, { seen });
    const last = new Map<string, number>();
    const look = (): void => {
      for (const { dataset } of document.querySelectorAll<SVGElement>(".bar.running[data-key]")) {
        const { key = "", progress = "" } = dataset;
        if (last.get(key) !== Number(progress)) seen.push({ key, progress: Number(progress), atMs: Date.now() });
        last.set(key, Number(progress));
      }
      requestAnimationFrame(look);
    };
    look();
  });

/** Delays between each report and its display (or the display of a later report), in ms. Skips reports never shown. */
function delaysOf(seen: readonly Report[]): number[] {
  return reports.flatMap(({ key, progress, atMs }) => {
    const visible = seen.find((report) => report.key === key && report.progress >= progress && report.atMs >= atMs);
    return visible && progress > 0 ? [visible.atMs - atMs] : [];
  });
}

it("shows reports of nodes within a second, and a lost chunk again at another node", async () => {
  const { stack } = dashboard;
  const { id } = await stack.submit({
    input: { url: sources.urlOf(`long-320x180-12-${SECONDS}.mp4`) },
    outputs: OUTPUTS,
    settings: { ultrafast: true },
  });
  const page = await dashboard.open({ as: "client", path: `/jobs/${id}` });
  const running = page.locator('.bar.running[data-key^="chunk-"]');
  await running.first().waitFor({ timeout: 60_000 });
  await watchBars(page);
  await expect.poll(() => reports.filter(({ progress }) => progress > 0).length).toBeGreaterThan(4);

  // Kill the node that runs this chunk.
  const key = (await running.first().getAttribute("data-key")) ?? "";
  const [task, attempt] = key.split(" ");
  await page.getByRole("button", { name: "Table" }).click();
  const { body } = await stack.request("GET", `/jobs/${id}/tasks`);
  const { tasks } = body as { tasks: { id: string; node?: string }[] };
  const holder = tasks.find(({ id }) => id === task)?.node;
  await nodes.find(({ name }) => name === holder)?.kill(null);
  await page.locator(`.bar[data-state=lost][data-key="${key}"]`).waitFor({ timeout: 60_000 });
  await page.locator(`.bar[data-key="${task} ${Number(attempt) + 1}"]`).waitFor({ timeout: 120_000 });
  await page.locator(".tl-table td", { hasText: "lost" }).first().waitFor();

  expect(await stack.waitForJob(id)).toMatchObject({ status: "job.completed" });
  await page.locator(".job-head .status", { hasText: "completed" }).waitFor();
  expect(await page.locator(".bar[data-state=lost]").count()).toBeGreaterThan(0);
  const seen = await page.evaluate(() => (globalThis as unknown as { seen: Report[] }).seen);
  const delays = delaysOf(seen).sort((a, b) => a - b);
  const p95 = delays[Math.floor(delays.length * 0.95)];
  console.info(`${delays.length} reports were shown after ${delays[delays.length >> 1]} ms (median), ${p95} ms (p95)`);
  expect(p95).toBeLessThan(P95_MS);
  expect(dashboard.complaints).toEqual([]);
});
