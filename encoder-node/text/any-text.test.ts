// Text of any content: no parser fails, and written text is read again as it was.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { separateCues } from "./separate-cues.ts";
import { parseSubRip, subRipText } from "./subrip.ts";
import { parseWebVtt, type WebVtt, webVttText } from "./subtitle-cues.ts";
import { parseTtml, type Ttml } from "./ttml.ts";

const TIMES = ["00:01.000 --> 00:02.000", "00:00:01,500 --> 00:00:03,000 line:0", "100:00:00.000 --> 100:00:00.001"];
const PIECES = [
  ...TIMES,
  ...["WEBVTT", "NOTE", "STYLE", "REGION", "\n", "\n\n", " ", "-->", "<b>", "</b>", "<c.red>", "</c>", "<v Ann>", "<"],
  ...["&amp;", "&lt;", "&gt;", "&#10;", "&nbsp;", "&#x200e;", "&", ">", "<00:00:01.500>", "a", "\u2028", "漢", "1"],
];
const text = fc
  .array(fc.oneof({ weight: 9, arbitrary: fc.constantFrom(...PIECES) }, fc.string()), { maxLength: 40 })
  .map((parts) => parts.join(""));
const XML = [
  ...[
    "<p ",
    'begin="1s" ',
    'end="2s" ',
    'dur="00:00:01.5" ',
    ">",
    "</p>",
    "<span>",
    "</span>",
    "<br/>",
    "<![CDATA[x --> y]]>",
  ],
  ...[
    "<div>",
    "</div>",
    "text",
    "&amp;",
    "&lt;b&gt;",
    "&#10;&#10;",
    "\n\n",
    "-->",
    '<p begin="1s" end="2s">',
    'begin="2f"',
  ],
];
const ttml = fc
  .array(fc.constantFrom(...XML), { maxLength: 30 })
  .map((parts) => `<tt><body><div>${parts.join("")}</div></body></tt>`);
const withoutBadTimes = (read: Ttml | null): WebVtt | null => read && { definitions: [], cues: read.cues };

const cues: fc.Arbitrary<WebVtt> = fc
  .oneof(
    text.map((body) => parseWebVtt(`WEBVTT\n\n${body}`)),
    ttml.map((document) => withoutBadTimes(parseTtml(document))),
  )
  .filter((read) => read !== null);

const timesOf = ({ cues }: WebVtt) => cues.map(({ startMs, endMs }) => [startMs, endMs]);

describe("text of any content", () => {
  it("is read again from WebVTT as it was", () => {
    fc.assert(
      fc.property(cues, (read) => {
        expect(parseWebVtt(webVttText(read))).toEqual(read);
      }),
    );
  });

  it("keeps its times and lines in SubRip, except for cues without characters", () => {
    fc.assert(
      fc.property(cues, (read) => {
        const again = parseSubRip(subRipText(read));
        const times = timesOf(read).map(String);
        for (const { startMs, endMs, text } of again.cues) {
          expect(times).toContain(String([startMs, endMs]));
          expect(text.split("\n")).not.toContain("");
        }
        const visible = read.cues.filter(({ text }) => text.replaceAll(/<[^<>]*>|&(?:nbsp|#10);/g, "").trim() !== "");
        expect(again.cues.length).toBeGreaterThanOrEqual(visible.length);
      }),
    );
  });

  it("is never shown twice at a time after cues were separated", () => {
    fc.assert(
      fc.property(cues, (read) => {
        const times = timesOf(separateCues(read));
        for (const [at, [start = 0, end = 0]] of times.entries()) {
          expect(end).toBeGreaterThan(start);
          expect(start).toBeGreaterThanOrEqual(times[at - 1]?.[1] ?? 0);
        }
      }),
    );
  });
});
