import { describe, expect, it } from "vitest";
import { endEstimate, type Sample, withSample } from "./estimate.ts";

const at = (seconds: number, fraction: number): Sample => ({ atMs: seconds * 1000, fraction });

describe("the estimated end of a job", () => {
  it.each<[string, Sample[], number | null, number | null]>([
    ["is unknown before anything is done", [at(0, 0)], 0, null],
    ["is unknown without a start", [at(10, 0.5)], null, null],
    ["follows from its start at first", [at(10, 0.5)], 0, 20],
    ["follows from the last minute later", [at(60, 0.2), at(80, 0.6)], 0, 100],
    ["is not in the past", [at(1, 0.5), at(5, 0.99)], 0, 10],
  ])("the estimated end %s", (_, samples, startedS, expected) => {
    const end = endEstimate(samples, startedS === null ? null : startedS * 1000, 10_000);
    expect(end === null ? null : Math.round(end / 1000)).toBe(expected);
  });

  it("uses samples of the last minute, and no samples from before a retry", () => {
    let samples: readonly Sample[] = [];
    for (let second = 0; second <= 200; second += 10) samples = withSample(samples, at(second, second / 400));
    expect(samples[0]?.atMs).toBeGreaterThanOrEqual(130_000);
    expect(withSample(samples, at(200, 0.5))).toBe(samples);
    expect(withSample(samples, at(210, 0))).toEqual([at(210, 0)]);
  });
});
