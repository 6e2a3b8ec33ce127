import { expect, test } from "vitest";
import { specOf } from "./test-output.ts";
import { unsupported } from "./unsupported.ts";

test.each<[string, Record<string, unknown>, string]>([
  ["webm:vp9", {}, "webm files"],
  ["mp3", {}, "mp3 files"],
  ["mp4:hevc", {}, "hevc video"],
  ["mp4:copy", {}, "copy video"],
  ["mp4:::quality=3,2pass=0", {}, ""],
  ["mp4:720p::maxrate=3000k", {}, "option `maxrate` beside a bitrate"],
  ["mp4::ac3", {}, "ac3 audio"],
  ["mp4::multi", {}, "`multi` channels"],
  ["mp4:::level=41", {}, "option `level`"],
  ["mp4:::metadata=0", {}, "option `metadata=0`"],
  ["mp4", { offset: 1 }, "parameter `offset`"],
  ["mp4", { fit: "crop" }, "parameter `fit` with `crop`"],
  ["mp4", { watermark: { url: "https://a.example/w.png" } }, "parameter `watermark`"],
  ["gif", {}, "gif images"],
  ["jpg", { interval: 5 }, "images by `interval`"],
  ["jpg", { sprite: true }, "parameter `sprite`"],
  ["jpg", { number: 3, square: true }, ""],
  ["httpstream", { hls: { path: "hls" } }, "HTTP streams"],
])("%s with %j lacks: %s", (format, params, lack) => {
  expect(unsupported(specOf({ format, params }, 0))).toEqual(
    lack === ""
      ? null
      : {
          code: "encoder_not_available",
          message: `The output \`${format}\` cannot be made: this version of the encoder has no ${lack} yet.`,
        },
  );
});
