import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { everyNth } from "../../encoder-node/testing/few.ts";
import { FAULTS } from "./fleet/scenario.ts";

const run = promisify(execFile);
const bench = async (...args: string[]): Promise<string> => {
  // After a violation, the program prints its report and ends with status 1.
  const { stdout } = await run(process.execPath, args, { maxBuffer: 2 ** 26 }).catch(
    (error: { stdout: string }) => error,
  );
  return stdout;
};

describe("a simulated fleet of 60 nodes", () => {
  const size = ["--nodes", "60", "--jobs", "60", "--hours", "0.05", "--burst", "2"];

  it.each(everyNth(2, FAULTS))("loses no job and does no job twice: %s", async (fault) => {
    const report = await bench("bench/fleet.ts", "--fault", fault, ...size);
    expect(report).toContain("lost, failed, done twice                 0, 0, 0");
    expect(report).not.toContain("VIOLATION");
  });

  it("gives work to nodes within a second at a load of 80 %, and serves accounts evenly in a burst", async () => {
    const matching = ["bench/matching.ts", "--nodes", "200", "--hours", "1", "--accounts", "10"];
    for (const [done, ...work] of [
      ["3000, 0, 0", "--jobs", "3000"],
      ["2500, 0, 0", "--jobs", "500", "--burst", "2000"],
    ] as const) {
      const report = await bench(...matching, ...work);
      expect(report).toMatch(new RegExp(`jobs that were done, lost, done twice +${done}`));
      expect(report).not.toContain("VIOLATION");
    }
  });

  it("gives the same result with the same seed", async () => {
    const small = ["--nodes", "20", "--jobs", "40", "--hours", "0.05", "--seed", "7"];
    const reports = [await bench("bench/fleet.ts", ...small), await bench("bench/fleet.ts", ...small)];
    const [first, second] = reports.map((report) => report.replace(/ *this run.*/, ""));
    expect(first).toBe(second);
    expect(first).toContain("jobs                                     40");
  });
});

it("counts the same on workerd and in the simulation", async () => {
  const report = await bench(
    "test/simulation/counts/compare.ts",
    "--nodes",
    "10",
    "--jobs",
    "25",
    "--accounts",
    "2",
    "--every",
    "100",
  );
  expect(report).toContain("10 nodes, 25 jobs of 2 accounts, seed 1: workerd, simulation");
  expect(report).toMatch(/nodes: encode failed +[1-9]/);
  expect(report).not.toContain("DIFFERENT");
});

describe("the costs of a job on Cloudflare, in dollars per million jobs", () => {
  it.each([
    ["2 outputs, 15 s of encoding", 56],
    ["10 outputs, 5 min of encoding", 82],
    ["the same, followed to its end", 103],
    ["10 outputs, 65 min of encoding", 119],
    ["a video in 288 chunks, 100 nodes", 442],
  ])("%s: at most %i", async (kind, most) => {
    const measured = JSON.parse(await bench("bench/cost.ts", "--only", kind, "--json"));
    expect(measured).toMatchObject({ total: expect.any(Number), overBudget: [] });
    expect(measured.total).toBeLessThanOrEqual(most);
  });

  it("are equal in a small and in a large fleet", async () => {
    const costIn = async (nodes: number, jobs: number, hours: number): Promise<number> => {
      const size = ["--nodes", nodes, "--jobs", jobs, "--hours", hours, "--load", 0.5].map(String);
      return Number(/\$ per million jobs +([\d.]+)/.exec(await bench("bench/fleet.ts", ...size))?.[1]);
    };
    const [small, large] = [await costIn(10, 100, 0.25), await costIn(200, 200, 0.025)];
    expect(large / small).toBeGreaterThan(0.95);
    expect(large / small).toBeLessThan(1.05);
  });
});
