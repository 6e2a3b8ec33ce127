import { expect, it } from "vitest";
import { delayMs } from "./caller.ts";

it.each<[string, attempt: number, retryAfterSeconds: number | undefined, leastMs: number, mostMs: number]>([
  ["the first retry", 0, undefined, 250, 500],
  ["the second retry", 1, undefined, 500, 1000],
  ["the sixth retry", 5, undefined, 8000, 16_000],
  ["later retries, by the longest delay", 20, undefined, 15_000, 30_000],
  ["a retry after 0 s", 0, 0, 250, 500],
  ["a retry after 10 s, that long", 0, 10, 10_000, 10_000],
  ["a retry after 1.5 s, that long", 0, 1.5, 1500, 1500],
  ["a retry after a minute, that long", 20, 60, 60_000, 60_000],
  ["a retry that was allowed before its own delay is over", 5, 1, 8000, 16_000],
])("delays %s", (_, attempt, retryAfterSeconds, leastMs, mostMs) => {
  const delays = Array.from({ length: 100 }, () => delayMs(attempt, retryAfterSeconds));
  expect(Math.min(...delays)).toBeGreaterThanOrEqual(leastMs);
  expect(Math.max(...delays)).toBeLessThanOrEqual(mostMs);
});
