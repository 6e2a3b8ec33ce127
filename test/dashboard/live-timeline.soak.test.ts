/// <reference lib="dom" />
// The timeline of a real job: the bars of a node that dies.
import { afterAll, beforeAll, expect, it } from "vitest";
import { type FaultNode, startFaultNode } from "../faults/fault-node.ts";
import { fileFolder, untilEnd } from "../fixtures.ts";
import { makeLongClip } from "../media.ts";
import { startSourceServer } from "../services/source-server.ts";
import { type DashboardStack, startDashboard } from "./browser.ts";

/**
 * Longer than a minute, so that the clip is encoded in chunks. The outputs are large, so that a chunk takes seconds.
 */
const SECONDS = 80;
const OUTPUTS = { "mp4:720p": { path: "timeline/720p.mp4" } };

const folder = fileFolder();
const sources = untilEnd(await startSourceServer(folder));
let dashboard: DashboardStack;
let nodes: FaultNode[];

beforeAll(async () => {
  await makeLongClip(folder, SECONDS, "320x180", 12);
  dashboard = await startDashboard({ nodes: 0 });
  const { api, nodeToken: token } = dashboard.stack;
  const url = new URL(api).origin;
  nodes = ["attic", "cellar"].map((name) => startFaultNode({ name, url, token, home: folder }));
  await Promise.all(nodes.map((node) => node.connected()));
});
afterAll(async () => {
  for (const node of nodes ?? []) await node.end();
  await dashboard?.close();
});

it("shows the lost chunk of a node that dies, and its next attempt at another node", async () => {
  const { stack } = dashboard;
  const { id } = await stack.submit({
    input: { url: sources.urlOf(`long-320x180-12-${SECONDS}.mp4`) },
    outputs: OUTPUTS,
    settings: { ultrafast: true },
  });
  const page = await dashboard.open({ as: "client", path: `/jobs/${id}` });
  const running = page.locator('.bar.running[data-key^="chunk-"]');
  await running.first().waitFor({ timeout: 60_000 });
  await page.locator('.bar.running:not([data-progress="0"])').first().waitFor();

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
  expect(dashboard.complaints).toEqual([]);
});
