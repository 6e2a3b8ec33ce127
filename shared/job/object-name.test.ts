import { expect, it } from "vitest";
import { type OutputOptions, specOf } from "../testing/output-specs.ts";
import { contentTypeOf, counterOf, joinPath, objectName } from "./object-name.ts";

const STREAM: OutputOptions = { format: "httpstream", params: { hls: { path: "hls" } } };

const counters: [string, number, string][] = [
  ["a/%02d.jpg", 3, "a/03.jpg"],
  ["a/%.2d.jpg", 3, "a/03.jpg"],
  ["a/%05d.jpg", 12, "a/00012.jpg"],
  ["a/%1d.jpg", 12, "a/12.jpg"],
  ["a/%d.jpg", 7, "a/7.jpg"],
  ["a/plain.jpg", 1, "a/plain.jpg"],
  ["100%/a.jpg", 1, "100%/a.jpg"],
];
it.each(counters)("replaces the counter of %s", (path, ordinal, expected) => {
  expect(objectName(path, ordinal)).toBe(expected);
  expect(counterOf(path) !== null).toBe(path !== expected);
});

const joins: [string, string, string][] = [
  ["", "a.mp4", "a.mp4"],
  ["/", "/a.mp4", "a.mp4"],
  ["videos", "a.mp4", "videos/a.mp4"],
  ["/videos/", "//b/a.mp4", "videos/b/a.mp4"],
];
it.each(joins)("joins %j and %j", (folder, name, expected) => {
  expect(joinPath(folder, name)).toBe(expected);
});

it.each<[OutputOptions, string, string]>([
  [{ format: "mp4" }, "a", "video/mp4"],
  [{ format: "mp4:x" }, "a.mp4", "audio/mp4"],
  [{ format: "webm:x" }, "a", "audio/webm"],
  [{ format: "mpegts" }, "a.mp4", "video/mp2t"],
  [{ format: "wmv" }, "a", "video/x-ms-wmv"],
  [{ format: "asf:x" }, "a", "audio/x-ms-wma"],
  [{ format: "opus" }, "a", "audio/ogg"],
  [{ format: "webp_anim" }, "a", "image/webp"],
  [{ format: "jpg", params: { path: "a.jpg", vtt: true } }, "a.jpg", "image/jpeg"],
  [{ format: "jpg", params: { path: "a.jpg", vtt: true } }, "a.vtt", "text/vtt"],
  [STREAM, "hls/master.m3u8", "application/vnd.apple.mpegurl"],
  [STREAM, "dash/master.mpd", "application/dash+xml"],
  [STREAM, "hls/720p/00001.ts", "video/mp2t"],
  [STREAM, "dash/720p/1.m4s", "video/iso.segment"],
  [STREAM, "en.VTT", "text/vtt"],
  [STREAM, "dash/odd", "application/octet-stream"],
])("the content type of %j at %s is %s", (ask, object, contentType) => {
  expect(contentTypeOf(specOf(ask, 0), object)).toBe(contentType);
});
