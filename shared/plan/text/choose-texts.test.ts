import { describe, expect, it, test } from "vitest";
import type { Subtitles } from "../../job/subtitles.ts";
import type { ProbedStream } from "../../media/media-probe.ts";
import { chooseTexts } from "./choose-texts.ts";
import { textTracks } from "./text-tracks.ts";

const track = (codec: string | undefined, language?: string, title?: string, ...dispositions: string[]) =>
  ({
    codec_type: "subtitle",
    ...(codec === undefined ? {} : { codec_name: codec }),
    tags: { ...(language ? { language } : {}), ...(title ? { title } : {}) },
    disposition: Object.fromEntries(dispositions.map((name) => [name, 1])),
  }) satisfies Partial<ProbedStream>;

const probeOf = (...tracks: Partial<ProbedStream>[]) => ({
  streams: [{ codec_type: "video" }, ...tracks].map((stream, index) => ({ index, ...stream })),
});

const TRACKS = textTracks(
  probeOf(
    track("hdmv_pgs_subtitle", "eng", "Blu-ray", "default"),
    track("subrip", "eng", undefined, "forced"),
    track("subrip", "eng"),
    track("ass", "en-GB", 'The "British"\none', "default"),
    track("mov_text", "por"),
    track("dvb_teletext", "ger"),
    track(undefined, "x y"),
  ),
);

const chosen = (requested: Subtitles, tracks = TRACKS) => {
  const result = chooseTexts(requested, tracks);
  if (!result.ok) return `${result.error.code}: ${result.error.message}`;
  const texts = result.value.texts.map(({ source, shiftMs: _, ...traits }) => ({
    from: "track" in source ? source.track.streamIndex : source.url,
    ...traits,
  }));
  return { texts, notes: result.value.notes };
};
const from = (from: string | number) => ({ from });

describe("chooseTexts", () => {
  test.each([
    ["en", 4],
    ["eng", 4],
    ["en-GB", 4],
    ["pt", 5],
    [2, 2],
    [5, 5],
  ])("finds the track for %j", (wanted, index) => {
    expect(chosen([from(wanted)])).toMatchObject({ texts: [{ from: index }], notes: [] });
  });

  test.each([
    ["sv", "input_track_not_found: The input has no subtitle track in the language sv; the languages of its"],
    ["pt-BR", "input_track_not_found: The input has no subtitle track in the language pt-BR"],
    [8, "input_track_not_found: The input has no subtitle track 8"],
    [1, "subtitle_failed: Subtitle track 1 of the input is made of images; burn it in."],
    ["de", "subtitle_failed: Subtitle track 6 of the input has the codec dvb_teletext, which cannot be read as text."],
    [7, "subtitle_failed: Subtitle track 7 of the input has an unknown codec."],
  ])("fails for %j with the reason", (wanted, message) => {
    expect(chosen([from(wanted)])).toContain(message);
  });

  it("names the tracks that an input without subtitles lacks", () => {
    expect(chosen([from(1)], [])).toBe(
      "input_track_not_found: The input has no subtitle track 1; it has no subtitle tracks.",
    );
  });

  it("leaves out optional tracks that are missing, but no track of images", () => {
    const note = "The input has no subtitle track in the language sv; the languages of its subtitle tracks are";
    expect(chosen([{ from: "sv", optional: true }])).toMatchObject({
      texts: [],
      notes: [expect.stringMatching(`^${note}.*, so this output lacks it\\.$`)],
    });
    expect(chosen([{ from: 1, optional: true }])).toMatch(/made of images/);
  });

  it("takes all text tracks with traits of the input, unique names and one default", () => {
    expect(chosen("all")).toEqual({
      texts: [
        { from: 2, language: "en", name: "English", default: false, isForced: true },
        { from: 3, language: "en", name: "English 2", default: false },
        { from: 4, language: "en-GB", name: "The 'British' one", default: true },
        { from: 5, language: "pt", name: "português", default: false },
      ],
      notes: [
        "This output lacks subtitle track 1 of the input, because it is made of images; burn it in.",
        "This output lacks subtitle track 6 of the input, because it has the codec dvb_teletext, which cannot be read as text.",
        "This output lacks subtitle track 7 of the input, because it has an unknown codec.",
      ],
    });
  });

  it("prefers requested traits to those of the track", () => {
    const requested: Subtitles = [
      { url: "https://a.example/1", language: "sv", name: "English", default: true },
      { from: 2, forced: false, kind: "captions", language: "en-US" },
      { from: 4, name: "Best", default: false, kind: "subtitles" },
    ];
    expect(chosen(requested)).toMatchObject({
      texts: [
        { from: "https://a.example/1", language: "sv", name: "English", default: true },
        { from: 2, language: "en-US", name: "American English", default: false, isCaptions: true },
        { from: 4, language: "en-GB", name: "Best", default: false },
      ],
    });
  });

  it("ignores names that muxers generate", () => {
    const tracks = textTracks(
      probeOf({ ...track("mov_text", "ger"), tags: { language: "ger", handler_name: "SubtitleHandler" } }),
    );
    expect(chosen([from(1)], tracks)).toMatchObject({ texts: [{ name: "Deutsch" }] });
  });
});
