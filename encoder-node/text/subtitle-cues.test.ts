import { expect, test } from "vitest";
import { parseWebVtt, webVttText } from "./subtitle-cues.ts";

const reformat = (text: string): string | null => {
  const read = parseWebVtt(text);
  return read && webVttText(read);
};

test.each([
  [
    "byte order mark, carriage returns, no hours",
    "\uFEFFWEBVTT\r\n\r\n00:01.000 --> 01:02.500\r\nA\r\nB\r\n",
    "00:00:01.000 --> 00:01:02.500\nA\nB",
  ],
  ["old line ends", "WEBVTT\r\r00:01.000 --> 00:02.000\rA", "00:00:01.000 --> 00:00:02.000\nA"],
  ["many hours", "WEBVTT\n\n1:00:00.000 --> 100:00:00.000\nA\n", "01:00:00.000 --> 100:00:00.000\nA"],
  ["commas", "WEBVTT\n\n00:00:01,000 --> 00:00:02,000\nA\n", "00:00:01.000 --> 00:00:02.000\nA"],
  [
    "identifier and settings",
    "WEBVTT\n\nintro\n00:01.000 --> 00:02.000  line:0 position:20%\n<i>A</i>\n",
    "intro\n00:00:01.000 --> 00:00:02.000 line:0 position:20%\n<i>A</i>",
  ],
  [
    "header and comments",
    "WEBVTT - a video\nX-TIMESTAMP-MAP=LOCAL:00:00:00.000,MPEGTS:0\n\nNOTE\nno --! cue\n\n00:01.000 --> 00:02.000\nA\n\nNOTE end",
    "00:00:01.000 --> 00:00:02.000\nA",
  ],
  [
    "missing blank lines",
    "WEBVTT\n00:01.000 --> 00:02.000\nA\n00:03.000 --> 00:04.000\nB\n",
    "00:00:01.000 --> 00:00:02.000\nA\n\n00:00:03.000 --> 00:00:04.000\nB",
  ],
  [
    "wrong order",
    "WEBVTT\n\n00:03.000 --> 00:04.000\nB\n\n00:01.000 --> 00:02.000\nA\n",
    "00:00:01.000 --> 00:00:02.000\nA\n\n00:00:03.000 --> 00:00:04.000\nB",
  ],
  [
    "invalid cues",
    "WEBVTT\n\n00:02.000 --> 00:02.000\nA\n\n00:61.000 --> 01:02.000\nB\n\nx --> y\nC\n\n00:01.000 --> 00:02.000\n",
    null,
  ],
  [
    "styles and regions, those after a cue left out",
    "WEBVTT\n\nSTYLE\n::cue(b) {\n  color: red;\n}\n\nREGION\nid:r\n\n00:01.000 --> 00:02.000 region:r\nA\n\nSTYLE\nlate",
    "STYLE\n::cue(b) {\n  color: red;\n}\n\nREGION\nid:r\n\n00:00:01.000 --> 00:00:02.000 region:r\nA",
  ],
  ["no cues", "WEBVTT", null],
  [
    "settings with line ends of other scripts",
    "WEBVTT\n\n00:01.000 --> 00:02.000 a\u2028b\nA",
    "00:00:01.000 --> 00:00:02.000 a\u2028b\nA",
  ],
  ["a name with such a line end", "WEBVTT \u2028x\n\n00:01.000 --> 00:02.000\nA", "00:00:01.000 --> 00:00:02.000\nA"],
])("WebVTT is parsed and formatted again: %s", (_, text, blocks) => {
  expect(reformat(text)).toBe(blocks === null ? "WEBVTT\n" : `WEBVTT\n\n${blocks}\n`);
});

test.each(["", "WEBVTTX\n", "1\n00:00:01,000 --> 00:00:02,000\nA\n", " WEBVTT"])(
  "a text that is not WebVTT is rejected: %j",
  (text) => {
    expect(parseWebVtt(text)).toBeNull();
  },
);

const TIMES = "00:01.000 --> 00:02.000";
const many = (part: string): string => part.repeat(2e6 / part.length);

test.each([
  ["blanks in a line of times", `WEBVTT\n\n${TIMES}${many(" ")}\u2028\nA`, 1],
  ["blanks before the arrow", `WEBVTT\n\n00:01.000${many(" ")}x --> 00:02.000\nA`, 0],
  ["digits", `WEBVTT\n\n${many("1")} --> 00:02.000\nA`, 0],
  ["blank lines", `WEBVTT${many("\n")}${TIMES}\nA`, 1],
  ["blocks without cues", `WEBVTT\n\n${many("a\n\n")}${TIMES}\nA`, 1],
  ["arrows in one block", `WEBVTT\n\n${many("-->\n")}`, 0],
  ["carriage returns", `WEBVTT${many("\r")}${TIMES}\nA`, 1],
])("2 MB of %s are parsed in linear time", (_, text, cues) => {
  expect(parseWebVtt(text)?.cues).toHaveLength(cues);
});
