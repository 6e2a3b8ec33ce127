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
const UNNAMED = { language: null, name: null, role: null };
const TRACK = { from: null, url: null, offsetMs: 0, ...UNNAMED, isDefault: false, format: null, map: null };
const track = (changes: object) => ({ ...TRACK, isOptional: false, ...changes });
const audio = (codec: string, bitrateKbps: number | null = null) => {
  return { codec, bitrateKbps, sampleRateHz: null, channels: null };
};
const COLORS = { color: "#ffffff", outlineColor: "#000000", background: null };
const STYLE = { font: null, size: 5.3, ...COLORS, outline: 0.25, position: "bottom", margin: 5 };
const CUES = { url: "https://a.com/en.vtt" };
const burnt = (style = {}, changes: object = CUES) => {
  return { burn: { shiftMs: 0, keepsStyle: true, style: { ...STYLE, ...style }, ...changes } };
};
const AT = "https://a.example";
const TURNED = { key: "k", fit: "crop", transpose: 3, vflip: true, hflip: true };
const FONT = { url: `${AT}/f.ttf` };
const BOX = { size: 8, position: "top", margin: 10 };
const NAMED = { from: 2, role: "dub", name: "Müller", language: "de-AT" };
const MIXED = { from: [5, 6], map: [[1, 0.5], [0]] };
const WAV = `${AT}/fr.wav?k=1`;
const CROP = { x: 0, y: "12.5%", width: "100%", height: 16 };
const UPPER = { square: true, crop_focus: { x: 0.5, y: 1 } };
const TOP = { width: "50%", height: 90 };
const BLURRED = { square: true, fit: "crop", blur: 5 };
const scenes = (number: number, durationMs: number) => ({ by: "scenes", number, durationMs });
const LOUDNESS = { targetLufs: -16, truePeakDb: -1, toleranceLu: 0.2 };
const OUTPUT = { index: 0, condition: null };
const VIDEO = { ...UNCHANGED, ...OUTPUT, offsetMs: 0, durationMs: null, deinterlace: false, captions: "keep" };
const numbered = (number: number) => ({ by: "number", number });
const IMAGE = { ...UNCHANGED, ...OUTPUT, selection: numbered(1), square: false, sprite: null, vtt: null };
const RATED = "mp4:720p::quality=vmaf93";
const HTTPSTREAM = { captions: "keep", type: "httpstream", format: "httpstream", key: "httpstream" };
const PLAIN = { hls: null, dash: null, variants: [formatOf("mp4")], dropsLargerVariants: false, encryption: null };
const PLAYED = {
  playlistName: "master",
  segmentDurationMs: 6000,
  subtitles: [],
  thumbnails: false,
  livePlaylist: false,
};
const STREAM = { ...OUTPUT, ...HTTPSTREAM, ...PLAIN, ...PLAYED };
const variantsOf = (...formats: string[]) => ({ variants: formats.map(formatOf) });
const TS = { segments: "mpegts", muxed: false };
const HLS = { path: "h", ...TS };
const DASH = { path: "d", hlsFmp4: false };
const HEVC = "mp4:hevc_720p:x";
const KEY = "00112233445566778899AABBCCDDEEFF";
const ENGLISH = { url: `${AT}/en.vtt`, language: "en", name: "English", default: true };
const FRENCH = { url: `${AT}/fr.vtt`, language: "fr-CA" };
const SIGNS = { from: 2, language: "de", forced: false, kind: "captions", optional: true };
const FMP4 = { ...HLS, segments: "fmp4" };
const SPOKEN = { from: "speech", language: "de-AT", kind: "subtitles" };
const stream = (params: object) => ({ httpstream: { variants: ["mp4"], ...params } });

describe("parseOutputs", () => {
  it.each<[string, object, object]>([
    ["mp4:720p", { path: "/a//b.mp4" }, { path: "a/b.mp4" }],
    ["mp3", { path: "a.mp3", offset: 1.5, duration: 2 }, { path: "a.mp3", offsetMs: 1500, durationMs: 2000 }],
    ["webm:vp9", { ...TURNED, if: "{{ input.width }} > 1" }, { ...TURNED, condition: "{{ input.width }} > 1" }],
    ["mp4", { deinterlace: true }, { deinterlace: true }],
    ["mp4:90x160", { fit: "blur", crop: CROP }, { fit: "blur", crop: CROP }],
    ["mp4:x90", { pad_color: "#A0B0C0", crop: TOP }, { pad_color: "#a0b0c0", crop: { x: 0, y: 0, ...TOP } }],
    ["mp4:90x90", { fit: "crop", crop_focus: { x: "0.2" } }, { fit: "crop", crop_focus: { x: 0.2, y: 0.5 } }],
    ["mp4", { watermark: { url: `${AT}/ü.png` } }, { watermark: { url: `${AT}/%C3%BC.png`, position: "bottomright" } }],
    ["mp4:copy:x", { watermark: false, vflip: false, captions: "keep" }, {}],
    ["mp4:hevc", { captions: "drop" }, { captions: "drop" }],
    ["mp4", { loudness: -16 }, { loudness: LOUDNESS }],
    ["mkv", { subtitles: "all" }, { subtitles: "all" }],
    ["mp4", { subtitles: [] }, {}],
    ["m4a", { subtitles: [{ from: 1 }] }, { subtitles: [{ from: 1 }] }],
    ["mp4:copy", { subtitles: [{ from: "en" }] }, { subtitles: [{ from: "en" }] }],
    ["mkv", { subtitles: [{ from: "cc4" }] }, { subtitles: [{ from: "cc4" }] }],
    ["mkv", { subtitles: [SPOKEN] }, { subtitles: [SPOKEN] }],
    ["mp4", { burn: CUES }, burnt()],
    ["mp4", { burn: { from: "en", optional: true } }, burnt({}, { from: "en", optional: true })],
    ["mp4", { burn: { from: 1, shift: -1.5 } }, burnt({}, { from: 1, shiftMs: -1500 })],
    ["mp4", { burn: { from: 1, keep_style: false } }, burnt({}, { from: 1, keepsStyle: false })],
    ["mp4", { burn: { ...CUES, font: "Noto Sans JP" } }, burnt({ font: { name: "Noto Sans JP" } })],
    ["mp4", { burn: { ...CUES, ...BOX, font: FONT } }, burnt({ ...BOX, font: FONT })],
    ["mp4", { burn: { ...CUES, color: "#FFEE00", outline: 0 } }, burnt({ color: "#ffee00", outline: 0 })],
    ["mp4", { burn: { ...CUES, outline_color: "#00000080" } }, burnt({ outlineColor: "#00000080" })],
    ["mp4", { burn: { ...CUES, background: "#000000A0" } }, burnt({ background: "#000000a0" })],
    ["mp3", { loudness: "-16" }, { loudness: LOUDNESS }],
    ["mp3", { loudness: { target: -16 } }, { loudness: LOUDNESS }],
    ["mp3", { loudness: "measure" }, { loudness: { ...LOUDNESS, targetLufs: null } }],
    ["mp4", { audio: "all" }, { audioTracks: "all" }],
    ["mkv:720p", { audio: [{ from: "ger" }, NAMED] }, { audioTracks: [track({ from: "de" }), track(NAMED)] }],
    ["mkv", { audio: [{ from: 2, offset: -0.04 }] }, { audioTracks: [track({ from: 2, offsetMs: -40 })] }],
    ["mkv", { audio: [{ from: 2, default: true }] }, { audioTracks: [track({ from: 2, isDefault: true })] }],
    ["mkv", { audio: [{ ...MIXED, optional: true }] }, { audioTracks: [track({ ...MIXED, isOptional: true })] }],
    [
      "mkv",
      { audio: [{ from: 2, format: "ac3_384k" }] },
      { audioTracks: [track({ from: 2, format: audio("ac3", 384) })] },
    ],
    ["mkv", { audio: [{ url: WAV, format: "copy" }] }, { audioTracks: [track({ url: WAV, format: audio("copy") })] }],
    ["mp3", { audio: [{ from: 2 }] }, { audioTracks: [track({ from: 2 })] }],
    ["wav", { loudness: { target: -16, true_peak: -2 } }, { loudness: { ...LOUDNESS, truePeakDb: -2 } }],
    ["wav", { loudness: { target: -16, tolerance: 1 } }, { loudness: { ...LOUDNESS, toleranceLu: 1 } }],
  ])("reads a file %s with %j", (format, params, expected) => {
    const file = { ...VIDEO, path: "a", key: format, format, ...formatOf(format) };
    expect(parse({ [format]: { path: "a", ...params } })).toEqual([{ ...file, ...expected }]);
  });

  it.each<[string, object, object]>([
    ["jpg:300x", { path: "a.jpg" }, { path: "a.jpg" }],
    ["jpg", { path: "%02d.jpg", number: 3, ...BLURRED }, { path: "%02d.jpg", selection: numbered(3), ...BLURRED }],
    ["png", { path: "a.png", burn: CUES }, { path: "a.png", ...burnt() }],
    ["png", { path: "a.png", offsets: [2.5] }, { path: "a.png", selection: { by: "offsets", offsetsMs: [2500] } }],
    ["jpg", { path: "%d.jpg", interval: 0 }, { path: "%d.jpg", selection: { by: "interval", intervalMs: null } }],
    ["jpg", { path: "%d.jpg", interval: 10 }, { path: "%d.jpg", selection: { by: "interval", intervalMs: 10_000 } }],
    ["jpg:120x", { path: "t/i.jpg", sprite: true }, { path: "t/i.jpg", sprite: { limit: null, columns: 4 } }],
    ["webp", { path: "a_%.2d.webp", sprite: { limit: 5 } }, { path: "a_%.2d.webp", sprite: { limit: 5, columns: 4 } }],
    ["jpg:120x", { path: "t/i.jpg", vtt: true }, { path: "t/i.jpg", vtt: { path: "t/i.vtt" } }],
    ["webp", { path: "t/a.webp", vtt: { filename: "b.VTT" } }, { path: "t/a.webp", vtt: { path: "t/b.VTT" } }],
    ["avif", { path: "t/a_%.2d.avif", vtt: true }, { path: "t/a_%.2d.avif", vtt: { path: "t/a.vtt" } }],
    ["jpg", { path: "t/%02d/a", vtt: true }, { path: "t/%02d/a", vtt: { path: "t/a.vtt" } }],
    ["jpg", { path: "%02d.jpg", vtt: {}, sprite: false }, { path: "%02d.jpg", vtt: { path: "images.vtt" } }],
    ["gif:9x", { path: "a", square: true, crop_focus: { y: 1 } }, { path: "a", selection: scenes(1, 5000), ...UPPER }],
    ["gif", { path: "a.gif" }, { path: "a.gif", selection: scenes(1, 5000) }],
    ["webp_anim:500x", { path: "a", scene: { number: 10, duration: 1 } }, { path: "a", selection: scenes(10, 1000) }],
    ["webp_anim:500x", { path: "a", square: true }, { path: "a", selection: scenes(1, 5000), square: true }],
  ])("reads images %s with %j", (format, params, expected) => {
    expect(parse({ [format]: params })).toEqual([{ ...IMAGE, key: format, format, ...formatOf(format), ...expected }]);
  });

  it.each<[object, object]>([
    [{ hls: { path: "/" } }, { hls: { path: "", ...TS } }],
    [{ loudness: -16 }, { loudness: LOUDNESS }],
    [{ burn: CUES }, burnt()],
    [{ captions: "drop" }, { captions: "drop" }],
    [{ crop: CROP }, { crop: CROP }],
    [
      { fit: "blur", variants: ["mp4:90x160", "mp4:x"] },
      { fit: "blur", ...variantsOf("mp4:90x160", "mp4:x") },
    ],
    [{ path: "/video/", hls: { path: "hls/" } }, { hls: { path: "video/hls", ...TS } }],
    [
      { path: "/a/", dash: { path: "/b", hlsfmp4: true }, key: "s" },
      { dash: { path: "a/b", hlsFmp4: true }, key: "s" },
    ],
    [
      { dash: { path: "d" }, playlist_name: "index" },
      { dash: DASH, playlistName: "index" },
    ],
    [
      { dash: { path: "d" }, segment_duration: 4 },
      { dash: DASH, segmentDurationMs: 4000 },
    ],
    [
      { dash: { path: "d" }, variants: ["mp4:x:64k", HEVC] },
      { dash: DASH, ...variantsOf("mp4:x:64k", HEVC) },
    ],
    [
      { encryption: { key: KEY, key_uri: "/key?id=1" } },
      { encryption: { key: KEY.toLowerCase(), keyUri: "/key?id=1" } },
    ],
    [{ encryption: { key_uri: `${AT}/1` } }, { encryption: { key: null, keyUri: `${AT}/1` } }],
    [{ subtitles: [ENGLISH] }, { subtitles: [ENGLISH] }],
    [{ subtitles: [FRENCH] }, { subtitles: [{ ...FRENCH, name: "fr-CA", default: false }] }],
    [{ subtitles: [{ ...SIGNS, shift: "-1.25" }] }, { subtitles: [{ ...SIGNS, shiftMs: -1250 }] }],
    [{ subtitles: [{ from: 2, name: "O\u0308l" }] }, { subtitles: [{ from: 2, name: "\u00D6l" }] }],
    [{ subtitles: [{ from: "en-GB", optional: false, shift: 0 }] }, { subtitles: [{ from: "en-GB" }] }],
    [{ subtitles: "all" }, { subtitles: "all" }],
    [{ subtitles: [SPOKEN, { from: "speech" }] }, { subtitles: [SPOKEN, { from: "speech" }] }],
    [{ thumbnails: true }, { thumbnails: true }],
    [{ hls: { path: "h", playlist_name: "index" } }, { playlistName: "index" }],
    [{ dash: { path: "d", playlist_name: "index" } }, { dash: DASH, playlistName: "index" }],
    [
      { dash: { path: "d", playlist_name: "i" }, playlist_name: "i" },
      { dash: DASH, playlistName: "i" },
    ],
    [{ variants: ["mp4:hevc", "mp4:720p"] }, variantsOf("mp4:hevc", "mp4:720p")],
    [{ variants: ["mp4:x:64k"] }, variantsOf("mp4:x:64k")],
    [{ variants: ["mp4:hevc", "mp4:x"] }, { hls: { ...HLS, segments: "fmp4" }, ...variantsOf("mp4:hevc", "mp4:x") }],
    [
      { variants: ["mp4:av1", "mp4:hevc:opus", "mp4:x"] },
      { hls: FMP4, ...variantsOf("mp4:av1", "mp4:hevc:opus", "mp4:x") },
    ],
    [{ variants: ["mp4:720p:opus", "mp4:x:ac3"] }, { hls: FMP4, ...variantsOf("mp4:720p:opus", "mp4:x:ac3") }],
    [{ variants: ["mp4:vp9", "mp4:720p:copy"] }, variantsOf("mp4:vp9", "mp4:720p:copy")],
    [{ hls: { path: "h", segments: "fmp4" } }, { hls: FMP4 }],
    [{ hls: { path: "h", segments: "mpegts" } }, {}],
    [{ hls: { path: "h", version: 3 } }, { hls: { ...HLS, muxed: true } }],
    [{ hls: { path: "h", version: 7 } }, {}],
    [{ live_playlist: true }, { livePlaylist: true }],
    [
      { variants: [RATED], drop_similar_variants: true },
      { ...variantsOf(RATED), dropsSimilarVariants: true },
    ],
    [{ drop_similar_variants: false }, {}],
    [
      { variants: [RATED], drop_larger_variants: true },
      { ...variantsOf(RATED), dropsLargerVariants: true },
    ],
  ])("reads a stream with %j", (params, expected) => {
    const packages = "dash" in params ? {} : { hls: { path: "h" } };
    const hls = "dash" in params ? null : HLS;
    expect(parse(stream({ ...packages, ...params }))).toEqual([{ ...STREAM, hls, ...expected }]);
  });

  it("reads files of text", () => {
    const srt = { path: "a.srt", from: "en", optional: true, shift: 1 };
    expect(parse({ srt, vtt: { path: "a.vtt", from: 2, optional: false } })).toMatchObject([
      { type: "text", container: "srt", text: { from: "en", optional: true, shiftMs: 1000 } },
      { type: "text", container: "vtt", text: { from: 2 } },
    ]);
  });

  const OPUS = ["mp4", "mp4:x:opus"];
  const OWN = [{ from: 1, format: "opus_64k" }];
  it.each<[object, RegExp]>([
    [{ hls: { path: "h", segments: "ts" } }, /`outputs.httpstream.hls.segments` must be one of mpegts, fmp4/],
    [{ variants: ["mp4:vp8"] }, /does not support the video codec `vp8`/],
    [
      { variants: ["mp4:mpeg4"] },
      /allowed: mp4 with h264, hevc, vp9, av1 or novideo, and aac, opus, flac, ac3, copy or/,
    ],
    [{ variants: ["mp4:720p:mp3"] }, /`mp4:720p:mp3` is not supported in streams/],
    [{ variants: ["webm:vp9"] }, /not supported in streams/],
    [{ variants: ["mp4:copy:aac"] }, /not supported in streams/],
    [
      { variants: [...OPUS, "mp4:x:ac3"] },
      /`outputs.httpstream.variants` must have at most two audio codecs, not aac, opus, ac3/,
    ],
    [
      { variants: ["mp4:av1"], hls: { path: "h", segments: "mpegts" } },
      /`outputs.httpstream.hls.segments` mpegts leaves out all/,
    ],
    [
      { hls: { path: "h", segments: "fmp4" }, encryption: { key_uri: "k" } },
      /`outputs.httpstream.encryption` requires MPEG-TS/,
    ],
    [{ variants: ["mp4:av1"], encryption: { key_uri: "k" } }, /`outputs.httpstream.encryption` requires MPEG-TS/],
    [{ variants: ["mp4:vp9"], hls: { path: "h", version: 3 } }, /`outputs.httpstream.hls.version` 3 requires MPEG-TS/],
    [{ variants: ["mp4:720p:copy"], loudness: -16 }, /`outputs.httpstream.loudness` requires audio that is encoded/],
    [{ variants: ["mp4", "mp4:x:copy"], audio: "all" }, /`outputs.httpstream.audio` requires audio that is encoded/],
    [{ variants: OPUS, audio: OWN }, /`outputs.httpstream.audio.0.format` must be left out, because the variants/],
    [{ audio: OWN }, /`outputs.httpstream.audio.0.format` must be aac in streams, like the audio of the variants/],
  ])("refuses a stream with %j", (params, message) => {
    const parsed = parseOutputs(stream({ hls: { path: "h" }, ...params }), "none");
    const code = expect.stringMatching(/^output_(?:param|format)_not_valid$/);
    expect(parsed).toEqual({ ok: false, error: { code, message: expect.stringMatching(message) } });
  });

  it("uses the default ladder when no variants are given", () => {
    const named = { format: "HTTPStream", key: "HTTPStream", hls: HLS };
    const ladder = { ...variantsOf(...DEFAULT_LADDER), dropsLargerVariants: true };
    expect(parse({ HTTPStream: { hls: { path: "h" } } })).toEqual([{ ...STREAM, ...named, ...ladder }]);
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
  const S = { path: "s" };
  const A_WHEN = { path: "a", ...when };
  it.each<[object, RegExp | null]>([
    [{ mp4: { path: "a", ...when }, "mp4:720p": { path: "a", ...when } }, null],
    [{ jpg: { path: "%d.jpg", number: 9, ...when }, "jpg:2x2": { path: "2.jpg", ...when } }, null],
    [{ httpstream: [S, S].map((hls) => ({ hls, ...when })) }, null],
    [{ mp4: A_WHEN, "mp4:720p": { path: "a" } }, /^The outputs `mp4` and `mp4:720p` would both write `a`/],
    [{ mp4: { path: "a", ...when }, "mp4:720p": { path: "a" } }, /give them different paths, or conditions/],
    [{ jpg: { path: "a.vtt", vtt: true, ...when } }, /^The output `jpg` would write `a.vtt` twice/],
    [{ httpstream: { hls: { path: "s" }, dash: { path: "s" } } }, null],
    [{ httpstream: { hls: { path: "s" }, dash: { path: "s", hlsfmp4: true } } }, /write `s\/master.m3u8` twice/],
    [{ httpstream: { path: "s", hls: { path: "h" } }, mp4: { path: "s/h/master.m3u8" } }, /`s\/h\/master.m3u8`/],
    [{ httpstream: [{ hls: S }, { dash: S, playlist_name: "b" }] }, /both write segments into the folder `s`/],
    [{ httpstream: [{ hls: { path: "s" } }, { dash: { path: "d" } }] }, null],
    [{ httpstream: { hls: { path: "s" }, dash: { path: "s" }, thumbnails: true } }, null],
    [
      { httpstream: { hls: S, thumbnails: true }, jpg: { path: "s/master.jpg", vtt: true } },
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
      const { properties = {}, ...made } = z.toJSONSchema(schema, { io: "input", unrepresentable: "any" });
      expect(made).toMatchObject({ type: "object", additionalProperties: false });
      const fields = Object.entries(properties);
      expect(fields.filter(([, field]) => typeof field === "object" && !field.description)).toEqual([]);
    },
  );
});
