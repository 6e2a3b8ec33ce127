import { expect, test } from "vitest";
import { relativeUrl, webVtt } from "./thumbnail-vtt.ts";

test("writes cues after the header, with times in milliseconds, and leaves out empty cues", () => {
  const cues = [
    { startMs: 0, endMs: 1333.3, target: "1.jpg" },
    { startMs: 1333.3, endMs: 1333.4, target: "2.jpg" },
    { startMs: 1333.4, endMs: 90_061_001, target: "3.jpg#xywh=0,0,160,90" },
  ];
  expect(webVtt(cues)).toBe(
    "WEBVTT\n\n00:00:00.000 --> 00:00:01.333\n1.jpg\n\n00:00:01.333 --> 25:01:01.001\n3.jpg#xywh=0,0,160,90\n",
  );
});

test.each([
  ["a.vtt", "1.jpg", "1.jpg"],
  ["t/a.vtt", "t/x y#1.jpg", "x%20y%231.jpg"],
  ["t/a.vtt", "1.jpg", "../1.jpg"],
  ["t/u/a.vtt", "t/v/1.jpg", "../v/1.jpg"],
  ["a.vtt", "t/t/1.jpg", "t/t/1.jpg"],
  ["t/a.vtt", "t", "../t"],
])("the relative URL from %s to %s is %s", (from, to, url) => {
  expect(relativeUrl(from, to)).toBe(url);
});
