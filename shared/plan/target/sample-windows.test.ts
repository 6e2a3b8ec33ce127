import { describe, expect, it } from "vitest";
import { sampleWindows } from "./sample-windows.ts";
import { scoreOf, summarizeVmaf } from "./score.ts";

describe("sampleWindows", () => {
  it.each<[string, number, number, { count: number; totalMs: number }]>([
    ["a minute", 0, 60_000, { count: 3, totalMs: 3000 }],
    ["an hour", 0, 3_600_000, { count: 16, totalMs: 16_000 }],
    ["a chunk", 120_000, 130_000, { count: 1, totalMs: 1500 }],
    ["half a second", 0, 500, { count: 1, totalMs: 500 }],
    ["nothing", 5, 5, { count: 1, totalMs: 0 }],
  ])("spreads samples over %s", (_, fromMs, toMs, { count, totalMs }) => {
    const windows = sampleWindows({ fromMs, toMs });
    expect(windows).toHaveLength(count);
    expect(windows.reduce((sum, { lengthMs }) => sum + lengthMs, 0)).toBeCloseTo(totalMs);
    for (const [at, window] of windows.entries()) {
      const endMs = at === 0 ? fromMs : (windows[at - 1]?.fromMs ?? 0) + (windows[at - 1]?.lengthMs ?? 0);
      expect(window.fromMs - window.earlierMs).toBeGreaterThanOrEqual(endMs - 0.001);
      expect(window.earlierMs).toBeGreaterThanOrEqual(0);
      expect(window.fromMs + window.lengthMs).toBeLessThanOrEqual(windows[at + 1]?.fromMs ?? toMs);
    }
  });
});

describe("scoreOf", () => {
  it.each<[string, number[], number]>([
    ["even frames", [93, 93, 93], 93],
    ["bad frames", [...Array.from({ length: 98 }, () => 96), 80, 80], 83],
  ])("counts %s", (_, vmaf, score) => {
    expect(scoreOf(summarizeVmaf(vmaf))).toBeCloseTo(score, 1);
  });
});
