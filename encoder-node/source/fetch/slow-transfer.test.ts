import { expect, it } from "vitest";
import { isWorthRanges, type TransferState, validForMs } from "./slow-transfer.ts";

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
  expect([61_000, 59_000].map((leftMs) => isWorthRanges(transfer, leftMs))).toEqual([true, false]);
});

const NOW = Date.parse("2026-11-23T07:10:00Z");
const AN_HOUR = 3_600_000;
const FOREVER = Number.POSITIVE_INFINITY;

it.each([
  ["https://b.s3.example/a?X-Amz-Date=20261123T070000Z&X-Amz-Expires=4200&X-Amz-Signature=0", AN_HOUR],
  ["https://b.s3.example/a?X-Amz-Date=20261123T070000Z&X-Amz-Expires=60", 0],
  ["https://storage.example/a?X-Goog-Date=20261123T071000Z&X-Goog-Expires=3600", AN_HOUR],
  [`https://cdn.example/a?Expires=${(NOW + AN_HOUR) / 1000}&Signature=0`, AN_HOUR],
  ["https://c.blob.example/a?se=2026-11-23T08:10:00Z&sig=0", AN_HOUR],
  ["https://c.example/a?se=2026-11-23T08:10:00Z", FOREVER],
  ["https://b.s3.example/a?X-Amz-Expires=60", FOREVER],
  ["https://c.example/a?Expires=soon", FOREVER],
  ["https://c.example/a", FOREVER],
])("reads the remaining validity of %s", (url, expected) => {
  expect(validForMs(url, NOW)).toBe(expected);
});
