import { expect, it } from "vitest";
import { type Medium, parseFromFrame, parseToFrame } from "./messages.ts";

const medium: Medium = {
  kind: "hls",
  source: "https://bucket.example/master.m3u8",
  label: "httpstream",
  offset: 0,
  frameRate: null,
  hasVideo: null,
};
const opening = (media: unknown, thumbnails: unknown = null) => ({ type: "open", opening: { media, thumbnails } });

it("accepts messages of the page and of the frame", () => {
  const file = { ...medium, kind: "file", source: new Blob(["x"]), offset: 2.5, frameRate: 25, hasVideo: true };
  for (const message of [
    opening([medium]),
    opening([file, medium], "https://bucket.example/master.vtt"),
    { type: "key", key: "." },
  ]) {
    expect(parseToFrame(message)).toEqual(message);
  }
  for (const message of [
    { type: "ready" },
    { type: "size", width: 0, height: 0 },
    { type: "key", key: "?" },
    { type: "problem", problem: { medium: 1, reason: "cors", detail: "" } },
  ]) {
    expect(parseFromFrame(message)).toEqual(message);
  }
});

it.each<[string, unknown]>([
  ["nothing", null],
  ["another type", { type: "navigate", key: "." }],
  ["no media", opening([])],
  ["three media", opening([medium, medium, medium])],
  ["a script for a URL", opening([{ ...medium, source: "javascript:alert(1)" }])],
  ["a file of the computer for a URL", opening([{ ...medium, source: "file:///etc/passwd" }])],
  ["an unknown kind", opening([{ ...medium, kind: "flash" }])],
  ["a frame rate of 0", opening([{ ...medium, frameRate: 0 }])],
  ["an offset that is no number", opening([{ ...medium, offset: Number.NaN }])],
  ["thumbnails that are no URL", opening([medium], "data:text/vtt,")],
])("the frame rejects %s", (_, message) => {
  expect(parseToFrame(message)).toBeNull();
});

it.each<[string, unknown]>([
  ["text", "ready"],
  ["a size that is no number", { type: "size", width: "1", height: 1 }],
  ["a negative size", { type: "size", width: -1, height: 1 }],
  ["an unknown reason", { type: "problem", problem: { medium: 0, reason: "<b>", detail: "" } }],
  ["a detail that is no text", { type: "problem", problem: { medium: 0, reason: "cors", detail: {} } }],
])("the page rejects %s", (_, message) => {
  expect(parseFromFrame(message)).toBeNull();
});
