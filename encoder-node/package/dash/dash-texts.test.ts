import { XMLParser } from "fast-xml-parser";
import { parse } from "mpd-parser";
import { expect, test } from "vitest";
import { pictureTrack, soundTrack } from "../../testing/sample-tracks.ts";
import { type DashPackage, dashTexts } from "./dash-texts.ts";

const film = { timescale: 30_000, seconds: [6.006, 6.006, 3] };

const everything: DashPackage = {
  ...{ folder: "F", playlistName: "master", segmentDurationMs: 6000 },
  tracks: [
    { ...pictureTrack("720p", film), codec: "avc1.64001f", picture: { width: 1280, height: 720, fps: 29.9701 } },
    pictureTrack("360p", film),
    pictureTrack("360p-hevc", { timescale: 12_800, seconds: [6, 6, 3] }, "hvc1.1.6.L93.90"),
    soundTrack("audio-64k", [6, 6, 3]),
    soundTrack("audio-128k", [6.5, 5.5, 3]),
    soundTrack("audio-384k", [6, 6, 3], 6),
    soundTrack("audio-512k", [6, 6, 3], 8),
  ],
  subtitles: [{ language: "de-AT", name: "Tom & Jerry <3", default: true, sizeBytes: 45 }],
  thumbnails: {
    sheet: { columns: 5, rows: 4, cell: { width: 160, height: 90 } },
    ...{ everyMs: 500, sizesBytes: [10_000, 5_000] },
  },
};

const manifestOf = (dash: DashPackage): string => dashTexts(dash).at(-1)?.text ?? "";

test("the manifest of a package with everything", () => {
  expect(dashTexts(everything)).toEqual([
    {
      file: "master.mpd",
      text: `<?xml version="1.0" encoding="UTF-8"?>
<MPD xmlns="urn:mpeg:dash:schema:mpd:2011" profiles="urn:mpeg:dash:profile:isoff-live:2011" type="static" mediaPresentationDuration="PT15.012S" minBufferTime="PT6S">
  <Period id="1" start="PT0S">
    <AdaptationSet id="1" contentType="video" mimeType="video/mp4" par="16:9" maxWidth="1280" maxHeight="720" maxFrameRate="30000/1001" segmentAlignment="true" startWithSAP="1">
      <SegmentTemplate timescale="30000" presentationTimeOffset="300000" startNumber="1" initialization="F/$RepresentationID$/init.mp4" media="F/$RepresentationID$/$Number%05d$.m4s">
        <SegmentTimeline>
          <S t="300000" d="180180" r="1"/>
          <S d="90000"/>
        </SegmentTimeline>
      </SegmentTemplate>
      <Representation id="720p" codecs="avc1.64001f" bandwidth="8000" width="1280" height="720" sar="1:1" frameRate="30000/1001"/>
      <Representation id="360p" codecs="avc1.64001e" bandwidth="8000" width="640" height="360" sar="1:1" frameRate="30000/1001"/>
    </AdaptationSet>
    <AdaptationSet id="2" contentType="video" mimeType="video/mp4" par="16:9" maxWidth="640" maxHeight="360" maxFrameRate="30000/1001" segmentAlignment="true" startWithSAP="1">
      <SegmentTemplate timescale="12800" presentationTimeOffset="128000" startNumber="1" initialization="F/$RepresentationID$/init.mp4" media="F/$RepresentationID$/$Number%05d$.m4s">
        <SegmentTimeline>
          <S t="128000" d="76800" r="1"/>
          <S d="38400"/>
        </SegmentTimeline>
      </SegmentTemplate>
      <Representation id="360p-hevc" codecs="hvc1.1.6.L93.90" bandwidth="8000" width="640" height="360" sar="1:1" frameRate="30000/1001"/>
    </AdaptationSet>
    <AdaptationSet id="3" contentType="audio" mimeType="audio/mp4" startWithSAP="1">
      <Representation id="audio-64k" codecs="mp4a.40.2" bandwidth="8000" audioSamplingRate="48000">
        <AudioChannelConfiguration schemeIdUri="urn:mpeg:dash:23003:3:audio_channel_configuration:2011" value="2"/>
        <SegmentTemplate timescale="48000" presentationTimeOffset="480000" startNumber="1" initialization="F/$RepresentationID$/init.mp4" media="F/$RepresentationID$/$Number%05d$.m4s">
          <SegmentTimeline>
            <S t="478976" d="288000" r="1"/>
            <S d="144000"/>
          </SegmentTimeline>
        </SegmentTemplate>
      </Representation>
      <Representation id="audio-128k" codecs="mp4a.40.2" bandwidth="8000" audioSamplingRate="48000">
        <AudioChannelConfiguration schemeIdUri="urn:mpeg:dash:23003:3:audio_channel_configuration:2011" value="2"/>
        <SegmentTemplate timescale="48000" presentationTimeOffset="480000" startNumber="1" initialization="F/$RepresentationID$/init.mp4" media="F/$RepresentationID$/$Number%05d$.m4s">
          <SegmentTimeline>
            <S t="478976" d="312000"/>
            <S d="264000"/>
            <S d="144000"/>
          </SegmentTimeline>
        </SegmentTemplate>
      </Representation>
    </AdaptationSet>
    <AdaptationSet id="4" contentType="audio" mimeType="audio/mp4" segmentAlignment="true" startWithSAP="1">
      <SegmentTemplate timescale="48000" presentationTimeOffset="480000" startNumber="1" initialization="F/$RepresentationID$/init.mp4" media="F/$RepresentationID$/$Number%05d$.m4s">
        <SegmentTimeline>
          <S t="478976" d="288000" r="1"/>
          <S d="144000"/>
        </SegmentTimeline>
      </SegmentTemplate>
      <Representation id="audio-384k" codecs="mp4a.40.2" bandwidth="8000" audioSamplingRate="48000">
        <AudioChannelConfiguration schemeIdUri="urn:mpeg:dash:23003:3:audio_channel_configuration:2011" value="6"/>
      </Representation>
    </AdaptationSet>
    <AdaptationSet id="5" contentType="audio" mimeType="audio/mp4" segmentAlignment="true" startWithSAP="1">
      <SegmentTemplate timescale="48000" presentationTimeOffset="480000" startNumber="1" initialization="F/$RepresentationID$/init.mp4" media="F/$RepresentationID$/$Number%05d$.m4s">
        <SegmentTimeline>
          <S t="478976" d="288000" r="1"/>
          <S d="144000"/>
        </SegmentTimeline>
      </SegmentTemplate>
      <Representation id="audio-512k" codecs="mp4a.40.2" bandwidth="8000" audioSamplingRate="48000">
        <AudioChannelConfiguration schemeIdUri="urn:mpeg:dash:23003:3:audio_channel_configuration:2011" value="12"/>
      </Representation>
    </AdaptationSet>
    <AdaptationSet id="6" lang="de-AT" contentType="text" mimeType="text/vtt">
      <Label>Tom &amp; Jerry &lt;3</Label>
      <Role schemeIdUri="urn:mpeg:dash:role:2011" value="subtitle"/>
      <Role schemeIdUri="urn:mpeg:dash:role:2011" value="main"/>
      <Representation id="subtitles-1" bandwidth="24">
        <BaseURL>F/subtitles-1.vtt</BaseURL>
      </Representation>
    </AdaptationSet>
    <AdaptationSet id="7" contentType="image" mimeType="image/jpeg">
      <SegmentTemplate timescale="1000" duration="10000" startNumber="1" endNumber="2" media="F/thumbnails/$Number%05d$.jpg"/>
      <Representation id="thumbnails" bandwidth="8000" width="800" height="360">
        <EssentialProperty schemeIdUri="http://dashif.org/guidelines/thumbnail_tile" value="5x4"/>
      </Representation>
    </AdaptationSet>
  </Period>
</MPD>
`,
    },
  ]);
});

test("an independent parser finds all segments, their times and the rates", () => {
  const { duration, playlists, mediaGroups } = parse(manifestOf(everything), {
    manifestUri: "https://cdn/p/master.mpd",
  });
  expect(duration).toBe(15.012);
  expect(
    playlists.map(({ attributes, segments }) => [
      ...[attributes.NAME, attributes.BANDWIDTH, attributes["FRAME-RATE"], attributes.RESOLUTION],
      ...segments.map(({ resolvedUri, presentationTime }) => [resolvedUri, presentationTime]).slice(1),
    ]),
  ).toEqual([
    ...["720p", "360p", "360p-hevc"].map((name) => [
      ...[name, 8000, 30_000 / 1001, name === "720p" ? { width: 1280, height: 720 } : { width: 640, height: 360 }],
      [`https://cdn/p/F/${name}/00002.m4s`, name === "360p-hevc" ? 6 : 6.006],
      [`https://cdn/p/F/${name}/00003.m4s`, name === "360p-hevc" ? 12 : 12.012],
    ]),
  ]);
  const [audio] = Object.values(mediaGroups.AUDIO.audio ?? {}).flatMap((group) => group.playlists);
  const priming = 1024 / 48_000;
  expect(audio?.segments.map(({ presentationTime }) => presentationTime)).toEqual([
    -priming,
    6 - priming,
    12 - priming,
  ]);
  const [texts] = Object.values(mediaGroups.SUBTITLES.subs ?? {}).flatMap((group) => group.playlists);
  expect(texts?.resolvedUri).toBe("https://cdn/p/F/subtitles-1.vtt");
});

/** Children in the order that the schema of ISO 23009-1 wants them in. */
const ORDER: Readonly<Record<string, readonly string[]>> = {
  "": ["MPD"],
  MPD: ["Period"],
  Period: ["AdaptationSet"],
  AdaptationSet: ["Label", "Role", "SegmentTemplate", "Representation"],
  Representation: ["AudioChannelConfiguration", "EssentialProperty", "BaseURL", "SegmentTemplate"],
  SegmentTemplate: ["SegmentTimeline"],
  SegmentTimeline: ["S"],
  Label: ["#text"],
  BaseURL: ["#text"],
};

test("elements come in the order of the schema", () => {
  const parser = new XMLParser({ preserveOrder: true, ignoreDeclaration: true });
  const counts = new Map<string, number>();
  const walk = (nodes: readonly Readonly<Record<string, unknown>>[], parent: string): void => {
    const names = nodes.map((node) => Object.keys(node)[0] ?? "");
    const places = names.map((name) => (ORDER[parent] ?? []).indexOf(name));
    expect([parent, names, Math.min(0, ...places)]).toEqual([parent, names, 0]);
    expect([parent, places]).toEqual([parent, places.toSorted((a, b) => a - b)]);
    for (const [at, name] of names.entries()) {
      counts.set(name, (counts.get(name) ?? 0) + 1);
      const children = nodes[at]?.[name];
      if (Array.isArray(children)) walk(children, name);
    }
  };
  walk(parser.parse(manifestOf(everything)), "");
  expect(counts.get("Representation")).toBe(9);
});

test("two hours of a ladder at 30000/1001 take a manifest of some ten kilobytes", () => {
  const seconds = Array.from({ length: 1200 }, (_, at) => (at % 6 === 5 ? 179 : 180) * (1001 / 30_000));
  const tracks = ["1080p", "720p", "480p", "360p", "240p"].map((name) =>
    pictureTrack(name, { timescale: 30_000, seconds }),
  );
  const manifest = manifestOf({ ...everything, tracks });
  expect(manifest.length).toBeLessThan(20_000);
});

test("ladders of several time scales are aligned when their times are the same", () => {
  const seconds = [6, 6, 3];
  const tracks = [12_800, 90_000].map((timescale) => pictureTrack(`v${timescale}`, { timescale, seconds }));
  const manifest = manifestOf({ ...everything, tracks });
  expect(manifest.match(/segmentAlignment="true"/g)).toHaveLength(1);
  expect(manifest.match(/<SegmentTimeline>/g)).toHaveLength(2);
  const late = pictureTrack("late", { timescale: 12_800, seconds: [6, 6, 2.96], startSeconds: 0.04 });
  expect(manifestOf({ ...everything, tracks: [...tracks, late] })).not.toContain("segmentAlignment");
});

test("a time is named where it does not follow from those before", () => {
  const [first, second] = pictureTrack("360p", { timescale: 1000, seconds: [6, 6] }).segments;
  if (!first || !second) throw new Error("no segments");
  const track = {
    ...pictureTrack("360p", { timescale: 1000, seconds: [] }),
    segments: [first, { ...second, start: 17_000 }],
  };
  expect(manifestOf({ ...everything, tracks: [track] })).toMatch(/<S t="10000" d="6000"\/>\s*<S t="17000" d="6000"\/>/);
});
