import { describe, expect, it } from "vitest";
import * as z from "zod";
import { FormatHash } from "../../format/format-hash.ts";
import { parseFormat } from "../../format/parse-format.ts";
import { DEFAULT_LADDER } from "../../format/presets.ts";
import { OutputSpec } from "../../job/output-spec.ts";
import { HttpStreamParams } from "./httpstream-params.ts";
import { ImageParams } from "./image-params.ts";
import { parseOutputs } from "./outputs-section.ts";
import { VideoParams } from "./video-params.ts";

const parseAll = (outputs: unknown): OutputSpec[] => {
  const parsed = parseOutputs(outputs, "none");
  if (!parsed.ok) throw new Error(parsed.error.message);
  return parsed.value;
};
/** Drops the aliases of default keys, which have their own test. */
const parse = (outputs: unknown) => parseAll(outputs).map(({ alias: _, ...spec }) => spec);
const formatOf = (text: string) => {
  const parsed = parseFormat(text);
  return parsed.ok ? parsed.value : null;
};

const UNCHANGED = { fit: "pad", vflip: false, hflip: false, watermark: null };
const TRACK = {
  from: null,
  url: null,
  offsetMs: 0,
  language: null,
  name: null,
  role: null,
  isDefault: false,
  format: null,
  map: null,
  isOptional: false,
};
const AUDIO_ERRORS: readonly [string, unknown, RegExp][] = [
  ["mp4", "some", /`outputs.mp4.audio` must be `all`, or a list of 1 to 16 audio tracks/],
  ["mp4", [], /`outputs.mp4.audio`/],
  ["mp4::x", "all", /because the format has no audio/],
  ["mp3", "all", /`outputs.mp3.audio` has several tracks, but mp3 can hold one audio track/],
  ["avi", [{ from: 1 }, { from: 2 }], /avi can hold one audio track/],
  ["mp4", [{ from: 0 }], /`outputs.mp4.audio.0.from` must be 1 or more/],
  ["mp4", [{ from: "x" }], /audio.0.from/],
  ["mp4", [{ from: [1] }], /audio.0.from/],
  ["mp4", [{ from: [1, 1] }], /audio.0.from` must not repeat a number/],
  ["mp4", [{ from: 1, url: "https://a.example/a.wav" }], /must have `from` or `url`, not both/],
  ["mp4", [{ url: "http://10.0.0.1/a.wav" }], /audio.0.url` has the host `10.0.0.1`/],
  ["mp4", [{ offset: 601 }], /audio.0.offset` must be 600 or less/],
  ["mp4", [{ language: "english language" }], /audio.0.language` must be a language tag/],
  ["mp4", [{ name: 'a "quoted" name' }], /audio.0.name` must not contain quotes/],
  ["mp4", [{ role: "director" }], /audio.0.role` must be one of main, dub, commentary, description, clear/],
  ["mp4", [{ default: true }, { default: true }], /must have at most one default/],
  ["mp4", [{ format: "pcm-s16le" }], /audio.0.format`: mp4 does not support the audio codec/],
  ["mp4", [{ format: "720p" }], /audio.0.format`/],
  ["mp4", [{ format: "x" }], /audio.0.format`: `x` has no audio/],
  ["mp4", [{ map: [[3]] }], /audio.0.map.0.0` must be 2 or less/],
  ["mp4::copy", [{ map: [[1]] }], /audio.0.map` is not allowed, because the format copies the audio/],
  ["mp4", [{ from: [1, 2], format: "copy" }], /audio.0.from` is not allowed, because the format copies the audio/],
  ["httpstream", [{ format: "opus" }], /`outputs.httpstream.audio.0.format` must be aac in streams/],
];
const BURN = {
  url: "https://a.com/en.vtt",
  shiftMs: 0,
  keepsStyle: true,
  style: {
    font: null,
    size: 5.3,
    color: "#ffffff",
    outlineColor: "#000000",
    background: null,
    outline: 0.25,
    position: "bottom",
    margin: 5,
  },
};
const LOUDNESS = { targetLufs: -16, truePeakDb: -1, toleranceLu: 0.2 };
const VIDEO = {
  ...UNCHANGED,
  index: 0,
  condition: null,
  offsetMs: 0,
  durationMs: null,
  deinterlace: false,
  captions: "keep",
};
const IMAGE = {
  ...UNCHANGED,
  index: 0,
  condition: null,
  selection: { by: "number", number: 1 },
  square: false,
  sprite: null,
  vtt: null,
};
const RATED = "mp4:720p::quality=vmaf93";
const STREAM = {
  captions: "keep",
  index: 0,
  condition: null,
  type: "httpstream",
  format: "httpstream",
  key: "httpstream",
  hls: null,
  dash: null,
  variants: [formatOf("mp4")],
  dropsLargerVariants: false,
  playlistName: "master",
  segmentDurationMs: 6000,
  encryption: null,
  subtitles: [],
  thumbnails: false,
  livePlaylist: false,
};
const TS = { segments: "mpegts", muxed: false };
const stream = (params: object) => ({ httpstream: { variants: ["mp4"], ...params } });

describe("parseOutputs", () => {
  it.each<[string, object, object]>([
    ["mp4:720p", { path: "/a//b.mp4" }, { path: "a/b.mp4" }],
    ["mp3", { path: "a.mp3", offset: 1.5, duration: 2 }, { path: "a.mp3", offsetMs: 1500, durationMs: 2000 }],
    [
      "webm:vp9",
      { path: "a", key: "k", if: "{{ input.width }} > 1", fit: "crop", transpose: 3, vflip: true, hflip: true },
      { path: "a", key: "k", condition: "{{ input.width }} > 1", fit: "crop", transpose: 3, vflip: true, hflip: true },
    ],
    [
      "mp4",
      { path: "a", deinterlace: true, watermark: { url: "https://a.example/ü.png" } },
      { path: "a", deinterlace: true, watermark: { url: "https://a.example/%C3%BC.png", position: "bottomright" } },
    ],
    ["mp4:copy:x", { path: "a", watermark: false, vflip: false, captions: "keep" }, { path: "a" }],
    ["mp4:hevc", { path: "a", captions: "drop" }, { path: "a", captions: "drop" }],
    ["mp4", { path: "a", loudness: -16 }, { path: "a", loudness: LOUDNESS }],
    ["mkv", { path: "a", subtitles: "all" }, { path: "a", subtitles: "all" }],
    ["mp4", { path: "a", subtitles: [] }, { path: "a" }],
    ["m4a", { path: "a", subtitles: [{ from: 1 }] }, { path: "a", subtitles: [{ from: 1 }] }],
    ["mp4:copy", { path: "a", subtitles: [{ from: "en" }] }, { path: "a", subtitles: [{ from: "en" }] }],
    ["mkv", { path: "a", subtitles: [{ from: "cc4" }] }, { path: "a", subtitles: [{ from: "cc4" }] }],
    ["mp4", { path: "a", burn: { url: "https://a.com/en.vtt" } }, { path: "a", burn: BURN }],
    [
      "mp4",
      { path: "a", burn: { from: "en", optional: true, shift: -1.5, font: "Noto Sans JP", keep_style: false } },
      {
        path: "a",
        burn: {
          from: "en",
          optional: true,
          shiftMs: -1500,
          keepsStyle: false,
          style: { ...BURN.style, font: { name: "Noto Sans JP" } },
        },
      },
    ],
    [
      "mp4",
      {
        path: "a",
        burn: {
          url: "https://a.com/en.vtt",
          font: { url: "https://a.com/f.ttf" },
          size: 8,
          color: "#FFEE00",
          outline_color: "#00000080",
          background: "#000000A0",
          outline: 0,
          position: "top",
          margin: 10,
        },
      },
      {
        path: "a",
        burn: {
          ...BURN,
          style: {
            font: { url: "https://a.com/f.ttf" },
            size: 8,
            color: "#ffee00",
            outlineColor: "#00000080",
            background: "#000000a0",
            outline: 0,
            position: "top",
            margin: 10,
          },
        },
      },
    ],
    ["mp3", { path: "a", loudness: "-16" }, { path: "a", loudness: LOUDNESS }],
    ["mp3", { path: "a", loudness: { target: -16 } }, { path: "a", loudness: LOUDNESS }],
    ["mp3", { path: "a", loudness: "measure" }, { path: "a", loudness: { ...LOUDNESS, targetLufs: null } }],
    ["mp4", { path: "a", audio: "all" }, { path: "a", audioTracks: "all" }],
    [
      "mkv:720p",
      {
        path: "a",
        audio: [
          { from: "ger" },
          { from: 2, offset: -0.04, default: true, role: "dub", name: "Müller", language: "de-AT" },
          { from: [5, 6], map: [[1, 0.5], [0]], optional: true, format: "ac3_384k" },
          { url: "https://a.example/fr.wav?k=1", format: "copy" },
        ],
      },
      {
        path: "a",
        audioTracks: [
          { ...TRACK, from: "de" },
          { ...TRACK, from: 2, offsetMs: -40, isDefault: true, role: "dub", name: "Müller", language: "de-AT" },
          {
            ...TRACK,
            from: [5, 6],
            map: [[1, 0.5], [0]],
            isOptional: true,
            format: { codec: "ac3", bitrateKbps: 384, sampleRateHz: null, channels: null },
          },
          {
            ...TRACK,
            url: "https://a.example/fr.wav?k=1",
            format: { codec: "copy", bitrateKbps: null, sampleRateHz: null, channels: null },
          },
        ],
      },
    ],
    ["mp3", { path: "a", audio: [{ from: 2 }] }, { path: "a", audioTracks: [{ ...TRACK, from: 2 }] }],
    [
      "wav",
      { path: "a", loudness: { target: -23, true_peak: -2, tolerance: 1 } },
      { path: "a", loudness: { targetLufs: -23, truePeakDb: -2, toleranceLu: 1 } },
    ],
  ])("reads a file %s with %j", (format, params, expected) => {
    expect(parse({ [format]: params })).toEqual([{ ...VIDEO, key: format, format, ...formatOf(format), ...expected }]);
  });

  it.each<[string, object, object]>([
    ["jpg:300x", { path: "a.jpg" }, { path: "a.jpg" }],
    [
      "jpg",
      { path: "%02d.jpg", number: 3, square: true, fit: "crop", blur: 5 },
      { path: "%02d.jpg", selection: { by: "number", number: 3 }, square: true, fit: "crop", blur: 5 },
    ],
    ["png", { path: "a.png", burn: { url: "https://a.com/en.vtt" } }, { path: "a.png", burn: BURN }],
    ["png", { path: "a.png", offsets: [2.5] }, { path: "a.png", selection: { by: "offsets", offsetsMs: [2500] } }],
    ["jpg", { path: "%d.jpg", interval: 0 }, { path: "%d.jpg", selection: { by: "interval", intervalMs: null } }],
    [
      "jpg:120x",
      { path: "t/image.jpg", interval: 10, sprite: true, vtt: true },
      {
        path: "t/image.jpg",
        selection: { by: "interval", intervalMs: 10_000 },
        sprite: { limit: null, columns: 4 },
        vtt: { path: "t/image.vtt" },
      },
    ],
    [
      "webp",
      { path: "t/a_%.2d.webp", number: 9, sprite: { limit: 5 }, vtt: { filename: "b.VTT" } },
      {
        path: "t/a_%.2d.webp",
        selection: { by: "number", number: 9 },
        sprite: { limit: 5, columns: 4 },
        vtt: { path: "t/b.VTT" },
      },
    ],
    ["avif", { path: "t/a_%.2d.avif", vtt: true }, { path: "t/a_%.2d.avif", vtt: { path: "t/a.vtt" } }],
    ["jpg", { path: "t/%02d/a", vtt: true }, { path: "t/%02d/a", vtt: { path: "t/a.vtt" } }],
    ["jpg", { path: "%02d.jpg", vtt: {}, sprite: false }, { path: "%02d.jpg", vtt: { path: "images.vtt" } }],
    ["gif", { path: "a.gif" }, { path: "a.gif", selection: { by: "scenes", number: 1, durationMs: 5000 } }],
    [
      "webp_anim:500x",
      { path: "a.webp", scene: { number: 10, duration: 1 }, square: true },
      { path: "a.webp", selection: { by: "scenes", number: 10, durationMs: 1000 }, square: true },
    ],
  ])("reads images %s with %j", (format, params, expected) => {
    expect(parse({ [format]: params })).toEqual([{ ...IMAGE, key: format, format, ...formatOf(format), ...expected }]);
  });

  it.each<[object, object]>([
    [{ hls: { path: "/" } }, { hls: { path: "", ...TS } }],
    [
      { hls: { path: "/" }, loudness: -16 },
      { hls: { path: "", ...TS }, loudness: LOUDNESS },
    ],
    [
      { hls: { path: "/" }, burn: { url: "https://a.com/en.vtt" } },
      { hls: { path: "", ...TS }, burn: BURN },
    ],
    [
      { hls: { path: "/" }, captions: "drop" },
      { hls: { path: "", ...TS }, captions: "drop" },
    ],
    [
      { path: "/video/", hls: { path: "hls/" }, dash: { path: "/dash", hlsfmp4: true }, key: "s" },
      { hls: { path: "video/hls", ...TS }, dash: { path: "video/dash", hlsFmp4: true }, key: "s" },
    ],
    [
      { dash: { path: "d" }, variants: ["mp4:x:64k", "mp4:hevc_720p:x"], playlist_name: "index", segment_duration: 4 },
      {
        dash: { path: "d", hlsFmp4: false },
        variants: [formatOf("mp4:x:64k"), formatOf("mp4:hevc_720p:x")],
        playlistName: "index",
        segmentDurationMs: 4000,
      },
    ],
    [
      {
        hls: { path: "h" },
        encryption: { key: "00112233445566778899AABBCCDDEEFF", key_uri: "/key?id=1" },
        subtitles: [
          { url: "https://a.example/en.vtt", language: "en", name: "English", default: true },
          { url: "https://a.example/fr.vtt", language: "fr-CA" },
          {
            from: 2,
            language: "de",
            name: "O\u0308l",
            forced: false,
            kind: "captions",
            optional: true,
            shift: "-1.25",
          },
          { from: "en-GB", optional: false, shift: 0 },
        ],
        thumbnails: true,
      },
      {
        hls: { path: "h", ...TS },
        encryption: { key: "00112233445566778899aabbccddeeff", keyUri: "/key?id=1" },
        subtitles: [
          { url: "https://a.example/en.vtt", language: "en", name: "English", default: true },
          { url: "https://a.example/fr.vtt", language: "fr-CA", name: "fr-CA", default: false },
          { from: 2, language: "de", name: "\u00D6l", forced: false, kind: "captions", optional: true, shiftMs: -1250 },
          { from: "en-GB" },
        ],
        thumbnails: true,
      },
    ],
    [
      { hls: { path: "h" }, subtitles: "all" },
      { hls: { path: "h", ...TS }, subtitles: "all" },
    ],
    [
      { hls: { path: "h" }, encryption: { key_uri: "https://keys.example/1" } },
      { hls: { path: "h", ...TS }, encryption: { key: null, keyUri: "https://keys.example/1" } },
    ],
    [{ hls: { path: "h", playlist_name: "index" } }, { hls: { path: "h", ...TS }, playlistName: "index" }],
    [
      { dash: { path: "d", playlist_name: "index" }, playlist_name: "index" },
      { dash: { path: "d", hlsFmp4: false }, playlistName: "index" },
    ],
    [
      { hls: { path: "h" }, variants: ["mp4:hevc", "mp4:720p"] },
      { hls: { path: "h", ...TS }, variants: [formatOf("mp4:hevc"), formatOf("mp4:720p")] },
    ],
    [
      { hls: { path: "h" }, variants: ["mp4:x:64k"] },
      { hls: { path: "h", ...TS }, variants: [formatOf("mp4:x:64k")] },
    ],
    [
      { hls: { path: "h" }, variants: ["mp4:hevc", "mp4:x"] },
      { hls: { path: "h", ...TS, segments: "fmp4" }, variants: [formatOf("mp4:hevc"), formatOf("mp4:x")] },
    ],
    [{ hls: { path: "h", version: 3 } }, { hls: { path: "h", ...TS, muxed: true } }],
    [{ hls: { path: "h", version: 7 } }, { hls: { path: "h", ...TS } }],
    [
      { hls: { path: "h" }, live_playlist: true },
      { hls: { path: "h", ...TS }, livePlaylist: true },
    ],
    [
      { hls: { path: "h" }, variants: ["mp4:x", RATED], drop_similar_variants: true },
      { hls: { path: "h", ...TS }, variants: [formatOf("mp4:x"), formatOf(RATED)], dropsSimilarVariants: true },
    ],
    [{ hls: { path: "h" }, drop_similar_variants: false }, { hls: { path: "h", ...TS } }],
  ])("reads a stream with %j", (params, expected) => {
    expect(parse(stream(params))).toEqual([{ ...STREAM, ...expected }]);
  });

  it("reads files of text", () => {
    const outputs = {
      srt: { path: "a.srt", from: "en", optional: true, shift: 1 },
      vtt: { path: "a.vtt", from: 2, optional: false },
    };
    expect(parse(outputs)).toMatchObject([
      { type: "text", container: "srt", text: { from: "en", optional: true, shiftMs: 1000 } },
      { type: "text", container: "vtt", text: { from: 2 } },
    ]);
  });

  it("uses the default ladder when no variants are given", () => {
    expect(parse({ HTTPStream: { hls: { path: "h" } } })).toEqual([
      {
        ...STREAM,
        format: "HTTPStream",
        key: "HTTPStream",
        hls: { path: "h", ...TS },
        variants: DEFAULT_LADDER.map(formatOf),
        dropsLargerVariants: true,
      },
    ]);
  });

  it("names outputs by their property, counts them in arrays, and echoes a hash in its canonical form", () => {
    const outputs = parse({
      "avi:240p": { path: "a", format: { resolution: "0x240", video_bitrate: "500k" } },
      "MP4:720P": [{ path: "b" }, { path: "c", key: "mine" }],
      "jpg:300x": [{ path: "d" }],
    });
    expect(outputs.map(({ index, key, format }) => [index, key, format])).toEqual([
      [0, "avi:240p", "avi:0x240_500k"],
      [1, "MP4:720P:1", "MP4:720P"],
      [2, "mine", "MP4:720P"],
      [3, "jpg:300x:1", "jpg:300x"],
    ]);
    expect(OutputSpec.array().parse(outputs)).toEqual(outputs);
  });

  const watermark = { url: "http://10.0.0.1/w.png" };
  it.each<[string, unknown, RegExp]>([
    ["outputs_not_valid", [], /`outputs` is a list; it must be an object/],
    ["outputs_not_valid", {}, /at least one output/],
    ["outputs_not_valid", { mp4: [] }, /at least one output/],
    ["output_not_valid", { mp4: "a.mp4" }, /`outputs.mp4` must be an object/],
    ["output_not_valid", { mp4: [{ path: "a" }, null] }, /`outputs.mp4:2` must be an object/],
    ["outputs_out_of_range", { mp4: Array.from({ length: 31 }, () => ({})) }, /at most 30 outputs, not 31/],
    ["output_format_not_valid", { "mp4:721p": { path: "a" } }, /`outputs.mp4:721p`: `721p`/],
    ["output_format_not_valid", { ["x".repeat(201)]: {} }, /at most 200 characters/],
    ["output_format_not_valid", JSON.parse('{"__proto__":{"path":"a"}}'), /container `__proto__`/],
    [
      "output_format_not_valid",
      { mp4: { path: "a", format: { fps: true } } },
      /`outputs.mp4.format.fps` must be a num/,
    ],
    ["output_format_not_valid", { mp4: { path: "a", format: { crf: 1 } } }, /`outputs.mp4.format` .*`crf`.*maxrate/],
    ["output_format_not_valid", { mp4: { path: "a", format: [] } }, /`outputs.mp4.format` must be an object/],
    [
      "output_format_not_valid",
      { mp4: [{ path: "a", format: { video_codec: "vp8" } }] },
      /`outputs.mp4:1.format.video_codec`: mp4 does not support/,
    ],
    [
      "output_format_not_valid",
      { "mp4:vp8": { path: "a", format: { fps: 30 } } },
      /`outputs.mp4:vp8`: mp4 does not support/,
    ],
    ["output_condition_not_valid", { mp4: { path: "a", if: "1 >" } }, /`outputs.mp4.if`/],
    [
      "output_param_not_valid",
      { mp4: {} },
      /^`outputs.mp4.path` is missing: the path of the file in the storage, such as video/,
    ],
    ["output_param_not_valid", { mp4: { path: "a/" } }, /must be the path of a file/],
    ["output_param_not_valid", { mp4: { path: "../a" } }, /must not contain the segments `\.` or `\.\.`/],
    [
      "output_param_not_valid",
      { mp4: { path: "a", number: 2 } },
      /`outputs.mp4` .*`number`.*path, key, if, .*duration/,
    ],
    ["output_param_not_valid", { mp4: { path: "a", captions: "burn" } }, /`outputs.mp4.captions` .*keep.*drop/],
    [
      "output_param_not_valid",
      { "mp4:copy": { path: "a", captions: "drop" } },
      /`outputs.mp4:copy.captions` is not allowed, because the format copies the video/,
    ],
    ["output_param_not_valid", { mp3: { path: "a", captions: "drop" } }, /because the format has no video/],
    ["output_param_not_valid", { jpg: { path: "a", captions: "drop" } }, /`outputs.jpg` .*`captions`/],
    [
      "output_param_not_valid",
      { mp3: { path: "a", loudness: -40 } },
      /`outputs.mp3.loudness` must be -31 LUFS or more/,
    ],
    ["output_param_not_valid", { mp4: { path: "a", burn: {} } }, /`outputs.mp4.burn` must have either `url` or `from`/],
    [
      "output_param_not_valid",
      { mp4: { path: "a", burn: { url: "https://a.com/a", from: 1 } } },
      /`outputs.mp4.burn` must have either `url` or `from`/,
    ],
    [
      "output_param_not_valid",
      { mp4: { path: "a", burn: { from: 1, color: "white" } } },
      /`outputs.mp4.burn.color` must be a color such as #ffffff/,
    ],
    ["output_param_not_valid", { mp4: { path: "a", burn: { from: 1, size: 30 } } }, /burn.size` must be 20 or less/],
    [
      "output_param_not_valid",
      { mp4: { path: "a", burn: { from: 1, font: "a\nb" } } },
      /`outputs.mp4.burn.font` must be the name of a font/,
    ],
    ["output_param_not_valid", { mp3: { path: "a", burn: { from: 1 } } }, /burn` is not allowed, .* has no video/],
    ["output_param_not_valid", { "mp4:copy": { path: "a", burn: { from: 1 } } }, /burn` is not allowed, .* copies/],
    [
      "output_param_not_valid",
      { httpstream: { hls: { path: "h" }, variants: ["mp4:x:64k"], burn: { from: 1 } } },
      /burn` requires variants with video/,
    ],
    ["output_param_not_valid", { mp3: { path: "a", loudness: "loud" } }, /`outputs.mp3.loudness` .*measure.*-31 to -5/],
    [
      "output_param_not_valid",
      { mp3: { path: "a", loudness: { target: -16, true_peak: 3 } } },
      /`outputs.mp3.loudness.true_peak` must be 0 dBTP or less/,
    ],
    ["output_param_not_valid", { mp3: { path: "a", loudness: { true_peak: -3 } } }, /`outputs.mp3.loudness.target`/],
    [
      "output_param_not_valid",
      { "mp4::copy": { path: "a", loudness: -16 } },
      /`outputs.mp4::copy.loudness` is not allowed, because the format copies the audio/,
    ],
    ["output_param_not_valid", { "mp4::x": { path: "a", loudness: -16 } }, /because the format has no audio/],
    [
      "output_param_not_valid",
      { httpstream: { hls: { path: "a" }, variants: ["mp4:240p:x"], loudness: -16 } },
      /`outputs.httpstream.loudness` requires variants with audio/,
    ],
    ...AUDIO_ERRORS.map(([format, audio, message]): [string, object, RegExp] => [
      "output_param_not_valid",
      format === "httpstream" ? { httpstream: { hls: { path: "a" }, audio } } : { [format]: { path: "a", audio } },
      message,
    ]),
    [
      "output_param_not_valid",
      { httpstream: { hls: { path: "a", version: 3 }, audio: "all" } },
      /`outputs.httpstream.audio` has several tracks, but `hls.version` 3/,
    ],
    [
      "output_param_not_valid",
      { "mp4:copy:copy": { path: "a", offset: 5, audio: [{ url: "https://a.example/fr.wav" }] } },
      /`outputs.mp4:copy:copy.audio.0.url` is not allowed in a copy with an `offset`/,
    ],
    ["output_param_not_valid", { mp4: { path: "a", offset: -1 } }, /`outputs.mp4.offset` must be 0 or more/],
    ["output_param_not_valid", { mp4: { path: "a", duration: 0 } }, /more than 0/],
    [
      "output_param_not_valid",
      { mp4: { path: "a", transpose: 4 } },
      /`outputs.mp4.transpose` must be 0 to 3, not an angle/,
    ],
    [
      "output_param_not_valid",
      { avi: { path: "a", subtitles: "all" } },
      /`outputs.avi.subtitles` is not allowed, because avi has no text tracks; mp4, mov, m4a, mkv, webm have/,
    ],
    [
      "output_param_not_valid",
      { "mp4:copy": { path: "a", offset: 1, subtitles: "all" } },
      /subtitles` is not allowed, because a copy with an `offset` starts at a keyframe/,
    ],
    ["output_format_not_valid", { "vtt:720p": { path: "a", from: 1 } }, /one segment too many/],
    ["output_format_not_valid", { vtt: { path: "a", from: 1, format: { quality: 3 } } }, /a text format has no specs/],
    ["output_param_not_valid", { vtt: { path: "a" } }, /`outputs.vtt` must have either `url` or `from`/],
    ["output_param_not_valid", { srt: { path: "a", from: 1, name: "A" } }, /`outputs.srt` has no field `name`/],
    ["output_param_not_valid", { srt: { path: "a", url: "http://10.0.0.1/" } }, /`outputs.srt.url` has the host/],
    ["output_param_not_valid", { mp4: { path: "a", fit: "stretch" } }, /pad, crop/],
    ["output_param_not_valid", { mp4: { path: "a", watermark: true } }, /`outputs.mp4.watermark` must be false or/],
    [
      "output_param_not_valid",
      { mp4: { path: "a", watermark } },
      /`outputs.mp4.watermark.url` has the host `10.0.0.1`/,
    ],
    ["output_param_not_valid", { jpg: { path: "a", watermark } }, /`outputs.jpg.watermark.url` has the host/],
    ["output_param_not_valid", { mp3: { path: "a", fit: "pad" } }, /`outputs.mp3.fit` is not allowed, .*no video/],
    ["output_param_not_valid", { "mp4:copy": { path: "a", hflip: true } }, /`outputs.mp4:copy.hflip`.*copies/],
    ["output_param_not_valid", { jpg: { path: "a.jpg", duration: 1 } }, /`duration`.*number, offsets, interval/],
    [
      "output_param_not_valid",
      { jpg: { path: "a.jpg", number: 2 } },
      /`outputs.jpg.path` must contain a counter.*2 files/,
    ],
    ["output_param_not_valid", { jpg: { path: "a.jpg", offsets: [1, 2] } }, /must contain a counter/],
    [
      "output_param_not_valid",
      { jpg: { path: "a.jpg", interval: 9 } },
      /must contain a counter.*may be more than one file/,
    ],
    ["output_param_not_valid", { jpg: { path: "a.jpg", number: 5, sprite: { limit: 4 } } }, /must contain a counter/],
    ["output_param_not_valid", { jpg: { path: "%d", number: 101 } }, /100 or less/],
    ["output_param_not_valid", { jpg: { path: "%d", offsets: [] } }, /at least one offset/],
    [
      "output_param_not_valid",
      { jpg: { path: "%d", number: 1, interval: 1 } },
      /`outputs.jpg.interval` is not allowed here; use only one of/,
    ],
    [
      "output_param_not_valid",
      { jpg: { path: "a", scene: {} } },
      /`outputs.jpg.scene` is not supported by jpg; .*number, offsets/,
    ],
    [
      "output_param_not_valid",
      { gif: { path: "a", number: 1 } },
      /`outputs.gif.number` is not supported by gif; .*scene/,
    ],
    ["output_param_not_valid", { gif: { path: "a", scene: { number: 11 } } }, /`outputs.gif.scene.number` must be 10/],
    ["output_param_not_valid", { jpg: { path: "a", vtt: { filename: "a.txt" } } }, /ends in \.vtt/],
    ["output_param_not_valid", { httpstream: {} }, /`outputs.httpstream` must have `hls` or `dash`/],
    [
      "output_param_not_valid",
      stream({ hls: {} }),
      /^`outputs.httpstream.hls.path` is missing: the path of the folder/,
    ],
    [
      "output_param_not_valid",
      stream({ hls: { path: "a" }, variants: [RATED, "mp4:720p"], drop_similar_variants: true }),
      /`outputs.httpstream.drop_similar_variants` requires `quality=vmaf…`.*`variants.1` has none/,
    ],
    ["output_param_not_valid", stream({ hls: { path: "a" }, drop_similar_variants: true }), /requires `quality=vmaf…`/],
    [
      "output_param_not_valid",
      stream({ hls: { path: "a" }, variants: ["mp4:x"], drop_similar_variants: true }),
      /requires variants with video/,
    ],
    [
      "output_param_not_valid",
      stream({ hls: { path: "a", drop_similar_variants: true } }),
      /drop_similar_variants`.*next to `hls` and `dash`/,
    ],
    [
      "output_param_not_valid",
      stream({ hls: { path: "a" }, variants: [RATED], drop_similar_variants: "yes" }),
      /drop_similar_variants` must be/,
    ],
    ["output_param_not_valid", stream({ hls: { path: "a", version: 2 } }), /hls.version` must be .* from 3 to 7/],
    ["output_param_not_valid", stream({ format: {} }), /`outputs.httpstream` .*`format`.*variants/],
    ["output_param_not_valid", stream({ hls: { path: "a" }, segment_duration: 11 }), /10 or less/],
    ["output_param_not_valid", stream({ hls: { path: "a" }, playlist_name: "a/b" }), /without a folder/],
    [
      "output_param_not_valid",
      stream({ hls: { path: "a", playlist_name: "../b" } }),
      /hls.playlist_name` .*without a fol/,
    ],
    [
      "output_param_not_valid",
      stream({ hls: { path: "a", playlist_name: "one" }, dash: { path: "b" }, playlist_name: "two" }),
      /`outputs.httpstream.playlist_name` has several values, `two` and `one`;/,
    ],
    [
      "output_param_not_valid",
      stream({ hls: { path: "a" }, encryption: { key: "00", key_uri: "k" } }),
      /32 hexadecimal/,
    ],
    [
      "output_param_not_valid",
      stream({ dash: { path: "a" }, encryption: { key: "0".repeat(32), key_uri: "k" } }),
      /encryption` requires `hls`/,
    ],
    [
      "output_param_not_valid",
      stream({ hls: { path: "a" }, subtitles: [{ url: "http://localhost/a.vtt", language: "en" }] }),
      /`outputs.httpstream.subtitles.0.url` has the host/,
    ],
    [
      "output_param_not_valid",
      stream({ hls: { path: "a" }, subtitles: [{ from: 1, url: "https://a.example/1", language: "en" }] }),
      /subtitles.0` must have either `url` or `from`/,
    ],
    [
      "output_param_not_valid",
      stream({ hls: { path: "a" }, subtitles: [{ language: "en" }] }),
      /subtitles.0` must have either `url` or `from`/,
    ],
    [
      "output_param_not_valid",
      stream({ hls: { path: "a" }, subtitles: [{ url: "https://a.example/1" }] }),
      /subtitles.0.language` is missing/,
    ],
    ...[0, 1.5, "cc5", "cc9", "CC1", "a b", {}].map((from): [string, object, RegExp] => [
      "output_param_not_valid",
      stream({ hls: { path: "a" }, subtitles: [{ from }] }),
      /subtitles.0.from` must be the number of a subtitle track/,
    ]),
    ["output_param_not_valid", stream({ hls: { path: "a" }, subtitles: "some" }), /subtitles` must be a list/],
    [
      "output_param_not_valid",
      stream({ hls: { path: "a" }, subtitles: [{ from: 1, shift: 86_401 }] }),
      /subtitles.0.shift` must be a number of seconds from -86400 to 86400/,
    ],
    [
      "output_param_not_valid",
      stream({ hls: { path: "a" }, subtitles: [1, 2].map((n) => ({ url: `https://a.example/${n}`, language: "en" })) }),
      /subtitles.1.name` must be unique/,
    ],
    [
      "output_param_not_valid",
      stream({
        hls: { path: "a" },
        subtitles: ["\u00D6l", "O\u0308l"].map((name) => ({ url: "https://a.example/1", language: "de", name })),
      }),
      /subtitles.1.name` must be unique/,
    ],
    ["output_format_not_valid", stream({ hls: { path: "a" }, variants: ["mp4:bad"] }), /variants.0`: .*`bad`/],
    [
      "output_format_not_valid",
      stream({ hls: { path: "a" }, variants: ["mp4", "webm"] }),
      /variants.1`: `webm`.*h264, hevc/,
    ],
    ["output_format_not_valid", stream({ hls: { path: "a" }, variants: ["mp4:copy"] }), /not supported in streams/],
    ["output_format_not_valid", stream({ hls: { path: "a" }, variants: ["mp4::mp3"] }), /not supported in streams/],
    ["output_format_not_valid", stream({ hls: { path: "a" }, variants: ["jpg"] }), /not supported in streams/],
    [
      "output_format_not_valid",
      stream({ dash: { path: "a" }, variants: ["mp4", "mp4:720p::2pass"] }),
      /`outputs.httpstream.variants.1`: `2pass`/,
    ],
    [
      "output_param_not_valid",
      stream({ hls: { path: "a", version: 3 }, variants: ["mp4:hevc_720p", "mp4:x:64k"] }),
      /`outputs.httpstream.hls.version` 3 requires MPEG-TS segments, which do not support HEVC/,
    ],
    [
      "output_param_not_valid",
      stream({ hls: { path: "a" }, variants: ["mp4:hevc"], encryption: { key: "0".repeat(32), key_uri: "k" } }),
      /`outputs.httpstream.encryption` requires MPEG-TS segments/,
    ],
    [
      "output_param_not_valid",
      { mp4: { path: "a", key: "input" } },
      /`outputs.mp4.key` must not .*the input of the job/,
    ],
    [
      "output_param_not_valid",
      { mp4: { path: "a", key: "source" } },
      /`outputs.mp4.key` must not .*the input of the job/,
    ],
    ["output_param_not_valid", { mp4: { path: "a\\b" } }, /`outputs.mp4.path` must not contain backslashes/],
    ["output_param_not_valid", { mp4: { path: "a\u0000" } }, /`outputs.mp4.path` must not contain control characters/],
    ["output_key_not_unique", { mp4: { path: "a", key: "k" }, mp3: { path: "b", key: "k" } }, /the key `k`/],
    ["output_key_not_unique", { mp4: { path: "a" }, mp3: { path: "b", key: "mp4:1" } }, /the key `mp4:1`/],
    [
      "output_key_not_unique",
      { mp3: { path: "b", key: "httpstream:1" }, ...stream({ hls: { path: "h" } }) },
      /stream:1`/,
    ],
  ])("reports %s for %j", (code, outputs, message) => {
    expect(parseOutputs(outputs, "none")).toEqual({
      ok: false,
      error: { code, message: expect.stringMatching(message) },
    });
  });
});

it("gives only a single object without a key the alias `<format>:1`", () => {
  const keys = parseAll({
    mp4: { path: "a", format: { resolution: "720p" } },
    "jpg:64x": { path: "b", key: "k" },
    "mp4:240p": [{ path: "c" }],
    ...stream({ hls: { path: "h" } }),
  }).map(({ key, alias }) => [key, alias]);
  expect(keys).toEqual([
    ["mp4", "mp4:1"],
    ["k", undefined],
    ["mp4:240p:1", undefined],
    ["httpstream", "httpstream:1"],
  ]);
  // Keys that only look like an alias are allowed.
  expect(parseAll({ mp4: { path: "a", key: "k" }, mp3: { path: "b", key: "mp4:1" } })).toHaveLength(2);
});

describe("objects that two outputs would write", () => {
  const both = (one: object, other: object): string | null => {
    const parsed = parseOutputs({ jpg: [one, other] }, "none");
    if (parsed.ok) return null;
    expect(parsed.error.code).toBe("output_path_not_unique");
    return /write `(.*?)`/.exec(parsed.error.message)?.[1] ?? "";
  };

  it.each<[object, object, string | null]>([
    [{ path: "a.jpg" }, { path: "a.jpg" }, "a.jpg"],
    [{ path: "a.jpg" }, { path: "b.jpg" }, null],
    [{ path: "%02d.jpg", number: 3 }, { path: "02.jpg" }, "02.jpg"],
    [{ path: "%02d.jpg", number: 3 }, { path: "2.jpg" }, null],
    [{ path: "%02d.jpg", number: 3 }, { path: "04.jpg" }, null],
    [{ path: "%02d.jpg", number: 10 }, { path: "%d.jpg", number: 10 }, "10.jpg"],
    [{ path: "%02d.jpg", number: 9 }, { path: "%d.jpg", number: 9 }, null],
    [{ path: "a%d.jpg", number: 11 }, { path: "a1%d.jpg", number: 1 }, "a11.jpg"],
    [{ path: "a%d.jpg", interval: 9 }, { path: "a07.jpg" }, null],
    [{ path: "a%d.jpg", interval: 9 }, { path: "a70000.jpg" }, "a70000.jpg"],
    [{ path: "a%d.jpg", interval: 9 }, { path: "a%02d.jpg", offsets: [1] }, null],
    [{ path: "a%d.jpg", interval: 9 }, { path: "a%02d.jpg", interval: 2 }, "a%02d.jpg"],
    [{ path: "a%d.jpg", interval: 9 }, { path: "a1%d.jpg", interval: 2 }, "a1%d.jpg"],
    [{ path: "a%d.jpg", interval: 9 }, { path: "b%d.jpg", interval: 2 }, null],
    [{ path: "a%d.jpg", interval: 9 }, { path: "a-%d.jpg", interval: 2 }, null],
    [{ path: "a.jpg", vtt: true }, { path: "a_%d.jpg", vtt: true }, "a.vtt"],
    [{ path: "a.vtt", vtt: true }, { path: "b.jpg" }, "a.vtt"],
  ])("of %j and %j: %s", (one, other, object) => {
    expect(both(one, other)).toBe(object);
    expect(both(other, one) === null).toBe(object === null);
  });

  const when = { if: "{{ input.width }} > 1" };
  it.each<[object, RegExp | null]>([
    [{ mp4: { path: "a", ...when }, "mp4:720p": { path: "a", ...when } }, null],
    [{ jpg: { path: "%d.jpg", number: 9, ...when }, "jpg:2x2": { path: "2.jpg", ...when } }, null],
    [
      {
        httpstream: [
          { hls: { path: "s" }, ...when },
          { hls: { path: "s" }, ...when },
        ],
      },
      null,
    ],
    [
      { mp4: { path: "a", ...when }, "mp4:720p": { path: "a" } },
      /^The outputs `mp4` and `mp4:720p` would both write `a`; give them different paths, or conditions/,
    ],
    [{ jpg: { path: "a.vtt", vtt: true, ...when } }, /^The output `jpg` would write `a.vtt` twice/],
    [{ httpstream: { hls: { path: "s" }, dash: { path: "s" } } }, null],
    [{ httpstream: { hls: { path: "s" }, dash: { path: "s", hlsfmp4: true } } }, /write `s\/master.m3u8` twice/],
    [{ httpstream: { path: "s", hls: { path: "h" } }, mp4: { path: "s/h/master.m3u8" } }, /`s\/h\/master.m3u8`/],
    [
      { httpstream: [{ hls: { path: "s" } }, { dash: { path: "s" }, playlist_name: "b" }] },
      /both write segments into the folder `s`/,
    ],
    [{ httpstream: [{ hls: { path: "s" } }, { dash: { path: "d" } }] }, null],
    [{ httpstream: { hls: { path: "s" }, dash: { path: "s" }, thumbnails: true } }, null],
    [
      { httpstream: { hls: { path: "s" }, thumbnails: true }, jpg: { path: "s/master.jpg", vtt: true } },
      /both write `s\/master.vtt`/,
    ],
  ])("of %j", (outputs, message) => {
    const parsed = parseOutputs(outputs, "none");
    const error = { code: "output_path_not_unique", message: expect.stringMatching(message ?? /./) };
    expect(parsed).toEqual(message ? { ok: false, error } : { ok: true, value: expect.anything() });
  });
});

describe("the schemas of output parameters", () => {
  it.each(Object.entries({ VideoParams, ImageParams, HttpStreamParams, FormatHash }))(
    "make a JSON schema of %s in which every field is described",
    (_, schema: z.ZodType) => {
      const {
        type,
        properties = {},
        additionalProperties,
      } = z.toJSONSchema(schema, { io: "input", unrepresentable: "any" });
      expect({ type, additionalProperties }).toEqual({ type: "object", additionalProperties: false });
      const undescribed = Object.entries(properties).filter(
        ([, field]) => typeof field === "object" && !field.description,
      );
      expect(undescribed.map(([name]) => name)).toEqual([]);
    },
  );
});
