import { expect, test } from "vitest";
import type { RateTarget } from "../format/format-spec.ts";
import { defaultBitrateKbps, x264RateArguments } from "./encoder-table.ts";

test.each([
  [64, 64, 1000],
  [426, 240, 1000],
  [854, 480, 1000],
  [1280, 720, 1850],
  [1920, 1080, 3350],
  [3840, 2160, 9550],
])("a picture of %ix%i without a rate gets %ik", (width, height, kbps) => {
  expect(defaultBitrateKbps({ width, height })).toBe(kbps);
});

test.each<[RateTarget, string]>([
  [{ bitrateKbps: null, maxrateKbps: null }, "-b:v 1850k -maxrate 2775k -bufsize 3700k"],
  [{ bitrateKbps: 501, maxrateKbps: null }, "-b:v 501k -maxrate 752k -bufsize 1002k"],
  [{ quality: 5, maxrateKbps: null }, "-crf 18"],
  [{ quality: 4, maxrateKbps: null }, "-crf 21"],
  [{ quality: 3, maxrateKbps: null }, "-crf 24"],
  [{ quality: 2, maxrateKbps: null }, "-crf 28"],
  [{ quality: 1, maxrateKbps: 400 }, "-crf 32 -maxrate 400k -bufsize 800k"],
])("the rate %j at 720p is %s", (rate, expected) => {
  expect(x264RateArguments(rate, { width: 1280, height: 720 }).join(" ")).toBe(expected);
});
