import { expect, test } from "vitest";
import { parseWebVtt } from "./subtitle-cues.ts";
import { subtitleSegments, textSpans } from "./subtitle-segments.ts";

const read = (text: string) => {
  const track = parseWebVtt(text);
  if (!track) throw new Error("no WebVTT");
  return track;
};

test.each([
  [12_000, [6000, 12_000]],
  [12_400, [6000, 12_400]],
  [12_600, [6000, 12_000, 12_600]],
  [300, [300]],
  [0, [1]],
])("a film of %d ms is cut on the grid, without a tiny rest", (endMs, ends) => {
  expect(textSpans(endMs, 6000)).toEqual(ends.map((end, at) => ({ startMs: at === 0 ? 0 : ends[at - 1], endMs: end })));
});

const HEADER = "WEBVTT\nX-TIMESTAMP-MAP=MPEGTS:900000,LOCAL:00:00:00.000\n\nSTYLE\n::cue {}\n";

test("a cue is in every segment during which it is shown, with its whole time; segments may be empty", () => {
  const track = read(`WEBVTT

STYLE
::cue {}

00:02.000 --> 00:06.000
up to the line

00:05.000 --> 00:13.000
over two lines

00:40.000 --> 00:41.000
after the end
`);
  const long = "00:00:05.000 --> 00:00:13.000\nover two lines\n";
  expect(subtitleSegments(track, textSpans(24_000, 6000))).toEqual([
    `${HEADER}\n00:00:02.000 --> 00:00:06.000\nup to the line\n\n${long}`,
    `${HEADER}\n${long}`,
    `${HEADER}\n${long}`,
    HEADER,
  ]);
});

test("cues that would fill a storage are refused", () => {
  const cues = Array.from({ length: 5000 }, () => "00:00.000 --> 10:00:00.000\nalways here");
  const track = read(["WEBVTT", ...cues].join("\n\n"));
  expect(() => subtitleSegments(track, textSpans(36_000_000, 2000))).toThrow("last too long");
});
