import { expect, test } from "vitest";
import { parseWebVtt } from "./subtitle-cues.ts";
import { segmentCharacters, subtitleSegments, textSpans } from "./subtitle-segments.ts";

const read = (text: string) => {
  const track = parseWebVtt(text);
  if (!track) throw new Error("no WebVTT");
  return track;
};

test.each([
  [120_000, [60_000, 120_000]],
  [120_400, [60_000, 120_400]],
  [120_600, [60_000, 120_000, 120_600]],
  [300, [300]],
  [0, [1]],
])("a stream of %d ms has a segment per minute, without a tiny remainder", (endMs, ends) => {
  expect(textSpans(endMs)).toEqual(ends.map((end, at) => ({ startMs: at === 0 ? 0 : ends[at - 1], endMs: end })));
});

const MAP = "WEBVTT\nX-TIMESTAMP-MAP=MPEGTS:900000,LOCAL:00:00:00.000\n";
const HEADER = `${MAP}\nSTYLE\n::cue {}\n`;
const TRACK = read(`WEBVTT

STYLE
::cue {}

00:20.000 --> 01:00.000
up to the line

00:50.000 --> 02:10.000
over two lines

02:00.000 --> 02:05.000
from the line

06:40.000 --> 06:50.000
after the end
`);

test("a cue is in every segment during which it is displayed, with its full times; segments may be empty", () => {
  const long = "00:00:50.000 --> 00:02:10.000\nover two lines\n";
  expect(subtitleSegments(TRACK, textSpans(240_000))).toEqual([
    `${HEADER}\n00:00:20.000 --> 00:01:00.000\nup to the line\n\n${long}`,
    `${HEADER}\n${long}`,
    `${HEADER}\n${long}\n00:02:00.000 --> 00:02:05.000\nfrom the line\n`,
    MAP,
  ]);
});

test("the number of characters is known before the segments are created", () => {
  const sizeOf = (segments: readonly string[]): number =>
    segments
      .filter((segment) => segment !== MAP)
      .reduce((sum, segment) => sum + segment.trimEnd().slice(MAP.length).replaceAll("\n\n", "").trimStart().length, 0);
  expect(segmentCharacters(TRACK)).toBe(sizeOf(subtitleSegments(TRACK, textSpans(600_000))));
  const cue = "10:00:00.000 --> 1000000000000000:00:00.000\nalways here";
  const ever = (styles: string) =>
    read(`WEBVTT\n\n${styles}${cue}\n\n${cue.replaceAll("0:00:00.", `${"9".repeat(400)}:00:00.`)}`);
  for (const styles of ["", "STYLE\n::cue {}\n\n"]) expect(segmentCharacters(ever(styles))).toBeGreaterThan(1e9);
});
