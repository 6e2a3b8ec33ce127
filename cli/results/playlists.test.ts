import { expect, it } from "vitest";
import { referencesOf } from "./playlists.ts";

const MPD = "https://example.com/v/manifest.mpd";

it("finds the segments of a manifest by shared and own templates, and files by their base URLs", () => {
  const text = `<MPD><Period><AdaptationSet id="1">
    <SegmentTemplate media="$RepresentationID$/$Number%03d$.m4s" initialization="$RepresentationID$/init.mp4">
      <SegmentTimeline><S d="10" r="1"/></SegmentTimeline></SegmentTemplate>
    <Representation id="a"/><Representation id="b"><SegmentTemplate media="own.m4s" endNumber="1"/></Representation>
  </AdaptationSet><AdaptationSet><Representation id="c"><BaseURL>t.vtt</BaseURL></Representation></AdaptationSet></Period></MPD>`;
  const names = ["a/init.mp4", "a/001.m4s", "a/002.m4s", "own.m4s", "t.vtt"];
  expect(referencesOf(MPD, text)).toEqual(names.map((name) => `https://example.com/v/${name}`));
});

it("pads a segment's number to 20 digits at most", () => {
  const template = `<SegmentTemplate endNumber="1" media="$Number%099d$"/>`;
  const set = `<AdaptationSet ><Representation id="a">${template}</Representation></AdaptationSet>`;
  const text = `<MPD><Period>${set}</Period></MPD>`;
  expect(referencesOf(MPD, text)).toEqual([`https://example.com/v/${"1".padStart(20, "0")}`]);
  expect(referencesOf(MPD, text.replace("%099d", "%0999999999d"))).toEqual([
    "https://example.com/v/$Number%0999999999d$",
  ]);
});

it.each(["<AdaptationSet ", "<AdaptationSet>", "<AdaptationSetX", "<AdaptationSet><Representation "])(
  "reads 1 MiB of %s in linear time",
  (piece) => {
    expect(referencesOf(MPD, piece.repeat(2 ** 20 / piece.length))).toEqual([]);
  },
);
