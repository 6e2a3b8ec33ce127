import { expect, test } from "vitest";
import type { Clip } from "../../job/clip.ts";
import type { OutputSpec, VideoOutput } from "../../job/output-spec.ts";
import { probeOf } from "../../testing/frame-indexes.ts";
import { specOf } from "../../testing/output-specs.ts";
import { chooseTracks } from "./source-tracks.ts";
import { type Trim, trimOf } from "./trim.ts";

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

// The last frame of the clip at 25 frames per second is at 2960 ms, the next at 3000 ms.
test.each<[string, Record<string, number>, Clip, Pick<Trim, "startMs" | "endMs">]>([
  ["a whole clip", {}, { startMs: 1000, endMs: 3000 }, { startMs: 999, endMs: 2999 }],
  ["a clip that starts between frames", {}, { startMs: 1002, endMs: 3000 }, { startMs: 1039, endMs: 2999 }],
  ["a clip that ends 1 ms after a frame", {}, { startMs: 1000, endMs: 3001 }, { startMs: 999, endMs: 3000 }],
  ["a clip that ends 2 ms after a frame", {}, { startMs: 1000, endMs: 3002 }, { startMs: 999, endMs: 3001 }],
  ["a clip that ends 1 ms before a frame", {}, { startMs: 1000, endMs: 2999 }, { startMs: 999, endMs: 2998 }],
  ["a clip from the start", {}, { startMs: 0, endMs: 3000 }, { startMs: 0, endMs: 3000 }],
  ["a clip up to the end", {}, { startMs: 1000, endMs: null }, { startMs: 999, endMs: null }],
  ["a part of a clip", { offset: 0.5, duration: 1 }, { startMs: 1000, endMs: 3000 }, { startMs: 1519, endMs: 2519 }],
  [
    "a part longer than the clip",
    { offset: 0.52, duration: 9 },
    { startMs: 1000, endMs: 3000 },
    { startMs: 1519, endMs: 2999 },
  ],
])("the trim of %s", (_, params, clip, trim) => {
  const spec = specOf({ format: "mp4", params, clip }, 0);
  if (!isVideo(spec)) throw new Error("not a video output");
  expect(trimOf(spec, chooseTracks(probeOf("25/1")))).toMatchObject(trim);
});
