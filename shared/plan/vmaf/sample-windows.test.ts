import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type KeyframeGroup, type SampleWindow, sampleWindows } from "./sample-windows.ts";
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
    expectApart(windows, { fromMs, toMs });
  });

  /** Groups of so many seconds and bytes. */
  const groupsOf = (groups: readonly [seconds: number, bytes: number][], fromMs = 0): KeyframeGroup[] => {
    let at = fromMs;
    return groups.map(([seconds, bytes]) => {
      const group = { fromMs: at, bytes };
      at += seconds * 1000;
      return group;
    });
  };
  const each = (count: number, group: [number, number]): [number, number][] =>
    Array.from({ length: count }, () => group);
  /** Bytes per second of easy, usual and hard scenes. */
  const RATES: Readonly<Record<string, number>> = { easy: 10, usual: 100, hard: 1000 };
  /** Groups of scenes such as `20 hard`: their seconds and rate. */
  const scenes = (...texts: string[]): KeyframeGroup[] =>
    groupsOf(
      texts.map((text) => {
        const [seconds, rate = ""] = text.split(" ");
        return [Number(seconds), Number(seconds) * (RATES[rate] ?? 0)];
      }),
    );

  it.each<[string, seconds: number, KeyframeGroup[], beginsAt: number[]]>([
    ["of scenes in any order", 60, scenes("20 hard", "20 easy", "20 usual"), [0, 20, 40]],
    ["of as many hard ones as the part has", 60, scenes("40 hard", "10 easy", "10 usual"), [0, 20, 50]],
    ["of groups of a frame", 60, groupsOf(Array.from({ length: 60 * 25 }, (_, at) => [0.04, at])), [19.8, 39.5, 58.3]],
    ["of the hard end of a clip of a sample", 20, scenes("5 easy", "5 hard", "10 usual"), [5]],
    ["except of what is too rare", 400, scenes(...Array<string>(199).fill("2 usual"), "2 hard"), []],
    [
      "of a part that ends within a group",
      24,
      [...scenes("8 easy", "8 usual", "79.9 usual"), ...groupsOf([[1, 1]], 96e3)],
      [8],
    ],
    ["evenly: most of the part has no group", 60, groupsOf(each(20, [1.2, 5]), 36_000), [9.5, 29.5, 49.5]],
    ["evenly: too few groups", 60, scenes("50 hard", "10 easy"), [9.5, 29.5, 49.5]],
    ["evenly: no groups", 60, [], [9.5, 29.5, 49.5]],
    ["evenly: groups of another part", 60, groupsOf(each(20, [3, 5]), 90_000), [9.5, 29.5, 49.5]],
  ])("takes samples %s", (_, seconds, groups, beginsAt) => {
    const part = { fromMs: 0, toMs: seconds * 1000 };
    const windows = sampleWindows(part, groups);
    expectApart(windows, part);
    if (beginsAt.length > 0) expect(windows.map(({ fromMs }) => fromMs / 1000)).toEqual(beginsAt.map(nearly));
    else expect(windows.every(({ fromMs }) => fromMs < (groups.at(-1)?.fromMs ?? 0))).toBe(true);
  });

  it("takes samples that fit, of any groups", () => {
    const lengths = fc.array(fc.tuple(fc.double({ min: 0.04, max: 30, noNaN: true }), fc.nat(1_000_000)), {
      minLength: 1,
    });
    fc.assert(
      fc.property(lengths, fc.nat(60_000), fc.nat(600_000), (groups, fromMs, lengthMs) => {
        const part = { fromMs, toMs: fromMs + lengthMs };
        const windows = sampleWindows(part, groupsOf(groups));
        expect(windows).toHaveLength(sampleWindows(part).length);
        expectApart(windows, part);
      }),
    );
  });
});

const nearly = (seconds: number): unknown => expect.closeTo(seconds, 0);

/** Samples are in order, within the part, and do not overlap, no matter how much earlier they start. */
function expectApart(windows: readonly SampleWindow[], { fromMs, toMs }: { fromMs: number; toMs: number }): void {
  for (const [at, window] of windows.entries()) {
    const before = windows[at - 1];
    const endMs = before ? before.fromMs + before.lengthMs : fromMs;
    expect(window.fromMs - window.earlierMs).toBeGreaterThanOrEqual(endMs - 0.001);
    expect(window.earlierMs).toBeGreaterThanOrEqual(0);
    expect(window.fromMs + window.lengthMs).toBeLessThanOrEqual((windows[at + 1]?.fromMs ?? toMs) + 0.001);
  }
}

describe("scoreOf", () => {
  it.each<[string, number[], number]>([
    ["even frames", [93, 93, 93], 93],
    ["bad frames", [...Array.from({ length: 98 }, () => 96), 80, 80], 83],
  ])("counts %s", (_, vmaf, score) => {
    expect(scoreOf(summarizeVmaf(vmaf))).toBeCloseTo(score, 1);
  });
});
