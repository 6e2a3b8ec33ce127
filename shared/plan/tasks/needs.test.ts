import fc from "fast-check";
import { expect, test } from "vitest";
import type { OutputSpec } from "../../job/output-spec.ts";
import type { MediaProbe, ProbedStream } from "../../media/media-probe.ts";
import { valuesOf } from "../../parameters/parameter.ts";
import { frameParameters, videoParameters } from "../../parameters/plain-parameters.ts";
import { HARDWARE_NAMES, type HardwareName } from "../../protocol/capabilities.ts";
import type { Need } from "../../protocol/needs.ts";
import { formatSpecs } from "../../testing/arbitrary-format.ts";
import { probeOf } from "../../testing/frame-indexes.ts";
import { type OutputOptions, specOf } from "../../testing/output-specs.ts";
import type { FfmpegCapabilities } from "../command/capabilities.ts";
import { ALL_SOFTWARE } from "../encoders/software-encoders.ts";
import { describeNeeds, missingNeeds, needsOf } from "./needs.ts";
import { planEncode } from "./plan-encode.ts";

const watermark = { url: "https://example.com/logo.png", position: "topleft" };

/** The source of `probeOf`, with other fields of its video. */
function withVideo(fields: Partial<ProbedStream>, rate = "25/1"): MediaProbe {
  const { streams, format } = probeOf(rate);
  return { format, streams: streams.map((stream, at) => (at === 0 ? { ...stream, ...fields } : stream)) };
}

/** With a track of images in English. */
function withBitmaps(codec_name: string): MediaProbe {
  const { streams, format } = probeOf("25/1");
  const track = { index: 9, codec_type: "subtitle", codec_name, tags: { language: "eng" } };
  return { format, streams: [...streams, track] };
}

const PQ = { color_primaries: "bt2020", color_transfer: "smpte2084", color_space: "bt2020nc", pix_fmt: "yuv420p10le" };
const ONLY_AUDIO = { ...probeOf("25/1"), streams: probeOf("25/1").streams.slice(1) };
const PROBES: readonly MediaProbe[] = [
  probeOf("25/1"),
  probeOf("varying"),
  withVideo(PQ),
  withVideo({ field_order: "tt", width: 101, height: 99 }),
  withVideo({ pix_fmt: "yuva420p" }),
  ONLY_AUDIO,
];

const X264 = "encoder libx264 h264_nvenc h264_qsv h264_vaapi h264_videotoolbox";
const IMAGES = ["filter fps", "filter tpad"];
const AAC = "encoder aac";
const textOf = (need: Need): string => [need.kind, ...need.anyOf].join(" ");

const ROWS: [outputs: OutputOptions[], probe: MediaProbe | null, ...needs: string[]][] = [
  [[{ format: "mp4" }], probeOf("25/1"), AAC, X264],
  [[{ format: "mp4" }, { format: "mp4:480p" }], null, AAC, X264],
  [[{ format: "mp4" }], ONLY_AUDIO],
  [[{ format: "mp4:::quality=vmaf93" }], ONLY_AUDIO],
  [[{ format: "mp4::x:quality=vmaf93" }], null, "encoder libx264", "filter libvmaf"],
  [[{ format: "mp4:copy:copy" }], null],
  [[{ format: "mp4:copy:copy", params: { audio: "all" } }], null],
  [[{ format: "mp4", params: { audio: [{ from: "it" }] } }], probeOf("25/1")],
  [[{ format: "mp4:copy:copy", params: { subtitles: "all" } }], null, "muxer webvtt"],
  [[{ format: "srt", params: { from: 1 } }], null, "muxer webvtt"],
  [[{ format: "srt", params: { from: "speech", language: "de" } }], null, "feature speech", "muxer webvtt"],
  [[{ format: "srt", params: { from: "speech" } }], { ...ONLY_AUDIO, streams: [] }, "muxer webvtt"],
  [[{ format: "mp4:copy:copy", params: { subtitles: [{ from: "speech" }] } }], null, "feature speech", "muxer webvtt"],
  [[{ format: "mp4:::level=41" }], null, AAC, "encoder libx264"],
  [[{ format: "webm:av1_2000k:x:2pass" }, { format: "webm:av1:x" }], null, "encoder libaom-av1"],
  [[{ format: "avif" }], null, "encoder libaom-av1", "muxer avif", ...IMAGES],
  [[{ format: "gif:100x" }], null, "encoder gif", "filter palettegen", "filter paletteuse", ...IMAGES],
  [[{ format: "jpg:100x", params: { blur: 3 } }], null, "encoder mjpeg", "filter gblur", ...IMAGES],
  [
    [{ format: "mp4::x", params: { watermark, deinterlace: true } }],
    null,
    X264,
    "filter bwdif yadif",
    "filter overlay",
  ],
  [
    [{ format: "mp4::x", params: { burn: { url: "https://example.com/a.vtt", font: "Noto Sans JP" } } }],
    null,
    X264,
    "filter fps",
    "filter subtitles",
    "font Noto Sans JP",
  ],
  [
    [{ format: "jpg:100x", params: { burn: { from: "en" } } }],
    null,
    "encoder mjpeg",
    ...IMAGES,
    "filter subtitles",
    "muxer webvtt",
  ],
  [
    [{ format: "mp4::x", params: { burn: { from: "en" } } }],
    withBitmaps("hdmv_pgs_subtitle"),
    ...["decoder pgssub", X264, "filter fps", "filter movie", "filter overlay"],
  ],
  [[{ format: "mp4::x" }], withVideo(PQ), X264, "filter tonemap", "filter zscale"],
  [
    [{ format: "httpstream", params: { hls: { path: "h" }, variants: ["mp4::x"], subtitles: "all" } }],
    null,
    ...[X264, "muxer webvtt"],
  ],
  [
    [{ format: "httpstream", params: { hls: { path: "h" }, thumbnails: true } }],
    null,
    ...[AAC, X264, "encoder mjpeg", "filter tile", ...IMAGES],
  ],
];
test.each(ROWS.map(([outputs, probe, ...needs]) => ({ outputs, probe, needs })))(
  "$outputs",
  ({ outputs, probe, needs: expected }) => {
    expect(needsOf(outputs.map(specOf), probe).map(textOf)).toEqual(expected.toSorted());
  },
);

test("describes missing needs", () => {
  const capabilities = { ...ALL_SOFTWARE, encoders: ["libx264", "aac"], filters: [] };
  const missing = (options: OutputOptions, probe = probeOf("25/1")): string =>
    describeNeeds(missingNeeds(needsOf([specOf(options, 0)], probe), capabilities));
  expect(missing({ format: "mp4" })).toBe("");
  expect(missing({ format: "mp4:av1" })).toBe("libsvtav1 or libaom-av1");
  expect(missing({ format: "mp4:av1:opus" }, withVideo(PQ))).toBe(
    "libopus, libsvtav1 or libaom-av1, filter tonemap, and filter zscale",
  );
  const spoken = { format: "vtt", params: { from: "speech" } };
  expect(missing(spoken)).toBe("speech recognition (--speech)");
  const av1: FfmpegCapabilities = { ...capabilities, hardware: { name: "nvenc", path: null, encoders: ["av1_nvenc"] } };
  expect(missingNeeds(needsOf([specOf({ format: "mp4:av1" }, 0)], null), av1)).toEqual([]);
});

const TABLE: readonly OutputOptions[] = [
  { format: "webm:av1_64x", params: { deinterlace: true } },
  { format: "mp4:hevc_480p", params: { watermark, vflip: true, transpose: 1 } },
  { format: "jpg:320x", number: 3, params: { blur: 2, sprite: { limit: 4, columns: 2 } } },
  { format: "gif:100x" },
  { format: "png:100x", params: { watermark, fit: "crop" } },
  {
    format: "httpstream",
    params: { hls: { path: "h" }, dash: { path: "d" }, thumbnails: true, variants: ["mp4:hevc_100x", "mp4:hevc_720p"] },
  },
];

const base = { index: 0, key: "k", format: "f", condition: null, path: "p" };
const plain = { ...valuesOf({ ...frameParameters, ...videoParameters }), watermark: null };

/** An output of each valid format, and outputs with parameters that need filters. */
const outputSpecs: fc.Arbitrary<OutputSpec> = fc.oneof(
  fc.constantFrom(...TABLE.map(specOf)),
  formatSpecs.map(
    (format): OutputSpec =>
      format.type === "video"
        ? { ...base, ...plain, ...format, offsetMs: 0, durationMs: null }
        : {
            ...base,
            ...plain,
            ...format,
            selection: { by: "number", number: 2 },
            square: false,
            sprite: null,
            vtt: null,
          },
  ),
);

const lacksFeature = (outputs: readonly OutputSpec[], probe: MediaProbe, capabilities: FfmpegCapabilities): boolean =>
  planEncode({ source: "/in", probe, outputs, capabilities }).failures.some(
    ({ failure }) => failure.code === "encoder_not_available",
  );

/** A node with a single name of each need and nothing else, on hardware where `hardware` has the encoder. */
function barely(needs: readonly Need[], hardware: HardwareName, pick: number): FfmpegCapabilities {
  const names = (kind: Need["kind"]): string[] =>
    needs.filter((need) => need.kind === kind).map(({ anyOf }) => anyOf[pick % anyOf.length] ?? "");
  const isHardware = (name: string): boolean => HARDWARE_NAMES.some((other) => name.endsWith(`_${other}`));
  const encoders = needs.flatMap(({ kind, anyOf }) => {
    if (kind !== "encoder") return [];
    const inHardware = anyOf.find((name) => name.endsWith(`_${hardware}`));
    const inSoftware = anyOf.filter((name) => !isHardware(name));
    return pick % 2 === 1 && inHardware ? [inHardware] : [inSoftware[pick % inSoftware.length] ?? ""];
  });
  return {
    encoders: encoders.filter((name) => !isHardware(name)),
    filters: names("filter"),
    muxers: names("muxer"),
    hardware: { name: hardware, path: null, encoders: encoders.filter(isHardware) },
  };
}

/** A node with everything, except all names of a need. */
function without({ anyOf }: Need, name: HardwareName): FfmpegCapabilities {
  const rest = (names: readonly string[]): string[] => names.filter((other) => !anyOf.includes(other));
  const encoders = rest(["h264", "hevc", "av1"].map((codec) => `${codec}_${name}`));
  const { filters, muxers } = ALL_SOFTWARE;
  return {
    encoders: rest(ALL_SOFTWARE.encoders),
    filters: rest(filters),
    muxers: rest(muxers),
    hardware: { name, path: null, encoders },
  };
}

test("only nodes that meet all needs can make the outputs", () => {
  const jobs = fc.record({
    outputs: fc.array(outputSpecs, { minLength: 1, maxLength: 3 }),
    probe: fc.constantFrom(...PROBES),
    hardware: fc.constantFrom(...HARDWARE_NAMES),
    pick: fc.nat(5),
  });
  fc.assert(
    fc.property(jobs, ({ outputs, probe, hardware, pick }) => {
      const needs = needsOf(outputs, probe);
      expect(lacksFeature(outputs, probe, barely(needs, hardware, pick))).toBe(false);
      expect(missingNeeds(needs, barely(needs, hardware, pick))).toEqual([]);
      // Outputs with a VMAF need libvmaf even if their plan does not.
      for (const need of needs.filter(({ anyOf }) => !anyOf.includes("libvmaf")))
        expect([need, lacksFeature(outputs, probe, without(need, hardware))]).toEqual([need, true]);
    }),
    { numRuns: 200 },
  );
});
