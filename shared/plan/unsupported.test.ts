import { expect, test } from "vitest";
import { specOf } from "./test-output.ts";
import { unsupported } from "./unsupported.ts";

test.each<[string, Record<string, unknown>, string]>([
  ["mp4:hevc", {}, ""],
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
