import { expect, it } from "vitest";
import { targetTexts } from "./target.ts";

const samples = (mean: number, kbps: number) => ({
  number: 3,
  seconds: 6,
  frames: 60,
  mean,
  harmonic_mean: mean,
  percentile_1: mean - 9,
  kbps,
});
const target = (rate_factor: number, more: object = {}) => ({
  vmaf: 93,
  size: "1280x720",
  rate_factor,
  ended: "met",
  samples: samples(93.24, 1800),
  tried: [],
  ...more,
});

it.each([
  [[target(24.5)], ["VMAF 93 for 1280x720: 93.2 in samples with rate factor 24.5, 1.8 Mbit/s"]],
  [
    [target(20.5, { chunk: 0, samples: samples(93, 3000) }), target(27, { chunk: 1, samples: samples(94.5, 1000) })],
    ["VMAF 93 for 1280x720: 93.0 to 94.5 in samples with rate factor 20.5 to 27.0 in 2 chunks, 2 Mbit/s"],
  ],
  [[target(21, { samples: null })], ["VMAF 93 for 1280x720: nothing could be measured; rate factor 21.0"]],
  [[], []],
])("makes a sentence for each size of %j", (targets, texts) => {
  expect(targetTexts(targets)).toEqual(texts);
});
