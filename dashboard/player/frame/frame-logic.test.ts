import { describe, expect, it } from "vitest";
import { reasonOf } from "./diagnose.ts";
import { frameSecondsOf, stepTarget } from "./steps.ts";
import { correction } from "./sync.ts";
import { parseThumbnails, thumbnailAt } from "./thumbnails.ts";
import { moved, WHOLE, zoomed } from "./zoom.ts";

describe("steps", () => {
  it.each([23.976, 25, 29.97, 59.94, 120])("steps to each frame once at %d frames a second", (rate) => {
    const seconds = 1 / rate;
    /** The visible frame at a time. Players round timestamps to microseconds. */
    const frameAt = (time: number): number => Math.floor((time + 1e-6) / seconds);
    const timestampOf = (frame: number): number => Math.round(frame * seconds * 1e6) / 1e6;
    for (let frame = 1; frame < 500; frame++) {
      const reached = ([-1, 0, 1] as const).map((step) => frameAt(stepTarget(timestampOf(frame), seconds, step)));
      expect(reached).toEqual([frame - 1, frame, frame + 1]);
    }
    expect(stepTarget(0, seconds, -1)).toBe(0);
  });

  it.each([
    ["the known rate", 50, [0, 1], 1 / 50],
    ["timestamps", null, [0, 0.04, 0.12, 0.08, 0.04], 0.04],
    ["nothing", null, [], 1 / 25],
    ["jumps alone", null, [1, 9], 1 / 25],
  ])("takes the duration of a frame from %s", (_, rate, seen, seconds) => {
    expect(frameSecondsOf(rate, seen)).toBeCloseTo(seconds, 6);
  });
});

describe("two media in step", () => {
  const pair = { leader: 10, shift: 3, rate: 1, frameSeconds: 0.04 };
  it.each([
    ["in step", 13, 1, null],
    ["less than a third of a frame ahead", 13.01, 1, null],
    ["a little ahead", 13.05, 0.95, null],
    ["a little behind", 12.95, 1.05, null],
    ["ahead", 13.3, 0.9, null],
    ["far behind", 2, 1, 13],
  ])("corrects the speed or position of a follower that is %s", (_, follower, rate, seek) => {
    const next = correction({ ...pair, follower });
    expect([Number(next.rate.toFixed(6)), next.seek]).toEqual([rate, seek]);
  });

  it("brings two media together from any distance, at any speed", () => {
    for (const rate of [0.25, 1, 2]) {
      let [leader, follower] = [5, 5.35];
      for (let frame = 0; frame < 60 * 20; frame++) {
        const next = correction({ leader, follower, shift: 0, rate, frameSeconds: 0.04 });
        leader += rate / 60;
        follower = next.seek ?? follower + next.rate / 60;
      }
      expect(Math.abs(leader - follower)).toBeLessThan(0.04 / 2);
    }
  });
});

it("never shows an area beyond the video in an enlarged view", () => {
  const far = moved(zoomed(zoomed(WHOLE, 1), 1), 9, -9);
  expect(far).toEqual({ scale: 4, x: 1.5, y: -1.5 });
  expect(zoomed(far, -1)).toEqual({ scale: 2, x: 0.5, y: -0.5 });
  expect(zoomed(zoomed(far, -1), -1)).toEqual(WHOLE);
  expect([zoomed(WHOLE, -1), moved(WHOLE, 1, 1)]).toEqual([WHOLE, WHOLE]);
});

it("reads thumbnails with and without parts of sprite sheets", () => {
  const text = [
    "WEBVTT\r\n\r\n1\r\n00:00:00.000 --> 00:00:02.000\r\na.jpg#xywh=0,90,160,90\r\n",
    "00:02.000 --> 01:00:04.500 align:start\r\nhttps://cdn.example/b%20c.jpg?x=1\r\n",
    "00:00:09.000 --> 00:00:10.000\r\njavascript:alert(1)\r\n",
  ].join("\r\n");
  const thumbnails = parseThumbnails(text, "https://bucket.example/vod/master.vtt");
  expect(thumbnails).toEqual([
    { start: 0, end: 2, url: "https://bucket.example/vod/a.jpg", part: { x: 0, y: 90, width: 160, height: 90 } },
    { start: 2, end: 3604.5, url: "https://cdn.example/b%20c.jpg?x=1", part: null },
  ]);
  const starts = [-1, 0, 1.9, 2, 9999].map((time) => thumbnailAt(thumbnails, time)?.start);
  expect(starts).toEqual([0, 0, 0, 2, 2]);
  expect(thumbnailAt([], 1)).toBeUndefined();
});

it.each([
  ["readable, and yet not playable", { status: 206, answers: true }, true, "codec"],
  ["private", { status: 403, answers: true }, true, "denied"],
  ["gone", { status: 404, answers: true }, false, "missing"],
  ["broken", { status: 500, answers: true }, false, "other"],
  ["a stream without CORS", { status: null, answers: true }, true, "cors"],
  ["a file without CORS", { status: null, answers: true }, false, "unclear"],
  ["nowhere", { status: null, answers: false }, false, "unreachable"],
])("finds the reason why a medium does not play: %s", (_, finding, needsCors, reason) => {
  expect(reasonOf(finding, needsCors)).toBe(reason);
});
