import { describe, expect, it } from "vitest";
import { type Pace, withProgress, withQueue } from "./pace.ts";

const START = 1_800_000_000_000;

/** The pace of a job that reports at these times; in seconds since its first output is encoded. */
function paceOf(fractionAt: (second: number) => number, secondS: number, everyS: number): Pace {
  let pace: Pace | undefined;
  for (let at = 0; at <= secondS; at += everyS) pace = withProgress(pace, fractionAt(at), START + at * 1000);
  if (!pace) throw new Error("no report");
  return pace;
}
const endOf = ({ endsAt }: Pace): number | null => (endsAt === null ? null : (endsAt - START) / 1000);

/** Chunks of 10 s in two slots: the share of the work that is done, of a job that takes 200 s. */
const inChunks = (second: number): number => 0.05 + 0.95 * (second / 200) - (second % 10 > 8 ? 0.005 : 0);

describe("the estimated end of a job", () => {
  it.each<[string, (second: number) => number, endS: number, readAtS: number, everyS: number]>([
    ["that works steadily for a minute", (at) => 0.05 + (0.95 * at) / 60, 60, 20, 1],
    ["that works steadily for an hour", (at) => 0.05 + (0.95 * at) / 3600, 3600, 1200, 5],
    ["that is read each half minute", (at) => 0.05 + (0.95 * at) / 600, 600, 210, 30],
    ["whose first third takes half of the time", (at) => (at < 150 ? at / 450 : (at - 75) / 225), 300, 230, 5],
    ["whose second output is stored slowly", (at) => (at < 60 ? at / 100 : 0.6 + (at - 60) / 600), 300, 120, 5],
    ["whose chunks run at the same time", inChunks, 200, 80, 1],
  ])("is right within a quarter of the remaining time, for a job %s", (_, fractionAt, endS, readAtS, everyS) => {
    const end = endOf(paceOf(fractionAt, readAtS, everyS)) ?? 0;
    expect(Math.abs(end - endS)).toBeLessThanOrEqual((endS - readAtS) / 4);
  });

  it.each<[string, Pace, number | null]>([
    ["before two reports", paceOf(() => 0.05, 0, 1), null],
    ["in the first seconds", paceOf((at) => at / 60, 2, 1), null],
    ["while nothing is done", paceOf(() => 0.3, 100, 5), null],
    ["a minute after the work has stalled", paceOf((at) => Math.min(0.3, at / 100), 95, 5), null],
    [
      "when a lost task starts again",
      withProgress(
        paceOf((at) => at / 100, 50, 5),
        0.2,
        START + 55_000,
      ),
      null,
    ],
    ["for work of years", paceOf((at) => 0.5 + at / 1e9, 60, 5), null],
    ["again after a lost task", paceOf((at) => (at < 50 ? at / 100 : (at - 30) / 100), 80, 5), 130],
  ])("is known only from the pace: %s", (_, pace, endS) => {
    expect(endOf(pace)).toBe(endS);
  });

  it("keeps at most the points of the last minute, and ignores a report that it has seen", () => {
    const pace = paceOf((at) => at / 10_000, 2000, 1);
    expect(pace.samples.length).toBeLessThanOrEqual(14);
    expect(withProgress(pace, 0.9, pace.samples.at(-1)?.at ?? 0)).toBe(pace);
  });

  it("stays the same while the estimate changes little, and does not lie in the past", () => {
    const first = paceOf((at) => at / 200, 60, 5);
    expect(endOf(first)).toBe(200);
    expect(endOf(withProgress(first, 0.319, START + 65_000))).toBe(200);
    expect(endOf(withProgress(first, 0.305, START + 65_000))).toBeGreaterThan(207);
    expect(endOf(withProgress({ ...first, endsAt: START + 64_000 }, 0.32, START + 65_000))).toBeGreaterThan(65);
  });

  it("includes the time in the queue, if that is known", () => {
    const running = paceOf((at) => at / 200, 60, 5);
    const waiting = withQueue(running, 100, START + 60_000);
    expect([endOf(waiting), waiting.isQueued]).toEqual([300, true]);
    expect(endOf(withQueue(waiting, 98, START + 65_000))).toBe(300);
    expect(endOf(withQueue(waiting, null, START + 65_000))).toBeNull();
    expect(
      endOf(
        withQueue(
          paceOf(() => 0.3, 0, 1),
          100,
          START,
        ),
      ),
    ).toBeNull();
    expect(withProgress(waiting, 0.31, START + 165_000).isQueued).toBe(false);
  });
});
