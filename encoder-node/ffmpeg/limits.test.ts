import { expect, it } from "vitest";
import { encodeLimits, type Machine, parseHardLimits, probeLimits, resourceLimits, type Work } from "./limits.ts";

const GIB = 2 ** 30;
const HOUR_MS = 3_600_000;
const machine: Machine = { cpus: 2, memoryBytes: 16 * GIB, freeBytes: 100 * GIB };

it.each<[string, Work, Partial<Machine>, object]>([
  ["a clip", { durationMs: 10_000 }, {}, { wallMs: HOUR_MS + 2e6, fileBytes: 2 * GIB + 3e9, exceededByFile: "file" }],
  ["a video of a year", { durationMs: 8760 * HOUR_MS }, {}, { wallMs: 7 * 24 * HOUR_MS, exceededByFile: "disk" }],
  ["a video of unknown length", {}, {}, { wallMs: 48 * HOUR_MS, fileBytes: 99.5 * GIB, exceededByFile: "disk" }],
  ["CPU time", { durationMs: 0 }, { cpus: 8 }, { cpuSeconds: 8 * 3600 }],
  ["a disk that is almost full", { durationMs: 1 }, { freeBytes: GIB / 4 }, { fileBytes: 0, exceededByFile: "disk" }],
  ["memory", {}, {}, { memoryBytes: 12 * GIB + 2 * 576 * 2 ** 20 }],
  ["little memory", {}, { memoryBytes: GIB, cpus: 1 }, { memoryBytes: 4 * GIB + 576 * 2 ** 20 }],
  ["the address space of a GPU", { inHardware: true }, {}, { memoryBytes: null }],
])("bounds by %s", (_what, work, changes, limits) => {
  expect(encodeLimits(work, { ...machine, ...changes })).toMatchObject(limits);
});

const PROC_LIMITS = `Limit                     Soft Limit           Hard Limit           Units
Max cpu time              unlimited            unlimited            seconds
Max file size             unlimited            unlimited            bytes
Max open files            1024                 512                  files
Max processes             1000                 100                  processes
Max address space         unlimited            1000000              bytes
`;

it("requests no more than this process's own hard limits", () => {
  const limits = probeLimits(60_000);
  expect(resourceLimits(limits, parseHardLimits(PROC_LIMITS))).toEqual([
    [0, 30, 40],
    [9, 1_000_000, 1_000_000],
    [1, 0, 0],
    [7, 512, 512],
    [6, 100, 100],
    [4, 0, 0],
  ]);
  const free = resourceLimits({ ...limits, memoryBytes: null, processes: null }, parseHardLimits(""));
  expect(free.map(([resource]) => resource)).toEqual([0, 1, 7, 4]);
});
