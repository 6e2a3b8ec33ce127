import { expect, it } from "vitest";
import { ago, bitrate, bytes, count, duration, money, percent, plural, timecode } from "./format.ts";

it.each([
  [bytes(0), "0 B"],
  [bytes(999), "999 B"],
  [bytes(999_600), "1 MB"],
  [bytes(1_250_000_000), "1.25 GB"],
  [bitrate(2_500_000), "2.5 Mbit/s"],
  [count(1284), "1,284"],
  [count(null), "–"],
  [plural(1, "job"), "1 job"],
  [plural(0, "job"), "0 jobs"],
  [percent(0.999), "99 %"],
  [percent(0.29), "29 %"],
  [percent(1.2), "100 %"],
  [percent(undefined), "–"],
  [duration(0), "0 ms"],
  [duration(0.34), "340 ms"],
  [duration(0.9999), "1.0 s"],
  [duration(9.96), "10 s"],
  [duration(59.7), "1 min"],
  [duration(185), "3 min 5 s"],
  [duration(7500), "2 h 5 min"],
  [duration(3600), "1 h"],
  [duration(-12), "−12 s"],
  [timecode(8.25), "0:08.3"],
  [timecode(59.96), "1:00.0"],
  [timecode(3723.4), "1:02:03.4"],
  [timecode(3723.4, 0), "1:02:03"],
  [money(19.26), "$19.26"],
  [money(0.00325), "$0.0033"],
  [money(0), "$0.00"],
])("%s is written as %s", (text, expected) => expect(text).toBe(expected));

const NOW = Date.parse("2026-11-23T03:00:00Z");
it.each([
  [NOW - 500, "just now"],
  ["2026-11-23T02:59:48Z", "12 s ago"],
  ["2026-11-23T02:56:16Z", "3 min ago"],
  ["2026-11-22T03:00:01Z", "23 h ago"],
  ["2026-11-20T03:00:00Z", "3 d ago"],
  ["2026-11-01T12:00:00Z", "1 Nov 2026"],
  [NOW + 90_000, "in 1 min"],
  ["no time", "–"],
])("the time %s is %s", (time, expected) => expect(ago(time, NOW)).toBe(expected));
