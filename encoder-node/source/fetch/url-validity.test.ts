import { expect, it } from "vitest";
import { validForMs } from "./url-validity.ts";

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
])("%s", (url, expected) => {
  expect(validForMs(url, NOW)).toBe(expected);
});
