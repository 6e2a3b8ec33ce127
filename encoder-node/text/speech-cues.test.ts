import fc from "fast-check";
import { expect, it } from "vitest";
import { type SpeechSegment, speechCues } from "./speech-cues.ts";

const cuesOf = (...segments: readonly (readonly [number, number, string])[]) =>
  speechCues(segments.map(([t0, t1, text]) => ({ t0, t1, text }))).map(({ startMs, endMs, text }) => [
    startMs,
    endMs,
    text,
  ]);

it.each<[string, [number, number, string][], (number | string)[][]]>([
  [
    "joins parts of a sentence",
    [
      [0, 1500, " So we"],
      [1600, 3000, " went home."],
    ],
    [[0, 3000, "So we went home."]],
  ],
  [
    "starts a cue with a sentence",
    [
      [0, 1500, "No."],
      [1500, 3000, "Yes."],
    ],
    [
      [0, 1500, "No."],
      [1500, 3000, "Yes."],
    ],
  ],
  [
    "joins very short sentences",
    [
      [0, 400, "No."],
      [400, 1200, "No!"],
    ],
    [[0, 1200, "No. No!"]],
  ],
  [
    "starts a cue after a pause",
    [
      [0, 1500, "So"],
      [2100, 4000, "we"],
    ],
    [
      [0, 1500, "So"],
      [2100, 4000, "we"],
    ],
  ],
  [
    "shows short text for a second",
    [
      [0, 200, "Hi."],
      [5000, 5100, "Ho."],
    ],
    [
      [0, 1000, "Hi."],
      [5000, 6000, "Ho."],
    ],
  ],
  ["ends text before a long pause", [[0, 29_000, "The end."]], [[0, 7000, "The end."]]],
  [
    "drops what is not spoken",
    [
      [0, 2000, "[BLANK_AUDIO]"],
      [2000, 4000, " (laughs) ♪ "],
      [4000, 6000, "..."],
    ],
    [],
  ],
  ["keeps notes beside words", [[0, 2000, "♪ La la"]], [[0, 2000, "♪ La la"]]],
  ["escapes markup", [[0, 2000, "<b>R&D --> me"]], [[0, 2000, "&lt;b&gt;R&amp;D --&gt; me"]]],
  [
    "sorts segments",
    [
      [3000, 5000, "B."],
      [0, 2000, "A."],
    ],
    [
      [0, 2000, "A."],
      [3000, 5000, "B."],
    ],
  ],
])("%s", (_, segments, cues) => {
  expect(cuesOf(...segments)).toEqual(cues);
});

it("breaks a long segment into cues of two even lines, by the width of their words", () => {
  const sentence = "the quick brown fox jumps over the lazy dog and then runs away from all of the hunters";
  expect(cuesOf([0, 12_000, `${sentence} ${sentence}`])).toEqual([
    [0, 5448, "the quick brown fox jumps over the lazy\ndog and then runs away from all of the"],
    [5448, 11_172, "hunters the quick brown fox jumps over the\nlazy dog and then runs away from all of"],
    [11_172, 12_172, "the hunters"],
  ]);
});

it("breaks Chinese after 21 letters", () => {
  const [[, , text] = []] = cuesOf([0, 7000, "这是一个没有空格的很长的中文句子它必须在二十一个字之后换行才能看清楚"]);
  const lines = String(text).split("\n");
  expect(lines).toHaveLength(2);
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(21);
});

const segment: fc.Arbitrary<SpeechSegment> = fc.record({
  t0: fc.integer({ min: 0, max: 60_000 }),
  t1: fc.integer({ min: 0, max: 60_000 }),
  text: fc.oneof(fc.lorem({ maxCount: 40 }), fc.string({ unit: "grapheme", maxLength: 300 })),
});

const LETTERS = new Intl.Segmenter();

it("makes cues of any segments that do not overlap, of 1 to 7 seconds and of two lines at most", () => {
  fc.assert(
    fc.property(fc.array(segment, { maxLength: 20 }), (segments) => {
      let before = 0;
      for (const { startMs, endMs, text } of speechCues(segments)) {
        expect(startMs).toBeGreaterThanOrEqual(before);
        expect(endMs - startMs).toBeGreaterThanOrEqual(1000);
        expect(endMs - startMs).toBeLessThanOrEqual(7000);
        expect(text).not.toMatch(/-->|<|\n\n|\n.*\n/);
        for (const line of text.split("\n")) {
          expect([...LETTERS.segment(line.replaceAll(/&\w+;/g, "_"))].length).toBeLessThanOrEqual(42);
        }
        before = endMs;
      }
    }),
  );
});
