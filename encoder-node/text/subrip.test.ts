import { expect, test } from "vitest";
import { parseSubRip, subRipText } from "./subrip.ts";
import { parseWebVtt } from "./subtitle-cues.ts";

test.each([
  ["<b.loud>A</b> <i>B</i> <u>C</u>", "<b>A</b> <i>B</i> <u>C</u>"],
  ["<v Ann>Hello</v> <c.red>red</c> <00:00:01.500>later", "Hello red later"],
  ["<ruby>空港<rt>くうこう</rt></ruby>", "空港(くうこう)"],
  ["<ruby.a>漢<rt>かん</rt>字<rt>じ</ruby>です <ruby>A</ruby>", "漢(かん)字(じ)です A"],
  ["a &lt;b&gt; &amp;amp; c&nbsp;d &copy; &#233;&#x20AC;&#xd800;", "a <\u2060b> &amp; c\u00A0d &copy; é€&#xd800;"],
  ["&lt;you there&gt; &lt;3 &lt;Maß&gt; 1 &lt; 2", "<\u2060you there> <3 <Maß> 1 < 2"],
  ["a --&gt; b\n<c></c>\nc", "a --\u2060> b\nc"],
  ["two\nlines", "two\nlines"],
])("SubRip keeps bold, italics, underlining and text: %s", (text, expected) => {
  const read = parseWebVtt(`WEBVTT\n\n00:01.000 --> 100:00:02.003 line:0\n${text}\n`);
  expect(read && subRipText(read)).toBe(`1\n00:00:01,000 --> 100:00:02,003\n${expected}\n`);
});

const cues = (text: string, keepsStyle = false) =>
  parseSubRip(text, keepsStyle).cues.map(({ startMs, endMs, settings, text }) =>
    settings === "" ? [startMs, endMs, text] : [startMs, endMs, text, settings],
  );
const TIMES = "00:00:01,000 --> 00:00:02,000";

test.each<[string, string, unknown[]]>([
  [
    "an arrow in the text",
    `1\n${TIMES}\nMeet at 10:00:00,000 --> 11:00:00,000\n`,
    ["Meet at 10:00:00,000 --&gt; 11:00:00,000"],
  ],
  ["a blank line between times and text", `1\n${TIMES}\n\nA\n`, ["A"]],
  ["blank lines in a cue", `1\n${TIMES}\nA\n\n \nB\n\n2\n${TIMES}\nC`, ["A\nB", "C"]],
  ["no blank lines between cues", `1\n${TIMES}\nA\n2\n${TIMES}\nB`, ["A", "B"]],
  ["a blank line after the number", `1\n\n${TIMES}\nA\n\n2\n\n${TIMES}\nB`, ["A", "B"]],
  ["text that is a number", `${TIMES}\n42\n\n${TIMES}\nB`, ["42", "B"]],
  ["the author before the first cue", `by Ann\n\n1\n${TIMES}\nA`, ["A"]],
  ["coordinates", `1\n${TIMES} X1:0 X2:9 Y1:0 Y2:9\nA`, ["A"]],
  [
    "tags in capitals and unknown tags",
    `${TIMES}\n<I>A</I> <you> <3 & &lt; <br/>B`,
    ["<i>A</i> &lt;you&gt; &lt;3 &amp; &lt; \nB"],
  ],
  ["blocks of other formats", `${TIMES}\n{\\an8}{\\i1}{y:i}A {b}`, ["A {b}"]],
  ["readings", `${TIMES}\n<ruby>漢字<rt>かんじ</rt></ruby>`, ["漢字(かんじ)"]],
  ["a font", `${TIMES}\n<font color="#ff0000">red</font>`, ["red"]],
  ["no text", `1\n${TIMES}\n{\\an8}<i> </i>\n`, []],
  ["an end before the start", "1\n00:00:02,000 --> 00:00:01,000\nA", []],
])("reads SubRip with %s", (_, text, texts) => {
  expect(cues(text)).toEqual(texts.map((text) => [1000, 2000, text]));
});

test.each([
  ["00:00:0,500 --> 0:0:1,000", [500, 1000]],
  ["00:01.5 --> 1:00:01", [1005, 3_601_000]],
  ["  00:00:01:250-->00:00:01.2500000", [250 + 1000, 0]],
  ["100:00:00,000 --> 100:00:00,001", [360_000_000, 360_000_001]],
])("reads the times %s of SubRip", (times, [startMs, endMs]) => {
  expect(cues(`${times}\nA`)).toEqual(endMs === 0 ? [] : [[startMs, endMs, "A"]]);
});

test("keeps alignments and colors of SubRip for captions that are drawn", () => {
  const text = [1, 2, 3, 5, 8, 9].map((at) => `${TIMES}\n{\\an${at}}<font color="red">A</font>\n`).join("\n");
  expect(cues(text, true).map((cue) => cue.slice(2))).toEqual(
    ["align:left", null, "align:right", "line:50%", "line:0", "line:0 align:right"].map((settings) => [
      '<font color="red">A</font>',
      ...(settings === null ? [] : [settings]),
    ]),
  );
});

test.each([
  ["blank lines", "\n"],
  ["numbers", "1\n"],
  ["times", `${TIMES}\n`],
  ["digits", "1"],
  ["blanks", " "],
  ["open tags", "<"],
  ["open blocks", "{\\"],
  ["arrows", "-->"],
])("2 MB of %s in SubRip are parsed in linear time", (_, part) => {
  expect(cues(`${TIMES}\nA\n${part.repeat(2e6 / part.length)}`)).toHaveLength(1);
});
