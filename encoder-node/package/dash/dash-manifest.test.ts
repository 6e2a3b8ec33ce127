import { XMLParser } from "fast-xml-parser";
import { parse } from "mpd-parser";
import { expect, test } from "vitest";
import { audioTrack, videoTrack } from "../../testing/sources/sample-tracks.ts";
import { type DashPackage, dashManifestFile } from "./dash-manifest.ts";

const timing = { timescale: 30_000, seconds: [6.006, 6.006, 3] };

const everything: DashPackage = {
  folder: "F",
  playlistName: "master",
  segmentDurationMs: 6000,
  tracks: [
    {
      ...videoTrack("720p", timing),
      codec: "avc1.64001f",
      video: { width: 1280, height: 720, fps: 29.9701, hdr: null, captions: false },
    },
    videoTrack("360p", timing),
    videoTrack("360p-hevc", { timescale: 12_800, seconds: [6, 6, 3] }, "hvc1.1.6.L93.90"),
    audioTrack("audio-64k", [6, 6, 3]),
    audioTrack("audio-128k", [6.5, 5.5, 3]),
    audioTrack("audio-384k", [6, 6, 3], 6),
    audioTrack("audio-512k", [6, 6, 3], 8),
  ],
  subtitles: [{ language: "de-AT", name: "Tom & Jerry <3", default: true, sizeBytes: 45 }],
  thumbnails: {
    spriteSheet: { columns: 5, rows: 4, cell: { width: 160, height: 90 } },
    everyMs: 500,
    sizesBytes: [10_000, 5_000],
  },
};

const live: DashPackage = {
  ...everything,
  thumbnails: null,
  growing: {
    segmentSeconds: 6,
    expectedMs: 180_000,
    startedAt: Date.parse("2026-11-23T00:00:00Z"),
    writtenAt: Date.parse("2026-11-23T00:00:12Z"),
    measuredSegments: 2,
  },
};

const manifestOf = (dash: DashPackage): string => dashManifestFile(dash).text;

test("writes the manifest of a package with everything", async () => {
  const { file, text } = dashManifestFile(everything);
  expect(file).toBe("master.mpd");
  await expect(text).toMatchFileSnapshot("../../testing/fixtures/playlists/everything.mpd");
});

test("states the language of audio without a list of tracks", () => {
  const tracks = everything.tracks.map((track) => (track.audio ? { ...track, language: "fr-CA" } : track));
  expect(manifestOf({ ...everything, tracks })).toMatch(/<AdaptationSet [^>]*lang="fr-CA"[^>]*contentType="audio"/);
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

const wide = { matrix: "bt2020nc", primaries: "bt2020" };
const hdrTrack = (name: string, transfer: string) => videoTrack(name, timing, "hvc1.2.4.L93.b0", { ...wide, transfer });
const captioned = (track: ReturnType<typeof videoTrack>) => ({
  ...track,
  video: track.video && { ...track.video, captions: true },
});
const hdr: DashPackage = {
  ...everything,
  tracks: [captioned(hdrTrack("720p-pq", "smpte2084")), hdrTrack("720p-hlg", "arib-std-b67"), ...everything.tracks],
};

test("HDR video has its own sets with a color space, and captions are announced", () => {
  const sets = manifestOf(hdr).split("<AdaptationSet ").slice(1, 5);
  const properties = (set = "") =>
    [...set.matchAll(/<(\w+Property) schemeIdUri="urn:mpeg:mpegB:cicp:(\w+)" value="(\d+)"/g)].map((match) =>
      match.slice(1).join(" "),
    );
  expect(sets.map((set) => /<Representation id="([^"]+)"/.exec(set)?.[1])).toEqual([
    ...["720p-pq", "720p-hlg", "720p", "360p-hevc"],
  ]);
  expect(sets.map((set) => set.includes('<Accessibility schemeIdUri="urn:scte:dash:cc:cea-608:2015"'))).toEqual([
    ...[true, false, false, false],
  ]);
  expect(sets.map(properties)).toEqual([
    [
      "EssentialProperty ColourPrimaries 9",
      "EssentialProperty TransferCharacteristics 16",
      "EssentialProperty MatrixCoefficients 9",
    ],
    [
      "SupplementalProperty ColourPrimaries 9",
      "SupplementalProperty TransferCharacteristics 18",
      "SupplementalProperty MatrixCoefficients 9",
    ],
    [],
    [],
  ]);
});

/** The order of child elements in the schema of ISO 23009-1. */
const ORDER: Readonly<Record<string, readonly string[]>> = {
  "": ["MPD"],
  MPD: ["Period", "UTCTiming"],
  Period: ["AdaptationSet"],
  AdaptationSet: [
    "EssentialProperty",
    "SupplementalProperty",
    "Label",
    "Accessibility",
    "Role",
    "SegmentTemplate",
    "Representation",
  ],
  Representation: ["AudioChannelConfiguration", "EssentialProperty", "BaseURL", "SegmentTemplate"],
  SegmentTemplate: ["SegmentTimeline"],
  SegmentTimeline: ["S"],
  Label: ["#text"],
  BaseURL: ["#text"],
};

test("elements are in the order of the schema", () => {
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
  walk(parser.parse(manifestOf(hdr)), "");
  walk(parser.parse(manifestOf(live)), "");
  expect(counts.get("UTCTiming")).toBe(1);
});

test("the manifest of a growing stream starts in the past, by the length of the whole stream", () => {
  const text = manifestOf(live);
  expect(/<MPD [^>]+>/.exec(text)?.[0]).toBe(
    '<MPD xmlns="urn:mpeg:dash:schema:mpd:2011" profiles="urn:mpeg:dash:profile:isoff-live:2011" type="dynamic" ' +
      'availabilityStartTime="2026-11-22T23:57:00.000Z" publishTime="2026-11-23T00:00:12.000Z" ' +
      'minimumUpdatePeriod="PT6S" suggestedPresentationDelay="PT172800S" minBufferTime="PT6S">',
  );
  const { playlists } = parse(text, { manifestUri: "https://cdn/p/master.mpd" });
  expect(playlists.map(({ segments }) => segments.map(({ presentationTime }) => Math.round(presentationTime)))).toEqual(
    Array(3).fill([0, 6, 12]),
  );
});

test("the manifest of a two-hour ladder at 30000/1001 has less than 20 kB", () => {
  const seconds = Array.from({ length: 1200 }, (_, at) => (at % 6 === 5 ? 179 : 180) * (1001 / 30_000));
  const tracks = ["1080p", "720p", "480p", "360p", "240p"].map((name) =>
    videoTrack(name, { timescale: 30_000, seconds }),
  );
  const manifest = manifestOf({ ...everything, tracks });
  expect(manifest.length).toBeLessThan(20_000);
});

test("tracks with different timescales are aligned when their times are equal", () => {
  const seconds = [6, 6, 3];
  const tracks = [12_800, 90_000].map((timescale) => videoTrack(`v${timescale}`, { timescale, seconds }));
  const manifest = manifestOf({ ...everything, tracks });
  expect(manifest.match(/segmentAlignment="true"/g)).toHaveLength(1);
  expect(manifest.match(/<SegmentTimeline>/g)).toHaveLength(2);
  const late = videoTrack("late", { timescale: 12_800, seconds: [6, 6, 2.96], startSeconds: 0.04 });
  expect(manifestOf({ ...everything, tracks: [...tracks, late] })).not.toContain("segmentAlignment");
});

test("a segment has a start time if it does not follow the previous segment directly", () => {
  const [first, second] = videoTrack("360p", { timescale: 1000, seconds: [6, 6] }).segments;
  if (!first || !second) throw new Error("no segments");
  const track = {
    ...videoTrack("360p", { timescale: 1000, seconds: [] }),
    segments: [first, { ...second, start: 17_000 }],
  };
  expect(manifestOf({ ...everything, tracks: [track] })).toMatch(/<S t="10000" d="6000"\/>\s*<S t="17000" d="6000"\/>/);
});
