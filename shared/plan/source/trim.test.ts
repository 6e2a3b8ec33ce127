import { expect, test } from "vitest";
import type { OutputSpec, VideoOutput } from "../../job/output-spec.ts";
import { probeOf } from "../../testing/frame-indexes.ts";
import { specOf } from "../../testing/output-specs.ts";
import { chooseTracks } from "./source-tracks.ts";
import { trimOf } from "./trim.ts";

const isVideo = (spec: OutputSpec): spec is VideoOutput => spec.type === "video";

// A frame at time t is the first frame of an output with an offset up to t. The output starts a millisecond before that
// frame.
test.each<[string, string, number, number]>([
  ["on a frame, at a whole rate", "25/1", 1, 999],
  ["just after a frame", "25/1", 1.002, 1039],
  ["rounded to a millisecond before its frame", "25/1", 1.039, 1039],
  ["between frames, at 29.97", "30000/1001", 1, 1000],
  ["any time, where frames have a varying rate", "varying", 1.002, 1002],
])("an offset %s, from which the duration counts", (_, rate, offset, start) => {
  const spec = specOf({ format: "mp4", params: { offset, duration: 2 } }, 0);
  if (!isVideo(spec)) throw new Error("not a video output");
  const { startMs, endMs } = trimOf(spec, chooseTracks(probeOf(rate)));
  expect([startMs, endMs]).toEqual([expect.closeTo(start, 6), expect.closeTo(start + 2000, 6)]);
});
