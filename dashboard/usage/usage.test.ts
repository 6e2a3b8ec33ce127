import { describe, expect, it } from "vitest";
import type { UsageDay } from "../../client/index.ts";
import { axisText, barsOf, csvOf, scaleOf, stackOf, tiersOf } from "./bars.ts";
import { rangeOf } from "./range.ts";

const NOW = Date.parse("2026-03-02T23:59:00Z");
const day = (name: string, hd: number, audio = 0): UsageDay => ({
  day: name,
  jobs: { completed: 1, failed: 0, cancelled: 0 },
  node_seconds: 0,
  stored_bytes: 0,
  output_seconds: { audio, sd: 0, hd, uhd: 0 },
});

describe("the days in the URL", () => {
  it.each([
    ["", "2026-02-01", "2026-03-02", "30d"],
    ["range=7d", "2026-02-24", "2026-03-02", "7d"],
    ["range=month", "2026-03-01", "2026-03-02", "month"],
    ["range=last", "2026-02-01", "2026-02-28", "last"],
    ["range=year", "2025-04-01", "2026-03-02", "year"],
    ["range=constructor", "2026-02-01", "2026-03-02", "30d"],
    ["from=2026-01-05&to=2026-01-09", "2026-01-05", "2026-01-09", null],
    ["from=2020-01-01&to=2026-01-01", "2025-01-01", "2026-01-01", null],
    ["from=2026-01-09&to=2026-01-05", "2026-02-01", "2026-03-02", "30d"],
  ])("reads the days of the query %j: from %s to %s", (query, from, to, preset) => {
    expect(rangeOf(new URLSearchParams(query), NOW)).toEqual({ from, to, preset });
  });
});

describe("bars", () => {
  it("makes a bar for each day, or for each week of a long range", () => {
    expect(
      barsOf([day("2026-03-01", 120, 60), day("2026-03-02", 60)]).map(({ from, minutes }) => [from, minutes]),
    ).toEqual([
      ["2026-03-01", 3],
      ["2026-03-02", 1],
    ]);
    const long = barsOf(Array.from({ length: 64 }, (_, at) => day(`day ${at}`, 60)));
    expect([long.length, long[0]?.minutes, long.at(-1)]).toMatchObject([
      10,
      7,
      { from: "day 63", to: "day 63", minutes: 1 },
    ]);
  });

  it.each([
    [0, "0 1"],
    [0.02, "0 0.005 0.01 0.015 0.02"],
    [0.7, "0 0.2 0.4 0.6 0.8"],
    [7, "0 2 4 6 8"],
    [20, "0 5 10 15 20"],
    [1284, "0 500 1,000 1,500"],
  ])("chooses for bars up to %d the scale %s", (max, expected) => {
    expect(scaleOf(max).map(axisText).join(" ")).toBe(expected);
  });

  it("names only the tiers with minutes", () => {
    expect(tiersOf(barsOf([day("2026-03-01", 120), day("2026-03-02", 0, 60)]))).toEqual(["audio", "hd"]);
  });

  it("stacks the parts of a bar from below", () => {
    const [bar] = barsOf([day("2026-03-01", 120, 60)]);
    const rects = bar ? stackOf(bar, 1, { width: 20, height: 100, top: 4, count: 2 }) : [];
    expect(rects.map(({ tier, x, y, width, height }) => [tier, x, y, width, height])).toEqual([
      ["audio", 11, 75, 8, 25],
      ["hd", 11, 25, 8, 50],
    ]);
  });
});

it("writes the numbers of a day in the order of the CSV's header", () => {
  const jobs = { completed: 1, failed: 2, cancelled: 3 };
  const output_seconds = { audio: 4, sd: 5, hd: 6, uhd: 7 };
  const text = csvOf([{ day: "2026-03-01", jobs, output_seconds, node_seconds: 8, stored_bytes: 9 }]);
  const seconds = "audio_seconds,sd_seconds,hd_seconds,uhd_seconds,node_seconds";
  expect(text).toBe(`day,completed,failed,canceled,${seconds},stored_bytes\r\n2026-03-01,1,2,3,4,5,6,7,8,9\r\n`);
});
