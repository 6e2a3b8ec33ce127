// Many nodes and many jobs at once, with work that takes no time: everything is done, and nothing twice.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, it } from "vitest";
import { type LoadOutcome, runLoad } from "../bench/load/run-load.ts";

let home: string | undefined;
afterEach(() => {
  if (home) rmSync(home, { recursive: true, force: true });
});

function load(nodes: number, jobs: number, killAfter: number | null): Promise<LoadOutcome> {
  home = mkdtempSync(join(tmpdir(), "copra-load-"));
  return runLoad({ ...{ nodes, jobs, home, killAfter }, accounts: 3, posting: 16, stores: true });
}

it("attempts every task of 200 jobs to one of 50 nodes, once, and completes them all", async () => {
  const { observations, ticketsLeft } = await load(50, 200, null);
  expect(observations.violations).toEqual([]);
  expect([observations.endedJobs, observations.assignments, ticketsLeft]).toEqual([200, 400, 0]);
});

it("completes them all, each once, although the control plane is killed meanwhile", async () => {
  const { observations, ticketsLeft } = await load(20, 100, 30);
  expect(observations.violations).toEqual([]);
  expect([observations.endedJobs, ticketsLeft]).toEqual([100, 0]);
  // Nodes that are still on their way back when the last job ends have been welcomed once.
  expect(Math.max(...observations.welcomed.values())).toBeGreaterThan(1);
});
