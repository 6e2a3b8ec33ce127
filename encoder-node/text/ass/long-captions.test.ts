// Five hours of captions: times above an hour in each format, shifts, and segments.
import { describe, expect, it } from "vitest";
import { DEFAULT_STYLE } from "#shared/job/burn.ts";
import { captionScript } from "../burn-in/caption-script.ts";
import { parseSubRip, subRipText } from "../subrip.ts";
import { type Cue, movedCues, parseWebVtt, type WebVtt, webVttText } from "../subtitle-cues.ts";
import { subtitleSegments, textSpans } from "../subtitle-segments.ts";
import { parseTtml } from "../ttml.ts";
import { assCues } from "./ass-cues.ts";
import { assText } from "./ass-script.ts";
import { parseAss } from "./parse-ass.ts";
import { shiftEvents } from "./separate-events.ts";

const HOURS_MS = 5 * 3_600_000;
const STEP_MS = 5000;
const CUES: readonly Cue[] = Array.from({ length: HOURS_MS / STEP_MS }, (_, at) => ({
  startMs: at * STEP_MS + 120,
  endMs: (at + 1) * STEP_MS + 120,
  settings: "",
  text: `Line ${at}`,
}));
const TEXT: WebVtt = { definitions: [], cues: CUES };
const SCRIPT = captionScript(CUES, DEFAULT_STYLE, { family: "Noto Sans", lineHeight: 1.36 }, true);
const ttml = (time: (ms: number) => string): string =>
  `<tt><body><div>${CUES.map(({ startMs, endMs, text }) => `<p begin="${time(startMs)}" end="${time(endMs)}">${text}</p>`).join("")}</div></body></tt>`;
const clock = (ms: number): string =>
  `${String(Math.floor(ms / 3_600_000)).padStart(2, "0")}${new Date(ms).toISOString().slice(13, 23)}`;

const FORMATS: readonly (readonly [
  format: string,
  text: string,
  parse: (text: string) => readonly Cue[] | undefined,
])[] = [
  ["WebVTT", webVttText(TEXT), (text) => parseWebVtt(text)?.cues],
  ["SubRip", subRipText(TEXT), (text) => parseSubRip(text).cues],
  ["TTML with clock times", ttml(clock), (text) => parseTtml(text)?.cues],
  ["TTML with offsets", ttml((ms) => `${ms / 1000}s`), (text) => parseTtml(text)?.cues],
  ["ASS", assText(SCRIPT, "sdr"), (text) => assCues(text).cues],
];

describe.each(FORMATS)("five hours of %s", (_, text, parse) => {
  it("keep the time of each cue", () => expect(parse(text)).toEqual(CUES));
});

it("shifts five hours by an hour, in both directions", () => {
  const earlier = movedCues(TEXT, -3_600_000).cues;
  expect(earlier).toHaveLength(CUES.length - 720 + 1);
  expect([earlier[0], earlier.at(-1)]).toMatchObject([
    { startMs: 0, endMs: 120 },
    { startMs: HOURS_MS - 3_600_000 - STEP_MS + 120, text: "Line 3599" },
  ]);
  expect(movedCues(TEXT, 3_600_000).cues.at(-1)).toMatchObject({ startMs: HOURS_MS + 3_600_000 - STEP_MS + 120 });
  expect(shiftEvents(SCRIPT.events, -3_600_000)).toHaveLength(earlier.length);
});

it("has each cue in the segments of its minutes", () => {
  const spans = textSpans(HOURS_MS);
  const segments = subtitleSegments(TEXT, spans).map((segment) => parseWebVtt(segment)?.cues ?? []);
  expect(segments).toHaveLength(300);
  for (const [at, { startMs, endMs }] of spans.entries()) {
    expect(segments[at]).toEqual(CUES.filter((cue) => cue.startMs < endMs && cue.endMs > startMs));
  }
});

it("separates no events that do not overlap", () => {
  const parsed = parseAss(assText(SCRIPT, "sdr"), { fontOf: (name) => name, fallback: "Noto Sans" });
  expect(typeof parsed === "string" ? parsed : parsed.events.length).toBe(CUES.length);
});
