import { expect, test } from "vitest";
import { rateOf } from "./frame-rates.ts";

test.each([
  [25, "25", 25],
  [29.97, "30000/1001", 30_000 / 1001],
  [29.9693, "30000/1001", 30_000 / 1001],
  [23.976, "24000/1001", 24_000 / 1001],
  [59.94, "60000/1001", 60_000 / 1001],
  [30, "30", 30],
  [12.4964, "12496/1000", 12.496],
  [0.1, "100/1000", 0.1],
])("%f frames per second are %s", (mean, fraction, fps) => {
  expect(rateOf(mean)).toEqual({ fraction, fps });
});
