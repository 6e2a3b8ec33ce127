import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { MediaProbe } from "../media/media-probe.ts";
import { audioStream, videoStream } from "../testing/probes.ts";
import { inputVariables, isConditionVariable } from "./condition-variables.ts";
import { holds } from "./evaluate-condition.ts";
import { parseCondition } from "./parse-condition.ts";

const TRAITS = { bit_rate: "5000000", side_data_list: [{ rotation: -90 }], tags: { language: "eng" } };
const PROBE: MediaProbe = {
  streams: [videoStream(1920, 1080, "30000/1001", TRAITS), audioStream()],
  format: { format_name: "mov,mp4,m4a,3gp,3g2,mj2", duration: "61.5", size: "1000", tags: { title: "A video" } },
};

const parse = (text: string) => parseCondition(text, isConditionVariable);
const verdict = (text: string, probe = PROBE): boolean | string => {
  const parsed = parse(text);
  return parsed.ok ? holds(parsed.value, inputVariables(probe)) : parsed.error;
};

describe("conditions", () => {
  const rows: [string, boolean][] = [
    ["{{ input.width }} >= 1280", true],
    ["{{input.width}}<1280", false],
    ["{{ input.width }} = 1920 and {{ input.height }} = 1080", true],
    ["{{ input.width }} = 1 OR {{ input.height }} = 1080", true],
    ["{{ input.width }} = 1 or {{ input.height }} = 1080 and {{ input.fps }} > 60", false],
    ["({{ input.width }} = 1 or {{ input.height }} = 1080) and {{ input.fps }} > 29", true],
    ["NOT {{ input.is_audio_only }}", true],
    ["not not {{ input.is_hd }}", true],
    ["{{ input.is_hd }} = true", true],
    ["{{ input.is_hd }} = 'true'", true],
    ["{{ input.is_hd }} = 1 and {{ input.is_audio_only }} = 0", true],
    ["{{ input.is_hd }} = 0 or {{ input.is_hd }} <> 1 or {{ input.is_hd }} = false", false],
    ["{{ input.rotation }} = 90 or {{ input.rotation }} = 270", true],
    ["({{ input.rotation }} = 0 or {{ input.rotation }} = 180) and {{ input.width }} > {{ input.height }}", false],
    ["{{ input.ifps }} = 30", true],
    ["{{ input.duration }} > 61", true],
    ["{{ input.file_size }} <> 1000", false],
    ["{{ input.file_size }} != 999", true],
    ["{{ input.video_codec }} = 'h264'", true],
    ['{{ input.audio_codec }} = "ac3"', false],
    ["{{ input.format }} = 'mov'", true],
    ["{{ input.mime_type }} = 'video/mp4'", true],
    ["{{ input.video_bitrate }} > 4000000", true],
    ["{{ input.audio_tracks }} = 1 and {{ input.audio_languages }} = 'und'", true],
    ["{{ input.metadata.format.tags.title }} = 'A video'", true],
    ["{{ input.metadata.streams.0.tags.language }} = 'eng'", true],
    ["{{ input.metadata.streams.1.channels }} >= 2", true],
    ["{{ input.metadata.streams.7.channels }} >= 0", false],
    ["{{ input.metadata.format.tags.title.length }} > 0", false],
    ["{{ input.metadata.format.constructor }} <> 'x'", false],
    ["{{ input.audio_bitrate }} < 1 or {{ input.audio_bitrate }} >= 1", false],
    ["NOT {{ input.audio_bitrate }} > 1", true],
    ["10 > 9", true],
    ["'10' > '9'", true],
    ["'abc' < 'abd'", true],
    ["true", true],
    ["FALSE", false],
  ];
  it.each(rows)("%s is %s", (text, expected) => {
    expect(verdict(text)).toBe(expected);
  });

  it("evaluates variables of inputs without video", () => {
    const audioOnly: MediaProbe = { streams: PROBE.streams.slice(1), format: { format_name: "mp3" } };
    expect(verdict("{{ input.is_audio_only }} and {{ input.mime_type }} = 'audio/mp3'", audioOnly)).toBe(true);
    expect(verdict("{{ input.width }} > 0 or {{ input.is_hd }}", audioOnly)).toBe(false);
  });

  it("lists the languages of all audio tracks in their order", () => {
    const languages = ["eng", "ger", undefined, "pt-BR"];
    const audio = languages.map((language, at) => ({
      index: at + 1,
      codec_type: "audio",
      ...(language ? { tags: { language } } : {}),
    }));
    const probe = { ...PROBE, streams: [...PROBE.streams.slice(0, 1), ...audio] };
    expect(verdict("{{ input.audio_tracks }} = 4", probe)).toBe(true);
    expect(verdict("{{ input.audio_languages }} = 'en,de,und,pt-BR'", probe)).toBe(true);
    const silent = { ...PROBE, streams: PROBE.streams.slice(0, 1) };
    expect(verdict("{{ input.audio_tracks }} = 0 and {{ input.audio_languages }} = ''", silent)).toBe(true);
  });

  const rejected: [string, RegExp][] = [
    ["", /missing here \(column 1 /],
    ["{{ input.colour }} = 1", /variable `input.colour` does not exist.*\(column 1 /],
    ["{{ input.metadata }} = 1", /variable `input.metadata` does not exist/],
    ["{{ input.width }} >= ", /missing here \(column 22 /],
    ["{{ input.width }} 5", /operator.*missing here \(column 19 /],
    ["{{ input.width }} == 5", /^write `=` instead of `==` \(column 19 /],
    ["({{ input.width }} > 5", /closing parenthesis.*\(column 23 /],
    ["{{ input.width }} > 5)", /\(column 22 /],
    ["x > 5", /^`x` is not an operator.*\(column 1 /],
    ["width > 5", /^write `\{\{ input.width \}\}` instead of `width` \(column 1 /],
    ["input.width > 5", /^write `\{\{ input.width \}\}` instead of `input.width` \(column 1 /],
    ["$source_width > 5", /^`\$source_width` is API v1 syntax; write `\{\{ input.width \}\}`.*\(column 1 /],
    [
      "{{ input.width > 5",
      /^write `\{\{ input.width \}\}` \(two braces on each side\) instead of `\{\{ input.width ` \(col/,
    ],
    ["{input.height} > 5", /^write `\{\{ input.height \}\}` \(two braces on each side\) instead of `\{input.height\}`/],
    ["{ width } > 5", /^write `\{\{ input.width \}\}` \(two braces/],
    ["{{ width }} > 5", /^the variable `width` does not exist; did you mean `\{\{ input.width \}\}`\? \(column 1 /],
    ["{{ input.heigth }} > 5", /^the variable `input.heigth` does not exist; did you mean `\{\{ input.height \}\}`\?/],
    ["1 = 1 && 2 = 2", /^write `AND` instead of `&&` \(column 7 /],
    ["1 = 1 || 2 = 2", /^write `OR` instead of `\|\|` \(column 7 /],
    ["!{{ input.is_hd }}", /^write `NOT` instead of `!` \(column 1 /],
    ["1 !== 2", /^write `!=` instead of `!==` \(column 3 /],
    ["1 => 2", /^write `>=` instead of `=>` \(column 3 /],
    ["1 = \u201cx\u201d", /^write a straight quote, .* instead of `\u201c` \(column 5 /],
    ["'open", /^this quote is not closed.*\(column 1 /],
    ["1 = 1 and", /missing here \(column 10 /],
    ["5px = 5", /is not valid here.*\(column 1 /],
    [`${"(".repeat(60)}1${")".repeat(60)}`, /nested too deeply/],
    [`1 = ${"1".repeat(2000)}`, /2000 characters/],
  ];
  it.each(rejected)("rejects %j and names the position", (text, message) => {
    expect(verdict(text)).toMatch(message);
  });

  const nested = (depth: number): string => `${"(".repeat(depth)}1 = 1${")".repeat(depth)}`;
  it.each<[string, text: string, rejection: RegExp | null]>([
    ["as many comparisons with AND as fit", Array(240).fill("1=1").join(" AND "), null],
    ["as many comparisons with OR as fit", Array(260).fill("1=1").join(" OR "), null],
    ["many comparisons in brackets", Array(180).fill("(1=1)").join(" AND "), null],
    ["many negations", Array(150).fill("NOT 1=2").join(" AND "), null],
    ["49 brackets around a comparison", nested(49), null],
    ["50 brackets around a comparison", nested(50), /nested too deeply/],
    ["49 negations of a comparison", `${"NOT ".repeat(48)}1 = 1`, null],
    ["50 negations of a comparison", `${"NOT ".repeat(50)}1 = 1`, /nested too deeply/],
    ["2,000 characters", `1 = 1${" ".repeat(1995)}`, null],
    ["2,001 characters", `1 = 1${" ".repeat(1996)}`, /2000 characters/],
  ])("limits depth and length, not the number of comparisons: %s", (_, text, rejection) => {
    if (rejection === null) expect(verdict(text)).toBe(true);
    else expect(verdict(text)).toMatch(rejection);
  });

  it("never throws for any text", () => {
    const tokens = fc.constantFrom(
      "{{ input.width }}",
      "{{",
      "(",
      ")",
      "and",
      "OR",
      "not",
      "=",
      "<>",
      "5",
      "'x'",
      "true",
      " ",
      "é",
    );
    const texts = fc.oneof(
      fc.string(),
      fc.array(tokens, { maxLength: 12 }).map((parts) => parts.join(" ")),
    );
    fc.assert(
      fc.property(texts, (text) => ["boolean", "string"].includes(typeof verdict(text))),
      { numRuns: 1000 },
    );
  });
});
