import * as hlsParser from "hls-parser";
import { Parser } from "m3u8-parser";
import { expect, test } from "vitest";
import { pictureTrack, soundTrack } from "../../testing/sample-tracks.ts";
import { type HlsPackage, hlsTexts } from "./hls-playlists.ts";

hlsParser.setOptions({ strictMode: true });

const film = { timescale: 90_000, seconds: [6, 4] };
const large = pictureTrack("720p", film);
const small = pictureTrack("360p", film);
const hevc = pictureTrack("360p-hevc", film, "hvc1.1.6.L93.90");
const sound = soundTrack("audio-64k", [6, 4]);
const text = (name: string, language: string, isDefault: boolean) => ({ name, language, default: isDefault });

const base: HlsPackage = {
  ...{ format: "mpegts", folder: "F", playlistName: "master", tracks: [small, sound], keyUri: null, muxed: false },
  variants: [
    { video: "360p", audio: "audio-64k" },
    { video: null, audio: "audio-64k" },
  ],
  subtitles: [],
};

const packages = {
  "MPEG-TS with sound alone as well": base,
  encrypted: { ...base, keyUri: "https://keys.example/1?a=b" },
  "fragmented MP4 with HEVC and subtitles": {
    ...base,
    format: "fmp4",
    tracks: [large, hevc, sound, soundTrack("audio-384k", [6, 4], 6)],
    variants: [
      { video: "720p", audio: "audio-384k" },
      { video: "360p-hevc", audio: "audio-64k" },
      { video: "not-in-this-package", audio: "audio-64k" },
    ],
    subtitles: [text("Deutsch", "de", false), text("Deutsch (Österreich)", "de", true), text("Dansk", "da", false)],
  },
  silent: {
    ...base,
    tracks: [large, small],
    variants: [
      { video: "720p", audio: null },
      { video: "360p", audio: null },
    ],
  },
  "sound alone": { ...base, tracks: [sound], variants: [{ video: null, audio: "audio-64k" }] },
} as const satisfies Record<string, HlsPackage>;

const fileOf = (hls: HlsPackage, file: string): string => hlsTexts(hls).find((text) => text.file === file)?.text ?? "";

test.each([
  [
    "MPEG-TS with sound alone as well",
    `#EXTM3U
#EXT-X-VERSION:4
#EXT-X-INDEPENDENT-SEGMENTS
#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="audio-64k",NAME="Audio",DEFAULT=YES,AUTOSELECT=YES,CHANNELS="2",URI="F/audio-64k.m3u8"
#EXT-X-STREAM-INF:BANDWIDTH=16000,AVERAGE-BANDWIDTH=16000,CODECS="avc1.64001e,mp4a.40.2",RESOLUTION=640x360,FRAME-RATE=29.970,AUDIO="audio-64k",CLOSED-CAPTIONS=NONE
F/360p.m3u8
#EXT-X-STREAM-INF:BANDWIDTH=8000,AVERAGE-BANDWIDTH=8000,CODECS="mp4a.40.2",CLOSED-CAPTIONS=NONE
F/audio-64k.m3u8
#EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=400,AVERAGE-BANDWIDTH=400,CODECS="avc1.64001e",RESOLUTION=640x360,URI="F/360p-keyframes.m3u8"
`,
  ],
  [
    "encrypted",
    `#EXTM3U
#EXT-X-VERSION:4
#EXT-X-INDEPENDENT-SEGMENTS
#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="audio-64k",NAME="Audio",DEFAULT=YES,AUTOSELECT=YES,CHANNELS="2",URI="F/audio-64k.m3u8"
#EXT-X-STREAM-INF:BANDWIDTH=16000,AVERAGE-BANDWIDTH=16000,CODECS="avc1.64001e,mp4a.40.2",RESOLUTION=640x360,FRAME-RATE=29.970,AUDIO="audio-64k",CLOSED-CAPTIONS=NONE
F/360p.m3u8
#EXT-X-STREAM-INF:BANDWIDTH=8000,AVERAGE-BANDWIDTH=8000,CODECS="mp4a.40.2",CLOSED-CAPTIONS=NONE
F/audio-64k.m3u8
`,
  ],
  [
    "fragmented MP4 with HEVC and subtitles",
    `#EXTM3U
#EXT-X-VERSION:4
#EXT-X-INDEPENDENT-SEGMENTS
#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="audio-384k",NAME="Audio",DEFAULT=YES,AUTOSELECT=YES,CHANNELS="6",URI="F/audio-384k.m3u8"
#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="audio-64k",NAME="Audio",DEFAULT=YES,AUTOSELECT=YES,CHANNELS="2",URI="F/audio-64k.m3u8"
#EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="subtitles",LANGUAGE="de",NAME="Deutsch",DEFAULT=NO,AUTOSELECT=NO,FORCED=NO,URI="F/subtitles-1.m3u8"
#EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="subtitles",LANGUAGE="de",NAME="Deutsch (Österreich)",DEFAULT=YES,AUTOSELECT=YES,FORCED=NO,URI="F/subtitles-2.m3u8"
#EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="subtitles",LANGUAGE="da",NAME="Dansk",DEFAULT=NO,AUTOSELECT=YES,FORCED=NO,URI="F/subtitles-3.m3u8"
#EXT-X-STREAM-INF:BANDWIDTH=16000,AVERAGE-BANDWIDTH=16000,CODECS="avc1.64001e,mp4a.40.2",RESOLUTION=640x360,FRAME-RATE=29.970,AUDIO="audio-384k",SUBTITLES="subtitles",CLOSED-CAPTIONS=NONE
F/720p.m3u8
#EXT-X-STREAM-INF:BANDWIDTH=16000,AVERAGE-BANDWIDTH=16000,CODECS="hvc1.1.6.L93.90,mp4a.40.2",RESOLUTION=640x360,FRAME-RATE=29.970,AUDIO="audio-64k",SUBTITLES="subtitles",CLOSED-CAPTIONS=NONE
F/360p-hevc.m3u8
#EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=400,AVERAGE-BANDWIDTH=400,CODECS="avc1.64001e",RESOLUTION=640x360,URI="F/720p-keyframes.m3u8"
#EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=400,AVERAGE-BANDWIDTH=400,CODECS="hvc1.1.6.L93.90",RESOLUTION=640x360,URI="F/360p-hevc-keyframes.m3u8"
`,
  ],
  [
    "silent",
    `#EXTM3U
#EXT-X-INDEPENDENT-SEGMENTS
#EXT-X-STREAM-INF:BANDWIDTH=8000,AVERAGE-BANDWIDTH=8000,CODECS="avc1.64001e",RESOLUTION=640x360,FRAME-RATE=29.970,CLOSED-CAPTIONS=NONE
F/720p.m3u8
#EXT-X-STREAM-INF:BANDWIDTH=8000,AVERAGE-BANDWIDTH=8000,CODECS="avc1.64001e",RESOLUTION=640x360,FRAME-RATE=29.970,CLOSED-CAPTIONS=NONE
F/360p.m3u8
#EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=400,AVERAGE-BANDWIDTH=400,CODECS="avc1.64001e",RESOLUTION=640x360,URI="F/720p-keyframes.m3u8"
#EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=400,AVERAGE-BANDWIDTH=400,CODECS="avc1.64001e",RESOLUTION=640x360,URI="F/360p-keyframes.m3u8"
`,
  ],
  [
    "sound alone",
    `#EXTM3U
#EXT-X-INDEPENDENT-SEGMENTS
#EXT-X-STREAM-INF:BANDWIDTH=8000,AVERAGE-BANDWIDTH=8000,CODECS="mp4a.40.2",CLOSED-CAPTIONS=NONE
F/audio-64k.m3u8
`,
  ],
] as const)("the entry playlist of a package: %s", (name, expected) => {
  expect(hlsTexts(packages[name]).at(-1)).toEqual({ file: "master.m3u8", text: expected });
});

const HEAD = "#EXT-X-TARGETDURATION:6\n#EXT-X-MEDIA-SEQUENCE:1\n#EXT-X-PLAYLIST-TYPE:VOD";

test.each([
  [
    "MPEG-TS with sound alone as well",
    "F/360p.m3u8",
    `#EXTM3U
#EXT-X-VERSION:3
${HEAD}
#EXT-X-INDEPENDENT-SEGMENTS
#EXTINF:6.000000,
360p/00001.ts
#EXTINF:4.000000,
360p/00002.ts
#EXT-X-ENDLIST
`,
  ],
  [
    "MPEG-TS with sound alone as well",
    "F/360p-keyframes.m3u8",
    `#EXTM3U
#EXT-X-VERSION:4
#EXT-X-TARGETDURATION:6
#EXT-X-PLAYLIST-TYPE:VOD
#EXT-X-I-FRAMES-ONLY
#EXT-X-INDEPENDENT-SEGMENTS
#EXTINF:2.000000,
#EXT-X-BYTERANGE:100@0
360p/00001.ts
#EXTINF:2.000000,
#EXT-X-BYTERANGE:100@2000
360p/00001.ts
#EXTINF:2.000000,
#EXT-X-BYTERANGE:100@4000
360p/00001.ts
#EXTINF:2.000000,
#EXT-X-BYTERANGE:100@0
360p/00002.ts
#EXTINF:2.000000,
#EXT-X-BYTERANGE:100@2000
360p/00002.ts
#EXT-X-ENDLIST
`,
  ],
  [
    "encrypted",
    "F/audio-64k.m3u8",
    `#EXTM3U
#EXT-X-VERSION:3
${HEAD}
#EXT-X-INDEPENDENT-SEGMENTS
#EXT-X-KEY:METHOD=AES-128,URI="https://keys.example/1?a=b"
#EXTINF:6.000000,
audio-64k/00001.ts
#EXTINF:4.000000,
audio-64k/00002.ts
#EXT-X-ENDLIST
`,
  ],
  [
    "fragmented MP4 with HEVC and subtitles",
    "F/360p-hevc.m3u8",
    `#EXTM3U
#EXT-X-VERSION:6
${HEAD}
#EXT-X-INDEPENDENT-SEGMENTS
#EXT-X-MAP:URI="360p-hevc/init.mp4"
#EXTINF:6.000000,
360p-hevc/00001.m4s
#EXTINF:4.000000,
360p-hevc/00002.m4s
#EXT-X-ENDLIST
`,
  ],
  [
    "fragmented MP4 with HEVC and subtitles",
    "F/subtitles-2.m3u8",
    `#EXTM3U
#EXT-X-VERSION:3
${HEAD.replace(":6", ":10")}
#EXTINF:10.000000,
subtitles-2/00001.vtt
#EXT-X-ENDLIST
`,
  ],
] as const)("the playlist of a track: %s, %s", (name, file, expected) => {
  expect(fileOf(packages[name], file)).toBe(expected);
});

test("playlists of keyframes with an initialization section are of version 5, and an encrypted package has none", () => {
  const fmp4 = fileOf(packages["fragmented MP4 with HEVC and subtitles"], "F/720p-keyframes.m3u8");
  expect(fmp4.split("\n").slice(1, 7)).toEqual([
    ...["#EXT-X-VERSION:5", "#EXT-X-TARGETDURATION:6", "#EXT-X-PLAYLIST-TYPE:VOD", "#EXT-X-I-FRAMES-ONLY"],
    ...["#EXT-X-INDEPENDENT-SEGMENTS", '#EXT-X-MAP:URI="720p/init.mp4"'],
  ]);
  expect(hlsTexts(packages.encrypted).map(({ file }) => file)).toEqual([
    ...["F/360p.m3u8", "F/audio-64k.m3u8", "master.m3u8"],
  ]);
});

test("every file is there once, and the entry playlist last", () => {
  const files = hlsTexts(packages["fragmented MP4 with HEVC and subtitles"]).map(({ file }) => file);
  expect(new Set(files).size).toBe(files.length);
  expect(files.at(-1)).toBe("master.m3u8");
});

test.each(Object.entries(packages))("independent parsers read every playlist: %s", (_, hls) => {
  const texts = new Map(hlsTexts(hls).map(({ file, text }) => [file, text]));
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
    const again = read.segments.map(({ uri, duration }) => ({ uri, duration }));
    expect([file, again]).toEqual([file, segments.map(({ uri, duration }) => ({ uri, duration }))]);
    const target = file.includes("subtitles") ? 10 : 6;
    expect([file, seconds, targetDuration, endList, read.endlist]).toEqual([file, 10, target, true, true]);
  }
  expect(warnings).toEqual([]);
});

test("the sum of a long track's durations is the track's length to a microsecond, however its ticks divide", () => {
  const seconds = Array.from({ length: 1200 }, (_, at) => (at % 6 === 5 ? 179 : 180) * (1001 / 30_000));
  const track = pictureTrack("360p", { timescale: 30_000, seconds });
  const lines = fileOf({ ...base, tracks: [track], variants: [] }, "F/360p.m3u8").split("\n");
  const printed = lines.filter((line) => line.startsWith("#EXTINF:")).map((line) => Number(line.slice(8, -1)));
  const ticks = track.segments.reduce((sum, { duration }) => sum + duration, 0);
  expect(printed.reduce((sum, length) => sum + length * 1e6, 0) / 1e6).toBeCloseTo(ticks / 30_000, 6);
});

test("playlists have the longest segment's duration, rounded: text has one of its own", () => {
  const seconds = Array.from({ length: 13 }, (_, at) => (at === 3 ? 5.6 : 5.4));
  const tracks = [pictureTrack("360p", { timescale: 90_000, seconds }), soundTrack("audio-64k", [5.4])];
  const texts = hlsTexts({ ...base, tracks, subtitles: [text("Dansk", "da", false)] });
  const targets = texts.flatMap(
    ({ file, text }) => text.match(/(?<=TARGETDURATION:)\d+/g)?.map((of) => [file, of]) ?? [],
  );
  expect(targets).toEqual([
    ["F/subtitles-1.m3u8", "60"],
    ...["360p", "audio-64k", "360p-keyframes"].map((name) => [`F/${name}.m3u8`, "6"]),
  ]);
});

test("text that playlists cannot quote is refused, and names are composed", () => {
  expect(() => hlsTexts({ ...base, keyUri: 'https://x/"' })).toThrow("in quotes");
  const decomposed = hlsTexts({ ...base, subtitles: [text("O\u0308l", "de", false)] }).at(-1)?.text;
  expect(decomposed).toContain('NAME="Öl"');
});
