import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { rateFactorBounds, usualRateFactor } from "../encoders/rate-factors.ts";
import { ABOVE, BELOW, lossOf, MAX_PROBES, type NextProbe, nextProbe, type Probe } from "./search.ts";

const bounds = rateFactorBounds("libx264");
const start = usualRateFactor("libx264", 93);
const growth = (lossOf(90) - lossOf(93)) / (usualRateFactor("libx264", 90) - start);

/** Searches on a curve, and returns the end of the search and all tried probes. */
function search(curve: (rateFactor: number) => number, target = 93) {
  const tried: Probe[] = [];
  for (;;) {
    const next: NextProbe = nextProbe(tried, target, { bounds, start, growth });
    if ("chosen" in next) return { ...next, tried };
    expect(tried.length).toBeLessThan(MAX_PROBES);
    const { rateFactor } = next;
    tried.push({ rateFactor, score: curve(rateFactor), kbps: 4000 * 2 ** (-rateFactor / 6) });
  }
}

describe("nextProbe", () => {
  it.each<[string, (rateFactor: number) => number, { stopped: string; from: number; to: number }]>([
    ["the usual one", (rf) => 93 + (start - rf), { stopped: "met", from: start, to: start }],
    ["a hard video", (rf) => 90 - 2 * (rf - 20), { stopped: "met", from: 18, to: 18.8 }],
    ["an easy video", (rf) => 97 - 0.5 * (rf - 20), { stopped: "met", from: 26.4, to: 29 }],
    ["one that is easy with any", () => 99, { stopped: "worst", from: bounds.worst, to: bounds.worst }],
    ["one with a maximum bitrate", (rf) => Math.min(88, 110 - rf), { stopped: "no_gain", from: start, to: start }],
    ["one that no factor reaches", (rf) => 92 - 2 * (rf - 8), { stopped: "best", from: bounds.best, to: bounds.best }],
    ["a step in the curve", (rf) => (rf <= 25 ? 95 : 80), { stopped: "limit", from: 22, to: 25 }],
  ])("finds %s", (_, curve, { stopped, from, to }) => {
    const { chosen, ...end } = search(curve);
    expect(end.stopped).toBe(stopped);
    expect(chosen.rateFactor).toBeGreaterThanOrEqual(from);
    expect(chosen.rateFactor).toBeLessThanOrEqual(to);
  });

  it("chooses a tried factor within the bounds, and meets the target if any tried factor meets it", () => {
    const falling = fc.record({
      at: fc.double({ min: 60, max: 100, noNaN: true }),
      slope: fc.double({ min: 0, max: 5, noNaN: true }),
    });
    fc.assert(
      fc.property(falling, fc.integer({ min: 70, max: 98 }), ({ at, slope }, target) => {
        const { chosen, tried } = search((rf) => Math.min(100, at - slope * (rf - start)), target);
        expect(tried).toContainEqual(chosen);
        expect(chosen.rateFactor).toBeGreaterThanOrEqual(bounds.best);
        expect(chosen.rateFactor).toBeLessThanOrEqual(bounds.worst);
        if (tried.some(({ score }) => score >= target - BELOW))
          expect(chosen.score).toBeGreaterThanOrEqual(target - BELOW);
        const spread = Math.abs(slope) * 0.25;
        const isReachable = at - slope * (bounds.worst - start) < target && at - slope * (bounds.best - start) > target;
        if (isReachable && slope > 0.5 && spread < ABOVE && at < 98)
          expect(Math.abs(chosen.score - target)).toBeLessThan(5);
      }),
    );
  });
});
