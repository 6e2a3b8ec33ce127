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
      { key: "k", if: "{{ input.width }} > 1", fit: "crop", transpose: 3, vflip: true, hflip: true },
      { key: "k", condition: "{{ input.width }} > 1", fit: "crop", transpose: 3, vflip: true, hflip: true },
    ],
    [
      "mp4",
      { deinterlace: true, watermark: { url: "https://a.example/ü.png" } },
      { deinterlace: true, watermark: { url: "https://a.example/%C3%BC.png", position: "bottomright" } },
    ],
    ["mp4:copy:x", { watermark: false, vflip: false, captions: "keep" }, {}],
    ["mp4:hevc", { captions: "drop" }, { captions: "drop" }],
    ["mp4", { loudness: -16 }, { loudness: LOUDNESS }],
    ["mkv", { subtitles: "all" }, { subtitles: "all" }],
    ["mp4", { subtitles: [] }, {}],
    ["m4a", { subtitles: [{ from: 1 }] }, { subtitles: [{ from: 1 }] }],
    ["mp4:copy", { subtitles: [{ from: "en" }] }, { subtitles: [{ from: "en" }] }],
    ["mkv", { subtitles: [{ from: "cc4" }] }, { subtitles: [{ from: "cc4" }] }],
    ["mp4", { burn: { url: "https://a.com/en.vtt" } }, { burn: BURN }],
    [
      "mp4",
      { burn: { from: "en", optional: true, shift: -1.5, font: "Noto Sans JP", keep_style: false } },
      {
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
    ["mp3", { loudness: "-16" }, { loudness: LOUDNESS }],
    ["mp3", { loudness: { target: -16 } }, { loudness: LOUDNESS }],
    ["mp3", { loudness: "measure" }, { loudness: { ...LOUDNESS, targetLufs: null } }],
    ["mp4", { audio: "all" }, { audioTracks: "all" }],
    [
      "mkv:720p",
      {
        audio: [
          { from: "ger" },
          { from: 2, offset: -0.04, default: true, role: "dub", name: "Müller", language: "de-AT" },
          { from: [5, 6], map: [[1, 0.5], [0]], optional: true, format: "ac3_384k" },
          { url: "https://a.example/fr.wav?k=1", format: "copy" },
        ],
      },
      {
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
    ["mp3", { audio: [{ from: 2 }] }, { audioTracks: [{ ...TRACK, from: 2 }] }],
    [
      "wav",
      { loudness: { target: -23, true_peak: -2, tolerance: 1 } },
      { loudness: { targetLufs: -23, truePeakDb: -2, toleranceLu: 1 } },
    ],
  ])("reads a file %s with %j", (format, params, expected) => {
    const file = { ...VIDEO, path: "a", key: format, format, ...formatOf(format) };
    expect(parse({ [format]: { path: "a", ...params } })).toEqual([{ ...file, ...expected }]);
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
    [{ loudness: -16 }, { loudness: LOUDNESS }],
    [{ burn: { url: "https://a.com/en.vtt" } }, { burn: BURN }],
    [{ captions: "drop" }, { captions: "drop" }],
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
    [{ subtitles: "all" }, { subtitles: "all" }],
    [
      { encryption: { key_uri: "https://keys.example/1" } },
      { encryption: { key: null, keyUri: "https://keys.example/1" } },
    ],
    [{ hls: { path: "h", playlist_name: "index" } }, { playlistName: "index" }],
    [
      { dash: { path: "d", playlist_name: "index" }, playlist_name: "index" },
      { dash: { path: "d", hlsFmp4: false }, playlistName: "index" },
    ],
    [{ variants: ["mp4:hevc", "mp4:720p"] }, { variants: [formatOf("mp4:hevc"), formatOf("mp4:720p")] }],
    [{ variants: ["mp4:x:64k"] }, { variants: [formatOf("mp4:x:64k")] }],
    [
      { variants: ["mp4:hevc", "mp4:x"] },
      { hls: { path: "h", ...TS, segments: "fmp4" }, variants: [formatOf("mp4:hevc"), formatOf("mp4:x")] },
    ],
    [{ hls: { path: "h", version: 3 } }, { hls: { path: "h", ...TS, muxed: true } }],
    [{ hls: { path: "h", version: 7 } }, {}],
    [{ live_playlist: true }, { livePlaylist: true }],
    [
      { variants: ["mp4:x", RATED], drop_similar_variants: true },
      { variants: [formatOf("mp4:x"), formatOf(RATED)], dropsSimilarVariants: true },
    ],
    [{ drop_similar_variants: false }, {}],
  ])("reads a stream with %j", (params, expected) => {
    const packages = "dash" in params ? {} : { hls: { path: "h" } };
    const hls = "dash" in params ? null : { path: "h", ...TS };
    expect(parse(stream({ ...packages, ...params }))).toEqual([{ ...STREAM, hls, ...expected }]);
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
