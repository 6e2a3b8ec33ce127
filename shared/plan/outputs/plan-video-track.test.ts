import { expect, test } from "vitest";
import { planCaptions } from "./plan-video-track.ts";

const track = { hasCaptions: true, constantRate: true, fps: 25 };
const unchanged = { filters: [], fps: 25 };
const converted = { filters: ["fps=30"], fps: 30 };
const REMOVED = { filters: ["sidedata=mode=delete:type=A53_CC"], kept: false };
const KEPT = { filters: [], kept: true };

test.each<[string, Parameters<typeof planCaptions>, object]>([
  ["are kept with all frames", [track, unchanged, false, { ffmpegVersion: "5.1.9" }], KEPT],
  ["are kept at the same rate", [track, { ...converted, fps: 25 }, false, { ffmpegVersion: "5.1.9" }], KEPT],
  ["are dropped if asked to", [track, unchanged, true, {}], REMOVED],
  ["are dropped also if none were seen", [{ ...track, hasCaptions: false }, unchanged, true, {}], REMOVED],
  ["are not there", [{ ...track, hasCaptions: false }, unchanged, false, {}], { filters: [], kept: false }],
  ["break at another rate in 5.1", [track, converted, false, { ffmpegVersion: "5.1.9-0+deb12u1" }], REMOVED],
  ["break at another rate in 6.0", [track, converted, false, { ffmpegVersion: "6.0" }], REMOVED],
  ["are repacked by 6.1", [track, converted, false, { ffmpegVersion: "6.1.1" }], KEPT],
  ["are repacked by 10.0", [track, converted, false, { ffmpegVersion: "10.0" }], KEPT],
  ["are repacked by a build of today", [track, converted, false, { ffmpegVersion: "N-118000-gabc" }], KEPT],
])("captions %s", (_, request, expected) => {
  expect(planCaptions(...request)).toEqual(expected);
});
