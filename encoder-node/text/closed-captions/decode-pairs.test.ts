// CEA-608 as cues of WebVTT.
import { expect, it } from "vitest";
import type { CaptionChannel } from "#shared/job/subtitles.ts";
import { lettersOf, type Pair, twice } from "../../testing/jobs/captioned-clip.ts";
import type { CaptionPair } from "./caption-pairs.ts";
import { decodePairs } from "./decode-pairs.ts";

/** Pairs of a field, each 100 ms after the one before it. */
const inField = (pairs: readonly Pair[], field: 1 | 2 = 1): CaptionPair[] =>
  pairs.map(([first, second], at) => ({ ms: at * 100, field, first, second }));

const cuesOf = (pairs: readonly CaptionPair[], channel: CaptionChannel = "cc1") =>
  decodePairs(pairs, 10_000).get(channel) ?? [];

const [LOAD, SHOW, ERASE, LAST_ROW] = [twice(0x1420), twice(0x142f), twice(0x142c), twice(0x1470)];
const popOn = (content: readonly Pair[]): CaptionPair[] => inField([...LOAD, ...content, ...SHOW, ...ERASE]);
const special = (code: number): Pair => [code >> 8, code & 255];

it.each<[string, readonly Pair[], string[]]>([
  ["escapes the characters that WebVTT reserves", [...LAST_ROW, ...lettersOf("A<B & C>D")], ["A&lt;B &amp; C&gt;D"]],
  ["has italics of an address", [...twice(0x146e), ...lettersOf("SIGH")], ["<i>SIGH</i>"]],
  ["has colors and underlining", [...twice(0x144b), ...lettersOf("ANN:")], ["<c.yellow><u>ANN:</u></c>"]],
  ["names green as WebVTT does", [...twice(0x1442), ...lettersOf("BOB:")], ["<c.lime>BOB:</c>"]],
  [
    "shows codes for styles as a space",
    [...LAST_ROW, ...lettersOf("ONE,"), ...twice(0x112e), ...lettersOf("TWO!")],
    ["ONE, <i>TWO!</i>"],
  ],
  ["shows special characters once", [...LAST_ROW, ...twice(0x1137), ...lettersOf(" LA")], ["♪ LA"]],
  ["replaces letters by those of other languages", [...LAST_ROW, ...lettersOf("OLEE"), ...twice(0x1221)], ["OLEÉ"]],
  [
    "makes a cue of adjacent rows, and of each group of them",
    [...twice(0x1140), ...lettersOf("TOP"), ...twice(0x1440), ...lettersOf("UP"), ...LAST_ROW, ...lettersOf("DOWN")],
    ["TOP", "UP\nDOWN"],
  ],
])("a caption %s", (_, content, texts) => {
  const cues = cuesOf(popOn(content));
  expect(cues.map(({ text }) => text)).toEqual(texts);
});

it.each<[string, readonly Pair[], string]>([
  ["of a row at the left", [...LAST_ROW, ...lettersOf("LEFT")], "line:84.67% position:10% align:start"],
  ["of an indented row", [...twice(0x1152), ...lettersOf("HERE")], "line:10% position:20% align:start"],
  ["of a centered row", [...twice(0x1476), ...twice(0x1722), ...lettersOf("IN THE")], "line:84.67%"],
])("settings have the place %s", (_, content, settings) => {
  expect(cuesOf(popOn(content))).toMatchObject([{ settings }]);
});

it("roll-up text is a cue for each state of its rows, also if its letters come slowly", () => {
  const [rollUp, newLine] = [twice(0x1425), twice(0x142d)];
  const pairs = inField([...rollUp, ...newLine, ...LAST_ROW, ...lettersOf("FIRST"), ...newLine, ...lettersOf("NEXT")]);
  const late = inField(lettersOf(" AND LAST")).map((pair) => ({ ...pair, ms: pair.ms + 3000 }));
  const cues = cuesOf([...pairs, ...late]);
  expect(cues.map(({ startMs, endMs, text }) => [startMs, endMs, text])).toEqual([
    [600, 900, "FIRST"],
    [900, 3000, "FIRST\nNEXT"],
    [3000, 10_000, "FIRST\nNEXT AND LAST"],
  ]);
});

it("does not take data about programs in the second field for captions", () => {
  const data: Pair[] = [[0x01, 0x03], ...lettersOf("Movie Title"), [0x0f, 0x1d]];
  const captions = [...twice(0x1520), ...LAST_ROW, ...lettersOf("TEXT"), ...data, ...twice(0x152f), ...twice(0x152c)];
  expect(cuesOf(inField(captions, 2), "cc3")).toMatchObject([{ text: "TEXT" }]);
  expect(cuesOf(inField(captions, 2), "cc1")).toEqual([]);
});

it("keeps channels of a field apart", () => {
  const second = [...twice(0x1c20), ...twice(0x1c70), ...lettersOf("DOS"), ...twice(0x1c2f), ...twice(0x1c2c)];
  const pairs = inField([...LOAD, ...LAST_ROW, ...lettersOf("ONE"), ...second, ...SHOW, ...ERASE]);
  expect(cuesOf(pairs, "cc1")).toMatchObject([{ text: "ONE" }]);
  expect(cuesOf(pairs, "cc2")).toMatchObject([{ text: "DOS" }]);
});

it("keeps the text of rows that are longer than the screen, and styles after them", () => {
  const long = lettersOf("A".repeat(40));
  const cues = cuesOf(popOn([...LAST_ROW, ...long, special(0x112e), special(0x1723), ...lettersOf("!!")]));
  expect(cues[0]?.text).toMatch(/^A{31}/);
});

it("survives any bytes", () => {
  let state = 1;
  const next = (): number => {
    state = (state * 48_271) % 2_147_483_647;
    return state & 0xff;
  };
  const pairs = Array.from(
    { length: 5_000 },
    (_, at): CaptionPair => ({ ms: at * 33, field: at % 2 === 0 ? 1 : 2, first: next(), second: next() }),
  );
  const codes = pairs.map((pair) => ({ ...pair, first: 0x10 + (pair.first & 0x0f) }));
  for (const bytes of [pairs, codes]) {
    for (const channel of ["cc1", "cc2", "cc3", "cc4"] as const) {
      for (const { startMs, endMs, text } of cuesOf(bytes, channel)) {
        expect(startMs).toBeLessThan(endMs);
        expect(text.length).toBeGreaterThan(0);
      }
    }
  }
});
