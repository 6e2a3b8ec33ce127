import * as hlsParser from "hls-parser";
import { Parser } from "m3u8-parser";
import { expect, test } from "vitest";
import { audioTrack, videoTrack } from "../../testing/sources/sample-tracks.ts";
import { type HlsPackage, hlsTextFiles } from "./hls-playlists.ts";

hlsParser.setOptions({ strictMode: true });

const timing = { timescale: 90_000, seconds: [6, 4] };
const large = videoTrack("720p", timing);
const small = videoTrack("360p", timing);
const hevc = videoTrack("360p-hevc", timing, "hvc1.1.6.L93.90");
const audio = audioTrack("audio-64k", [6, 4]);
const text = (name: string, language: string, isDefault: boolean) => ({ name, language, default: isDefault });

const base: HlsPackage = {
  format: "mpegts",
  folder: "F",
  playlistName: "master",
  tracks: [small, audio],
  keyUri: null,
  muxed: false,
  variants: [
    { video: "360p", audio: "audio-64k" },
    { video: null, audio: "audio-64k" },
  ],
  subtitles: [],
};

const packages = {
  mpegts: base,
  encrypted: { ...base, keyUri: "https://keys.example/1?a=b" },
  "fmp4-hevc-subtitles": {
    ...base,
    format: "fmp4",
    tracks: [large, hevc, audio, audioTrack("audio-384k", [6, 4], 6)],
    variants: [
      { video: "720p", audio: "audio-384k" },
      { video: "360p-hevc", audio: "audio-64k" },
    ],
    subtitles: [text("Deutsch", "de", false), text("Deutsch (Österreich)", "de", true), text("Dansk", "da", false)],
  },
  "video-only": {
    ...base,
    tracks: [large, small],
    variants: [
      { video: "720p", audio: null },
      { video: "360p", audio: null },
    ],
  },
  "audio-only": { ...base, tracks: [audio], variants: [{ video: null, audio: "audio-64k" }] },
} as const satisfies Record<string, HlsPackage>;

const fileOf = (hls: HlsPackage, file: string): string =>
  hlsTextFiles(hls).find((text) => text.file === file)?.text ?? "";

const FIXTURES = "../../testing/fixtures/playlists";

test.each(Object.entries(packages))("writes the master playlist of a package: %s", async (name, hls) => {
  const master = hlsTextFiles(hls).at(-1);
  expect(master?.file).toBe("master.m3u8");
  await expect(master?.text).toMatchFileSnapshot(`${FIXTURES}/${name}.master.m3u8`);
});

test.each([
  ["mpegts", "360p.m3u8"],
  ["mpegts", "360p-keyframes.m3u8"],
  ["encrypted", "audio-64k.m3u8"],
  ["fmp4-hevc-subtitles", "360p-hevc.m3u8"],
  ["fmp4-hevc-subtitles", "subtitles-2.m3u8"],
] as const)("writes the playlist of a track: %s, %s", async (name, file) => {
  await expect(fileOf(packages[name], `F/${file}`)).toMatchFileSnapshot(`${FIXTURES}/${name}.${file}`);
});

test("keyframe playlists with an initialization section have version 5, and encrypted packages have none", () => {
  const fmp4 = fileOf(packages["fmp4-hevc-subtitles"], "F/720p-keyframes.m3u8");
  expect(fmp4.split("\n").slice(1, 7)).toEqual([
    ...["#EXT-X-VERSION:5", "#EXT-X-TARGETDURATION:6", "#EXT-X-PLAYLIST-TYPE:VOD", "#EXT-X-I-FRAMES-ONLY"],
    ...["#EXT-X-INDEPENDENT-SEGMENTS", '#EXT-X-MAP:URI="720p/init.mp4"'],
  ]);
  expect(hlsTextFiles(packages.encrypted).map(({ file }) => file)).toEqual([
    ...["F/360p.m3u8", "F/audio-64k.m3u8", "master.m3u8"],
  ]);
});

test.each([
  ["smpte2084", "PQ"],
  ["arib-std-b67", "HLG"],
])("the master playlist states the range of each video if any video is HDR: %s", (transfer, range) => {
  const hdr = videoTrack("720p", timing, "hvc1.2.4.L93.b0", { matrix: "bt2020nc", primaries: "bt2020", transfer });
  const { video } = packages["video-only"].variants[0];
  const master = hlsTextFiles({ ...packages["video-only"], tracks: [hdr, small], format: "fmp4" }).at(-1)?.text ?? "";
  const lines = master.split("\n").filter((line) => line.includes("BANDWIDTH"));
  const ranges = lines.map((line) => /VIDEO-RANGE=(\w+)/.exec(line)?.[1]);
  expect([video, ranges]).toEqual(["720p", [range, "SDR", range, "SDR"]]);
});

test("variants with captions in their frames name the caption group, and NONE is set for all variants or none", () => {
  const captioned = large.video && { ...large, video: { ...large.video, captions: true } };
  const variants = [...packages["video-only"].variants, { video: null, audio: "audio-64k" }];
  const hls = { ...base, variants, tracks: [...(captioned ? [captioned] : []), small, audio] };
  const master = hlsTextFiles(hls).at(-1)?.text ?? "";
  expect(master).toContain('#EXT-X-MEDIA:TYPE=CLOSED-CAPTIONS,GROUP-ID="cc",NAME="CC1",INSTREAM-ID="CC1"');
  const lines = master.split("\n").filter((line) => line.startsWith("#EXT-X-STREAM-INF"));
  expect(lines.map((line) => /CLOSED-CAPTIONS=([^,]+)/.exec(line)?.[1])).toEqual(['"cc"', undefined, undefined]);
  hlsParser.parse(master);
});

test("every file occurs once, and the master playlist is last", () => {
  const files = hlsTextFiles(packages["fmp4-hevc-subtitles"]).map(({ file }) => file);
  expect(new Set(files).size).toBe(files.length);
  expect(files.at(-1)).toBe("master.m3u8");
});

test.each(Object.entries(packages))("independent parsers read every playlist: %s", (_, hls) => {
  const texts = new Map(hlsTextFiles(hls).map(({ file, text }) => [file, text]));
  const master = hlsParser.parse(texts.get("master.m3u8") ?? "");
  if (!master.isMasterPlaylist) throw new Error("no master playlist");
  const uris = master.variants.flatMap(({ uri, audio, subtitles }) => [
    uri,
    ...[...audio, ...subtitles].map((rendition) => rendition.uri ?? ""),
  ]);
  expect([...new Set(uris)].filter((uri) => !texts.has(uri))).toEqual([]);
  const warnings: unknown[] = [];
  for (const [file, text] of texts) {
    if (!file.endsWith(".m3u8") || file === "master.m3u8") continue;
    const read = hlsParser.parse(text);
    if (read.isMasterPlaylist) throw new Error(`${file} is no media playlist`);
    const parser = new Parser();
    parser.on("warn", (warning) => warnings.push([file, warning]));
    parser.push(text);
    parser.end();
    const { segments = [], targetDuration, endList } = parser.manifest;
    const seconds = segments.reduce((sum, { duration }) => sum + duration, 0);
    const others = read.segments.map(({ uri, duration }) => ({ uri, duration }));
    expect([file, others]).toEqual([file, segments.map(({ uri, duration }) => ({ uri, duration }))]);
    const target = file.includes("subtitles") ? 10 : 6;
    expect([file, seconds, targetDuration, endList, read.endlist]).toEqual([file, 10, target, true, true]);
  }
  expect(warnings).toEqual([]);
});

test("playlists of a growing stream are event playlists, which players play from the start", () => {
  const growing = { segmentSeconds: 6.4, expectedMs: 130_000, startedAt: 0, writtenAt: 0, measuredSegments: 1 };
  const hls: HlsPackage = { ...base, growing, subtitles: [text("Dansk", "da", false)] };
  expect(hlsTextFiles(hls).map(({ file }) => file)).toEqual([
    ...["F/subtitles-1.m3u8", "F/360p.m3u8", "F/audio-64k.m3u8", "master.m3u8"],
  ]);
  // Longer than all segments so far, and it must not change.
  const head = ["#EXTM3U", "#EXT-X-VERSION:3", "#EXT-X-TARGETDURATION:7", "#EXT-X-MEDIA-SEQUENCE:1"];
  expect(fileOf(hls, "F/360p.m3u8").split("\n")).toEqual([
    ...[...head, "#EXT-X-PLAYLIST-TYPE:EVENT", "#EXT-X-INDEPENDENT-SEGMENTS", "#EXT-X-START:TIME-OFFSET=0"],
    ...["#EXTINF:6.000000,", "360p/00001.ts", "#EXTINF:4.000000,", "360p/00002.ts", ""],
  ]);
  const media = hlsParser.parse(fileOf(hls, "F/360p.m3u8"));
  expect(media).toMatchObject({ playlistType: "EVENT", endlist: false, start: { offset: 0 } });
  expect(hlsParser.parse(fileOf(hls, "F/subtitles-1.m3u8"))).toMatchObject({ playlistType: "VOD", endlist: true });
  expect(fileOf(hls, "F/subtitles-1.m3u8")).toContain("subtitles-1/00003.vtt");
  expect(hlsParser.parse(fileOf(hls, "master.m3u8"))).toMatchObject({ isMasterPlaylist: true, start: { offset: 0 } });
  // The declared rate stays, although the second segment has a higher rate.
  const louder = {
    ...small,
    segments: small.segments.map((segment, at) => ({ ...segment, sizeBytes: segment.sizeBytes * (at + 1) })),
  };
  expect(fileOf({ ...hls, tracks: [louder, audio] }, "master.m3u8")).toBe(fileOf(hls, "master.m3u8"));
});

test("the durations of a long track add up to its length within a microsecond, whatever the timescale", () => {
  const seconds = Array.from({ length: 1200 }, (_, at) => (at % 6 === 5 ? 179 : 180) * (1001 / 30_000));
  const track = videoTrack("360p", { timescale: 30_000, seconds });
  const lines = fileOf({ ...base, tracks: [track], variants: [] }, "F/360p.m3u8").split("\n");
  const printed = lines.filter((line) => line.startsWith("#EXTINF:")).map((line) => Number(line.slice(8, -1)));
  const ticks = track.segments.reduce((sum, { duration }) => sum + duration, 0);
  expect(printed.reduce((sum, length) => sum + length * 1e6, 0) / 1e6).toBeCloseTo(ticks / 30_000, 6);
});

test("the target duration is the rounded duration of the longest segment, and text has its own", () => {
  const seconds = Array.from({ length: 13 }, (_, at) => (at === 3 ? 5.6 : 5.4));
  const tracks = [videoTrack("360p", { timescale: 90_000, seconds }), audioTrack("audio-64k", [5.4])];
  const texts = hlsTextFiles({ ...base, tracks, subtitles: [text("Dansk", "da", false)] });
  const targets = texts.flatMap(
    ({ file, text }) => text.match(/(?<=TARGETDURATION:)\d+/g)?.map((target) => [file, target]) ?? [],
  );
  expect(targets).toEqual([
    ["F/subtitles-1.m3u8", "60"],
    ...["360p", "audio-64k", "360p-keyframes"].map((name) => [`F/${name}.m3u8`, "6"]),
  ]);
});

test("states the language of audio without a list of tracks, if it is known", () => {
  const renditionOf = (language: object): string | undefined =>
    hlsTextFiles({ ...base, tracks: base.tracks.map((track) => (track.audio ? { ...track, ...language } : track)) })
      .at(-1)
      ?.text.split("\n")
      .find((line) => line.includes("TYPE=AUDIO"));
  expect(renditionOf({ language: "fr-CA" })).toContain('LANGUAGE="fr-CA",NAME="Audio"');
  expect(renditionOf({})).not.toContain("LANGUAGE");
});

test("text that playlists cannot quote is rejected, and names are normalized", () => {
  expect(() => hlsTextFiles({ ...base, keyUri: 'https://x/"' })).toThrow("cannot quote");
  const decomposed = hlsTextFiles({ ...base, subtitles: [text("O\u0308l", "de", false)] }).at(-1)?.text;
  expect(decomposed).toContain('NAME="Öl"');
});

test("a variant with a track that is not in the package is an error", () => {
  const variants = [{ video: "720p", audio: "audio-64k" }];
  expect(() => hlsTextFiles({ ...base, variants })).toThrow("No track 720p");
});
