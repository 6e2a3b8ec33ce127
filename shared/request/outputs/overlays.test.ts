import { describe, expect, it } from "vitest";
import { specOf } from "../../testing/output-specs.ts";
import { parseOutputs } from "./outputs-section.ts";

const LOGO = "https://example.com/logo.png";
const PLACED = { anchor: "bottomright", x: 2, y: 2, opacity: 1, startMs: 0, endMs: null, fadeMs: 0 };
const IMAGE = { ...PLACED, url: LOGO, width: null, height: null };
const TEXT = { ...PLACED, size: 5, color: "#ffffff", background: null, font: null };
const overlaysOf = (overlays: unknown, format = "mp4"): unknown => {
  const spec = specOf({ format, params: { overlays, ...(format === "httpstream" ? { hls: { path: "h" } } : {}) } }, 0);
  return spec.type === "text" ? null : spec.overlays;
};

describe("overlays", () => {
  it.each<[object, object]>([
    [{ url: LOGO }, IMAGE],
    [
      { url: LOGO, anchor: "top", width: 12.5 },
      { ...IMAGE, anchor: "top", x: 0, width: 12.5 },
    ],
    [
      { url: LOGO, anchor: "left", height: "7" },
      { ...IMAGE, anchor: "left", y: 0, height: 7 },
    ],
    [
      { url: LOGO, anchor: "center", x: 0, y: 50 },
      { ...IMAGE, anchor: "center", x: 0, y: 50 },
    ],
    [
      { url: LOGO, start: 1.001, end: -2, fade: 0.5 },
      { ...IMAGE, startMs: 1001, endMs: -2000, fadeMs: 500 },
    ],
    [
      { text: "a\n{\\b1} %{pts}", size: 9, opacity: 0.5 },
      { ...TEXT, text: "a\n{\\b1} %{pts}", size: 9, opacity: 0.5 },
    ],
    [
      { text: "ก", font: "Noto Sans Thai", color: "#AABBCC" },
      { ...TEXT, text: "ก", font: "Noto Sans Thai", color: "#aabbcc" },
    ],
    [
      { text: "a", background: "#00000080" },
      { ...TEXT, text: "a", background: "#00000080" },
    ],
    [
      { timecode: "00:59:59;29", size: 3 },
      { ...PLACED, timecode: "00:59:59;29", size: 3 },
    ],
    [{ timecode: "source" }, { ...PLACED, timecode: "source", size: 5 }],
  ])("reads %j, alone and in lists, for files, images and streams", (overlay, expected) => {
    expect(overlaysOf(overlay)).toEqual([expected]);
    for (const format of ["png", "gif", "httpstream"])
      expect(overlaysOf([overlay, { text: "b" }], format)).toEqual([expected, { ...TEXT, text: "b" }]);
  });

  const many = Array.from({ length: 9 }, () => ({ url: LOGO }));
  it.each<[unknown, string]>([
    [[], ".overlays` must be an overlay, or a list of 1 to 8 overlays"],
    [many, ".overlays` must be an overlay, or a list of 1 to 8 overlays"],
    [LOGO, ".overlays` must be an overlay, or a list"],
    [{}, ".overlays.url` is missing: an overlay has one of url, text, timecode"],
    [[{ text: "a", url: LOGO }], ".overlays.0.text` is not allowed with `url`"],
    [[{ text: "a" }, { timecode: "source", url: LOGO }], ".overlays.1.timecode` is not allowed with `url`"],
    [{ url: LOGO, size: 5 }, ".overlays.size` is not allowed with `url`; it belongs to text and timecode"],
    [{ text: "a", width: 5 }, ".overlays.width` is not allowed with `text`; it belongs to url"],
    [{ timecode: "source", color: "#ffffff" }, ".overlays.color` is not allowed with `timecode`; it belongs to text"],
    [{ url: LOGO, position: "top" }, ".overlays` has no field `position`"],
    [{ url: LOGO, anchor: "top-left" }, "did you mean `topleft`"],
    [{ url: LOGO, x: 101 }, ".overlays.x` must be 100 or less"],
    [{ url: LOGO, x: -1 }, ".overlays.x` must be 0 or more"],
    [{ url: LOGO, width: 0 }, ".overlays.width` must be 0.1 or more"],
    [{ url: LOGO, opacity: 80 }, ".overlays.opacity` must be 1 or less"],
    [{ url: LOGO, fade: 11 }, ".overlays.fade` must be at most 10 seconds"],
    [{ url: LOGO, start: 2, end: 2 }, ".overlays.end` must be after `start`"],
    [{ url: LOGO, start: -2, end: -3 }, ".overlays.end` must be after `start`"],
    [{ url: LOGO, start: 1, end: 2, fade: 0.6 }, ".overlays.fade` must be at most half of the time"],
    [{ url: "file:///etc/passwd" }, ".overlays.url` "],
    [{ url: "http://169.254.169.254/" }, ".overlays.url` "],
    [{ text: "" }, ".overlays.text` must not be empty"],
    [{ text: "x".repeat(501) }, ".overlays.text` must have at most 500 characters"],
    [{ text: "a\r\nb" }, ".overlays.text` must not contain control characters"],
    [{ text: "a\u0000" }, ".overlays.text` must not contain control characters"],
    [{ text: "{{ input.width }}" }, ".overlays.text` must not contain `{{ input.… }}`"],
    [{ text: "a", font: "../a.ttf" }, ".overlays.font` must be the name of a font"],
    [{ timecode: "24:00:00:00" }, ".overlays.timecode` must be a timecode"],
    [{ timecode: "%{pts}" }, ".overlays.timecode` must be a timecode"],
  ])("refuses %j", (overlays, message) => {
    const parsed = parseOutputs({ mp4: { path: "a.mp4", overlays } }, "none");
    expect(parsed).toEqual({
      ok: false,
      error: { code: "output_param_not_valid", message: expect.stringContaining(message) },
    });
  });

  it.each([
    ["mp4:copy", { path: "a" }, "`outputs.mp4:copy.overlays` is not allowed, because the format copies the video"],
    ["mp3", { path: "a" }, "`outputs.mp3.overlays` is not allowed, because the format has no video"],
    [
      "httpstream",
      { hls: { path: "h" }, variants: ["mp4:x:64k"] },
      "`outputs.httpstream.overlays` requires variants with video",
    ],
  ])("refuses them for %s without encoded video", (format, params, message) => {
    const parsed = parseOutputs({ [format]: { ...params, overlays: { text: "a" } } }, "none");
    expect(parsed).toMatchObject({ ok: false, error: { message: expect.stringContaining(message) } });
  });
});
