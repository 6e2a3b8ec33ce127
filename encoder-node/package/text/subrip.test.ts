import { expect, test } from "vitest";
import { subRipText } from "./subrip.ts";
import { parseWebVtt } from "./subtitle-cues.ts";

test.each([
  ["<b.loud>A</b> <i>B</i> <u>C</u>", "<b>A</b> <i>B</i> <u>C</u>"],
  ["<v Ann>Hello</v> <c.red>red</c> <00:00:01.500>later", "Hello red later"],
  ["<ruby>空港<rt>くうこう</rt></ruby>", "空港くうこう"],
  ["a &lt;b&gt; &amp;amp; c&nbsp;d &copy; &#233;&#x20AC;&#xd800;", "a <\u2060b> &amp; c\u00A0d &copy; é€&#xd800;"],
  ["&lt;you there&gt; &lt;3 &lt;Maß&gt; 1 &lt; 2", "<\u2060you there> <3 <Maß> 1 < 2"],
  ["a --&gt; b\n<c></c>\nc", "a --\u2060> b\nc"],
  ["two\nlines", "two\nlines"],
])("SubRip keeps bold, italics, underlining and text: %s", (text, expected) => {
  const read = parseWebVtt(`WEBVTT\n\n00:01.000 --> 100:00:02.003 line:0\n${text}\n`);
  expect(read && subRipText(read)).toBe(`1\n00:00:01,000 --> 100:00:02,003\n${expected}\n`);
});
