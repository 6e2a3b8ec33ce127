import { expect, it } from "vitest";
import { skewOf } from "./service.ts";

it.each([
  ["Sat, 21 Nov 2026 05:23:27 GMT", "2026-11-21T05:23:28.900Z", 0],
  ["Sat, 21 Nov 2026 05:23:27 GMT", "2026-11-21T05:24:27.000Z", -60_000],
  ["Sat, 21 Nov 2026 05:23:27 GMT", "2026-11-21T05:23:20.000Z", 7000],
  [null, "2026-11-21T05:23:27.000Z", 0],
])("measures the skew of the service's clock by the date %s of a response that arrived at %s", (date, at, skew) =>
  expect(skewOf(date, Date.parse(at))).toBe(skew),
);
