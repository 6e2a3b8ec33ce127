import { expect, it } from "vitest";
import { LADDERS } from "./ladders.ts";
import { monthlyCost } from "./monthly-cost.ts";

const LADDER = { renditions: { audio: 0, sd: 1, hd: 2, uhd: 0 }, coreHours: 2, perMillion: 50, isStream: false };
const WORK = { minutes: 6000, minutesPerVideo: 6, ladder: LADDER };
const MACHINES = { perHour: 0.5, cores: 4, busy: 0.5 };
const STREAM = { ...LADDER, isStream: true };

it.each([
  // 100 hours of video are 200 hours of a core, 50 of a machine, 100 of which are paid; 6000 × (0.0075 + 2 × 0.015).
  ["a month", WORK, MACHINES, "own", { jobs: 1000, machineHours: 100, machines: 50, controlPlane: 0, elsewhere: 225 }],
  ["Cloudflare", WORK, MACHINES, "cloudflare", { controlPlane: 5 + (1000 * 50 + 50 * 28.2) / 1e6 }],
  ["long files", { ...WORK, minutesPerVideo: 20 }, MACHINES, "cloudflare", { jobs: 300, controlPlane: 5.016_41 }],
  [
    "long streams",
    { ...WORK, ladder: STREAM, minutesPerVideo: 20 },
    MACHINES,
    "cloudflare",
    { controlPlane: 5 + (300 * 100 + 50 * 28.2) / 1e6 },
  ],
  ["a started video", { ...WORK, minutes: 6001 }, MACHINES, "own", { jobs: 1001 }],
  ["nothing", { ...WORK, minutes: 0 }, MACHINES, "cloudflare", { jobs: 0, machines: 0, controlPlane: 5, elsewhere: 0 }],
  ["always busy", WORK, { ...MACHINES, busy: 7 }, "own", { machineHours: 50, machines: 25 }],
  ["no numbers", { ...WORK, minutes: Number.NaN }, { perHour: -1, cores: 0, busy: 0 }, "own", { jobs: 0, machines: 0 }],
] as const)("%s", (_, work, machines, place, expected) => {
  const cost = monthlyCost(work, machines, place);
  for (const [name, value] of Object.entries(expected)) expect(cost[name as keyof typeof cost]).toBeCloseTo(value, 9);
});

it("takes the prices of a table", () => {
  const prices = { audio: 0, sd: 1, hd: 0, uhd: 0 };
  expect(monthlyCost(WORK, MACHINES, "own", prices)).toMatchObject({ elsewhere: 6000, outputMinutes: 18_000 });
});

it("offers ladders with what was measured", () => {
  expect(LADDERS.every(({ coreHours, perMillion }) => coreHours > 0 && perMillion > 0)).toBe(true);
});
