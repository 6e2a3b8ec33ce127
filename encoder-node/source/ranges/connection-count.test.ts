import { expect, it } from "vitest";
import { type Connections, isWorthMore, twoConnections, withFailure, withRate } from "./connection-count.ts";

const MB = 1_000_000;

it.each([
  ["slow and large", { bytesPerSecond: 2 * MB, remainingBytes: 100 * MB }, true],
  ["nearly done", { bytesPerSecond: 2 * MB, remainingBytes: 5 * MB }, false],
  ["fast", { bytesPerSecond: 100 * MB, remainingBytes: 200 * MB }, false],
  ["silent", { bytesPerSecond: 0, remainingBytes: 100 * MB }, true],
  [
    "slow, with a URL for twice its time",
    { bytesPerSecond: 2 * MB, remainingBytes: 60 * MB, validForMs: 61_000 },
    true,
  ],
  ["slow, with a URL for less", { bytesPerSecond: 2 * MB, remainingBytes: 60 * MB, validForMs: 59_000 }, false],
])("more connections for a transfer that is %s", (_what, transfer, worth) => {
  expect(isWorthMore({ validForMs: Number.POSITIVE_INFINITY, ...transfer })).toBe(worth);
});

/** The numbers of connections to a host that sends `rateOf(count)` bytes per second. */
function countsAt(rateOf: (count: number) => number): number[] {
  const counts: number[] = [];
  let connections: Connections = twoConnections(rateOf(1));
  for (let window = 0; window < 6; window++) {
    counts.push(connections.count);
    connections = withRate(connections, rateOf(connections.count));
  }
  return counts;
}

it.each<[string, (count: number) => number, number[]]>([
  ["limits each connection", (count) => count * MB, [2, 4, 8, 8, 8, 8]],
  ["limits all together", () => MB, [2, 1, 1, 1, 1, 1]],
  ["has a limit of three connections' rate", (count) => Math.min(count, 3) * MB, [2, 4, 8, 4, 4, 4]],
  ["becomes slower", (count) => MB / count, [2, 1, 1, 1, 1, 1]],
])("a host that %s", (_what, rateOf, counts) => {
  expect(countsAt(rateOf)).toEqual(counts);
});

it("halves the number for good when the host refuses", () => {
  const eight = withRate(withRate(twoConnections(MB), 2 * MB), 4 * MB);
  const four = withFailure(eight);
  expect([
    eight.count,
    four.count,
    withRate(four, 100 * MB).count,
    withFailure(withFailure(withFailure(four))).count,
  ]).toEqual([8, 4, 4, 1]);
});
