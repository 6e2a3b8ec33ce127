// Many nodes and many jobs at once, with work that takes no time. Every task is done exactly once.
import { expect, it } from "vitest";
import { type LoadOutcome, runLoad } from "../bench/load/run-load.ts";
import { emptiedFolder } from "./fixtures.ts";

const home = emptiedFolder();

const load = (nodes: number, jobs: number, killAfter: number | null): Promise<LoadOutcome> =>
  runLoad({ nodes, jobs, home, killAfter, accounts: 3, posting: 16, stores: true });

const [NODES, JOBS] = process.env.COPRA_SOAK === "1" ? [50, 200] : [25, 80];

it(`assigns every task of ${JOBS} jobs to one of ${NODES} nodes, once, and completes them all`, async () => {
  const { observations, ticketsLeft } = await load(NODES, JOBS, null);
  expect(observations.violations).toEqual([]);
  expect([observations.endedJobs, observations.assignments, ticketsLeft]).toEqual([JOBS, 2 * JOBS, 0]);
});

it("completes each job once, although the control plane is killed meanwhile", async () => {
  const { observations, ticketsLeft } = await load(15, 60, 20);
  expect(observations.violations).toEqual([]);
  expect([observations.endedJobs, ticketsLeft]).toEqual([60, 0]);
  // Nodes that are still reconnecting when the last job ends have been welcomed only once.
  expect(Math.max(...observations.welcomed.values())).toBeGreaterThan(1);
});
