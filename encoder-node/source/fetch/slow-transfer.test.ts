import { expect, it } from "vitest";
import { isWorthRanges, type TransferState } from "./slow-transfer.ts";

const MB = 1e6;
it.each<[string, TransferState, boolean]>([
  ["most of it is still to come", { received: 2 * MB, totalBytes: 40 * MB, elapsedMs: 1000 }, true],
  ["the rest takes three seconds", { received: 10 * MB, totalBytes: 40 * MB, elapsedMs: 1000 }, false],
  ["its rate is not measured yet", { received: 1 * MB, totalBytes: 400 * MB, elapsedMs: 900 }, false],
  ["its size is not known", { received: 2 * MB, totalBytes: null, elapsedMs: 5000 }, false],
  ["nothing has arrived", { received: 0, totalBytes: 40 * MB, elapsedMs: 5000 }, false],
  ["the rest takes hours", { received: 2 * MB, totalBytes: 40_000 * MB, elapsedMs: 5000 }, false],
])("reads by ranges what would take long to arrive: %s", (_, transfer, expected) => {
  expect(isWorthRanges(transfer, Number.POSITIVE_INFINITY)).toBe(expected);
});

it("does not read by ranges when the URL may expire too early", () => {
  const transfer = { received: 2 * MB, totalBytes: 62 * MB, elapsedMs: 1000 };
  expect([61_000, 59_000].map((validForMs) => isWorthRanges(transfer, validForMs))).toEqual([true, false]);
});
