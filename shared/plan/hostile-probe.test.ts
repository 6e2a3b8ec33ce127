// A node must not control ffmpeg on other nodes. No text of a probe may get into a plan.

import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { MediaProbe, type ProbedStream } from "../media/media-probe.ts";
import { evenly, frameIndexOf, probeOf } from "../testing/frame-indexes.ts";
import { type OutputOptions, specOf } from "../testing/output-specs.ts";
import { planOf } from "../testing/probes.ts";
import { chunkSpans } from "./chunks/choose-split-points.ts";
import { chunkableSource } from "./chunks/chunkable-source.ts";
import type { FfmpegCapabilities } from "./command/capabilities.ts";
import { checkedArguments } from "./command/checked-arguments.ts";
import { branchGraph } from "./command/filter-graph.ts";
import type { PlannedRun } from "./command/planned-run.ts";
import { ALL_SOFTWARE } from "./encoders/software-encoders.ts";
import { isEncodedVideo } from "./outputs/plan-file.ts";
import { planQuality } from "./quality/plan-quality.ts";
import { measuredTracks } from "./quality/renditions.ts";
import { chooseTracks } from "./source/source-tracks.ts";
import { planAudio } from "./tasks/plan-audio.ts";
import { planChunk } from "./tasks/plan-chunk.ts";
import { planEncode } from "./tasks/plan-encode.ts";
import { planJoin } from "./tasks/plan-join.ts";
import { planProbe, planSample, planSearch } from "./vmaf/plan-probes.ts";

const watermark = { url: "https://example.com/logo.png", position: "topleft" };
const ENCODES: readonly OutputOptions[] = [
  { format: "mp4:480p", params: { watermark } },
  { format: "mkv:h264_360p::pix_fmt=yuv420p10le", params: { watermark } },
  { format: "mov:prores" },
  { format: "mp4:copy" },
  { format: "webm:vp9_240p:opus:2pass", params: { offset: 3, duration: 5, deinterlace: true } },
  { format: "mp3" },
  { format: "mkv", params: { audio: "all" } },
  { format: "mp4", params: { audio: [{ from: 1, map: [[1]], offset: 1 }] } },
  { format: "jpg:320x", number: 3 },
  { format: "gif:100x" },
  { format: "png:100x", params: { offsets: [1, 2] } },
  { format: "httpstream", params: { hls: { path: "h" }, dash: { path: "d" }, thumbnails: true } },
];
const CHUNKED: readonly OutputOptions[] = [
  { format: "mp4:480p", params: { watermark } },
  { format: "httpstream", params: { hls: { path: "h" }, audio: "all" } },
];

const ENCODE_SPECS = ENCODES.map(specOf);
const CHUNK_SPECS = CHUNKED.map(specOf);
const MEASURED_SPECS = CHUNKED.map((options, index) => specOf({ ...options, measuresQuality: true }, index));
const SOURCE = chunkableSource(frameIndexOf(evenly(30, 90)), probeOf("30/1"));
const SPAN = chunkSpans(SOURCE, SOURCE.splitPoints.filter(({ frameUs }) => frameUs >= 3e7).slice(0, 1))[1];

const VAAPI: FfmpegCapabilities = {
  ...ALL_SOFTWARE,
  hardware: { name: "vaapi", path: "/dev/dri/renderD128", encoders: ["h264_vaapi", "hevc_vaapi"] },
};

/** All arguments of all plans that are possible for a probe. */
function argumentsOf(probe: MediaProbe): string[] {
  if (!SPAN) throw new Error("No such chunk");
  const request = { source: "/in", probe, outputs: CHUNK_SPECS };
  const encodes = ENCODE_SPECS.flatMap((spec) =>
    [ALL_SOFTWARE, VAAPI].flatMap(
      (capabilities) => planEncode({ source: "/in", probe, outputs: [spec], capabilities }).commands,
    ),
  );
  const chunk = planChunk({ ...request, capabilities: ALL_SOFTWARE, chunk: SPAN });
  const joins = chunk.failures.length > 0 ? [] : [planJoin({ ...request, capabilities: ALL_SOFTWARE })];
  const commands = [...encodes, chunk.command, planAudio({ ...request, capabilities: ALL_SOFTWARE }).command, ...joins];
  return [...commands.flatMap((command) => command?.runs ?? []), ...measurements(probe), ...searches(probe)].flatMap(
    ({ argv }) => argv,
  );
}

function measurements(probe: MediaProbe): PlannedRun[] {
  const how = { source: "/in", made: "/made", capabilities: ALL_SOFTWARE, perSecond: 4, threads: 2 };
  const tracks = MEASURED_SPECS.flatMap((spec) => measuredTracks(spec, chooseTracks(probe), ALL_SOFTWARE));
  return tracks.flatMap((track) => {
    const planned = planQuality({ ...how, ...track, probe });
    return planned.ok ? [planned.value.run] : [];
  });
}

function searches(probe: MediaProbe): PlannedRun[] {
  const output = specOf({ format: "mp4:480p::quality=vmaf93" }, 0);
  if (output.type !== "video" || !output.video || !isEncodedVideo(output.video)) throw new Error("not a video");
  const source = chooseTracks(probe);
  const planned = planSearch({ output, video: output.video }, "q0", source, ALL_SOFTWARE);
  if (!planned.ok) return [];
  const window = { fromMs: 1000, lengthMs: 1000, earlierMs: 500 };
  const sample = planSample([planned.value], 0, window, { inputs: { source: "/in" }, tracks: source });
  const how = { folder: "/work", samples: [0], threads: 2, source, capabilities: ALL_SOFTWARE };
  const { encode, measure } = planProbe(planned.value, 23, how);
  return [sample, encode, measure];
}

/** Part of each hostile text, so that the test finds the text anywhere in a plan. */
const NEEDLE = "h0st1le";
const hostile = fc
  .tuple(
    fc.constantFrom("", "bt709", "tv", "h264", "stereo", "1", "30/1", "mov", "yuv420p", "/dev/dri/"),
    fc.constantFrom(",nullsink;movie=filename=", ":", "'", "\\", "]", "[", "=", "\n", " -y ", "|", "../", "\0", ""),
    fc.constantFrom("", "/etc/passwd", ",metadata=mode=print:file=/x", "\\\\\\'"),
  )
  .map(([before, joint, after]) => `${before}${joint}${NEEDLE}${after}`);

const NUMBER = fc.constantFrom(..."0 -1 1e308 NaN 60.5 30000/1001 25/1 90000/1 4:3 99999999999".split(" "));
const text = (...honest: string[]) =>
  fc.option(fc.oneof(hostile, NUMBER, fc.constantFrom(...honest)), { nil: undefined });
const object = fc.dictionary(fc.oneof(hostile, fc.constantFrom("rotate", "DURATION", "timecode")), hostile, {
  maxKeys: 3,
});

const stream = (index: number, type: string): fc.Arbitrary<unknown> =>
  fc.record({
    index: fc.constant(index),
    codec_type: fc.oneof({ weight: 9, arbitrary: fc.constant(type) }, { weight: 1, arbitrary: hostile }),
    codec_name: text("h264", "prores", "gif", "aac"),
    codec_tag_string: text("avc1"),
    profile: text("High"),
    width: fc.constantFrom(640, 1920, 1, 7),
    height: fc.constantFrom(360, 1080, 1, 576),
    channels: fc.constantFrom(0, 1, 2, 6, 11),
    channel_layout: text("stereo", "5.1(side)", "quad"),
    sample_rate: text("48000", "8000"),
    sample_aspect_ratio: text("1:1"),
    pix_fmt: text("yuv420p", "yuva444p10le", "rgb24", "yuvj420p"),
    field_order: text("tt", "progressive"),
    color_range: text("tv", "pc"),
    color_space: text("bt709", "bt2020nc", "gbr"),
    color_transfer: text("smpte2084", "bt709", "arib-std-b67"),
    color_primaries: text("bt2020", "bt709"),
    chroma_location: text("left"),
    r_frame_rate: text("30/1"),
    avg_frame_rate: text("30/1", "1000/1"),
    start_time: text("0.000000", "-1.5"),
    duration: text("60.0"),
    bit_rate: text("1000"),
    nb_frames: text("1800"),
    nb_read_packets: text("1800"),
    time_base: text("1/90000"),
    disposition: fc.constantFrom({}, { default: 1 }, { attached_pic: 1 }, { [NEEDLE]: 1 }),
    tags: object,
    side_data_list: fc.array(
      fc.record({
        rotation: fc.constantFrom(0, 90, -12.5),
        side_data_type: hostile,
        max_luminance: text("1000/1"),
        max_content: text("1000"),
      }),
      { maxLength: 2 },
    ),
  });

const probes = fc.record({
  streams: fc.oneof(
    fc.tuple(stream(0, "video"), stream(1, "audio")),
    fc.tuple(stream(0, "audio")),
    fc.tuple(stream(0, "video")),
  ),
  format: fc.record({
    filename: hostile,
    format_name: text("mov,mp4,m4a,3gp,3g2,mj2", "mpegts", "matroska,webm"),
    format_long_name: hostile,
    start_time: text("0.000000", "1.4"),
    duration: text("60.000000"),
    size: text("1000"),
    bit_rate: text("1000"),
    tags: object,
  }),
});

/** Unchecked probes may also make the planner throw. */
function argumentsOrThrow(probe: MediaProbe): string[] {
  try {
    return argumentsOf(probe);
  } catch (error) {
    expect(String(error)).toMatch(/No (?:filter|argument) of a plan/);
    return [];
  }
}

const RUNS = { numRuns: 60 };

test("the checked plans include all kinds of plans", () => {
  const all = argumentsOf(probeOf("30/1")).join("\n");
  for (const part of ["feature='name=psnr", "q0-sample-0.mkv", "n_subsample=3", "overlay=", "hls"])
    expect(all).toContain(part);
});

test("no argument of any plan contains a text of a probe, whether or not the probe was checked", () => {
  fc.assert(
    fc.property(probes, (probe) => {
      const checked = MediaProbe.safeParse(probe);
      const all = [...argumentsOrThrow(probe as MediaProbe), ...(checked.success ? argumentsOf(checked.data) : [])];
      expect(all.filter((argument) => argument.includes(NEEDLE))).toEqual([]);
    }),
    RUNS,
  );
});

describe("a filter in the name of a color", () => {
  const filters = ",nullsink;movie=filename=/secret:f=rawvideo,setparams=color_primaries=bt709";
  const rows: [keyof ProbedStream, string, OutputOptions][] = [
    ["color_primaries", `bt709${filters}`, { format: "png:16x16" }],
    ["color_primaries", "bt709,metadata=mode=print:file=/any/path", { format: "mp4:480p" }],
    ["color_transfer", `bt709${filters}`, { format: "mov:prores" }],
    ["color_space", `bt709${filters}`, { format: "mp4:480p" }],
  ];
  it.each(rows)("a filter in %s counts as a missing name: %s", (field, name, output) => {
    const source = probeOf("30/1");
    const [video, ...others] = source.streams.map((of) => ({ ...of, codec_name: "prores", color_range: "pc" }));
    const plan = (value: string | undefined) =>
      planOf({ ...source, streams: [{ ...video, index: 0, [field]: value }, ...others] }, [output]);
    expect(plan(name)).toEqual(plan(undefined));
    expect(JSON.stringify(plan(name))).toContain("setparams=");
  });
});

describe("a probe", () => {
  it("keeps texts as ffprobe prints them, and drops other texts without an error", () => {
    const honest = {
      index: 0,
      codec_type: "video",
      codec_name: "h264",
      codec_long_name: "H.264 / AVC / MPEG-4 AVC / MPEG-4 part 10",
      profile: "High 4:2:2 Intra",
      codec_tag_string: "[27][0][0][0]",
      pix_fmt: "yuv420p10le",
      field_order: "tt",
      color_space: "bt2020nc",
      color_primaries: "smpte432",
      color_transfer: "iec61966-2-1",
      color_range: "tv",
      r_frame_rate: "30000/1001",
      sample_aspect_ratio: "64:45",
      start_time: "-0.021333",
      nb_frames: "12",
      side_data_list: [{ side_data_type: "Display Matrix", displaymatrix: "\n00000000: 0 65536\n", rotation: -90 }],
      tags: { title: "any; 'text'\n" },
    };
    const parse = (streams: unknown[]) => MediaProbe.parse({ streams, format: { format_name: "mov,mp4" } }).streams;
    expect(parse([honest])).toEqual([honest]);
    const odd = {
      color_space: "a,b",
      codec_name: "'",
      channel_layout: "a;b",
      duration: "1;2",
      extra: "\u0007",
      pix_fmt: "",
    };
    expect(parse([{ ...honest, ...odd }])).toEqual([
      { ...honest, ...Object.fromEntries(Object.keys(odd).map((name) => [name, undefined])) },
    ]);
  });
});

test("rejects a filter or an argument that no plan writes", () => {
  const graph = (filter: string) => () => branchGraph("[0:0]", { label: "v0", filters: [filter] }, new Map());
  for (const filter of ["scale=1:1,movie=x", "movie=/x", "null;null", "null[a]", "setpts='a'b'", "scale=w=\\:1"]) {
    expect(graph(filter), filter).toThrow("No filter of a plan");
  }
  expect(graph("setpts='10*(gt(T-1,0))+1'")()).toBe("[0:0]setpts='10*(gt(T-1,0))+1'[v0]");
  for (const argv of [
    ["-map", "0:1,x"],
    ["-c:v", "a b"],
    ["-metadata", "a=b"],
    ["-init_hw_device", "vaapi=hw:a,b"],
    ["a\nb"],
  ]) {
    expect(() => checkedArguments(argv), argv.join(" ")).toThrow("No argument of a plan");
  }
});
