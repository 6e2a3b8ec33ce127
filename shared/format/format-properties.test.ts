// Properties of all formats: parsing never throws, and printed formats parse to the same format.
import fc from "fast-check";
import { expect, it } from "vitest";
import { formatSpecs, formatTexts } from "../testing/arbitrary-format.ts";
import { IMAGE_CONTAINER_TRAITS } from "./containers.ts";
import { FormatHash } from "./format-hash.ts";
import { ImageFormat, TextFormat, VideoFormat } from "./format-spec.ts";
import { parseFormat } from "./parse-format.ts";
import { MAX_ANIMATED_WIDTH } from "./presets.ts";
import { printFormat } from "./print-format.ts";

it("parses any text to a printable format or an error", () => {
  const texts = fc.oneof({ weight: 1, arbitrary: fc.string() }, { weight: 4, arbitrary: formatTexts });
  fc.assert(
    fc.property(texts, (text) => {
      const parsed = parseFormat(text);
      if (!parsed.ok) return parsed.error.message !== "";
      const schema = { video: VideoFormat, image: ImageFormat, text: TextFormat }[parsed.value.type];
      expect(schema.parse(parsed.value)).toEqual(parsed.value);
      expect(parseFormat(printFormat(parsed.value))).toEqual(parsed);
      return true;
    }),
    { numRuns: 2000 },
  );
});

it("parses printed formats to the same format", () => {
  const makeable = formatSpecs.filter(
    (format) =>
      format.type === "video" ||
      !IMAGE_CONTAINER_TRAITS[format.container].animated ||
      (format.size.width ?? 0) <= MAX_ANIMATED_WIDTH,
  );
  fc.assert(
    fc.property(makeable, (spec) => {
      expect(parseFormat(printFormat(spec))).toEqual({ ok: true, value: spec });
    }),
    { numRuns: 1200 },
  );
});

it("parses any hash with any text without an exception", () => {
  const value = fc.oneof(fc.string({ maxLength: 40 }), fc.double(), fc.integer({ min: 0, max: 60_000 }), fc.boolean());
  const word = fc.constantFrom(..."720p h264 copy opus stereo yuv420p main 1 900k 25 __proto__".split(" "));
  const hashes = fc.dictionary(fc.constantFrom(...Object.keys(FormatHash.shape)), fc.oneof(value, word), {
    maxKeys: 3,
  });
  fc.assert(
    fc.property(formatTexts, hashes, (text, fields) => {
      const hash = FormatHash.safeParse(fields);
      if (!hash.success) return true;
      const parsed = parseFormat(text, hash.data);
      if (!parsed.ok) return parsed.error.message !== "";
      expect(parseFormat(printFormat(parsed.value))).toEqual(parsed);
      return true;
    }),
    { numRuns: 800 },
  );
});
