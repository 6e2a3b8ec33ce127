import { describe, expect, test } from "vitest";
import type { MediaProbe } from "../../media/media-probe.ts";
import { probeOf } from "../../testing/frame-indexes.ts";
import { type OutputOptions, specOf } from "../../testing/output-specs.ts";
import { chunkGridMs } from "../chunks/chunkable-source.ts";
import { ALL_SOFTWARE } from "../encoders/software-encoders.ts";
import { unchunkableReason } from "./chunkable.ts";

const reasonFor = (output: OutputOptions, probe: MediaProbe = probeOf("25/1")): string | null =>
  unchunkableReason(specOf(output, 0), probe, ALL_SOFTWARE);

/** Between two frames of 25 or 15 a second. */
const CLIP = { startMs: 20_030, endMs: 120_000 };

describe("unchunkableReason", () => {
  const ROWS: [output: OutputOptions, reason: string | null][] = [
    [{ format: "mp4" }, null],
    [{ format: "mp4:hevc_15fps" }, null],
    [{ format: "webm:vp9" }, null],
    [{ format: "mkv:av1:flac" }, null],
    [{ format: "mov:720p:pcm-s16le" }, null],
    [{ format: "mp4:x" }, "it has no video"],
    [{ format: "jpg" }, "it consists of images"],
    [{ format: "mp4:copy" }, "its video is copied"],
    [{ format: "mp4::copy" }, "its audio is copied"],
    [{ format: "webm:vp8" }, "chunks of vp8 cannot be joined"],
    [{ format: "mp4:::2pass" }, "it is encoded in two passes"],
    [{ format: "mp4", params: { offset: 3 } }, "it is trimmed"],
    [{ format: "mp4", params: { subtitles: "all" } }, null],
    [{ format: "mp4", params: { subtitles: [{ from: "cc1" }] } }, null],
    [{ format: "mp4", params: { subtitles: [{ from: "en" }] } }, "it cannot be made of this input"],
    [{ format: "mp4", params: { burn: { from: 1 } } }, "it cannot be made of this input"],
    [{ format: "mp4", durationMs: 3000 }, "it is trimmed"],
    [{ format: "mp4", clip: { startMs: 0, endMs: 90_000 } }, null],
    [{ format: "mp4", clip: CLIP }, null],
    [{ format: "mp4", clip: CLIP, params: { offset: 1 } }, "it is trimmed"],
    [{ format: "mp4", clip: CLIP, params: { duration: 1 } }, "it is trimmed"],
    [{ format: "httpstream", params: { hls: { path: "h" } }, clip: CLIP }, null],
    [
      { format: "httpstream", params: { hls: { path: "h" }, variants: ["mp4:x90", "mp4:x54_15fps"] }, clip: CLIP },
      "its clip starts between two frames of its slowest video",
    ],
    [{ format: "httpstream", params: { hls: { path: "h" }, variants: ["mp4:x54_15fps"] }, clip: CLIP }, null],
    [{ format: "asf:h264" }, "chunks cannot be joined in asf"],
    [{ format: "mp4", params: { audio: "all" } }, null],
    [
      { format: "mp4", params: { audio: [{ from: 1 }, { from: 1, format: "vorbis" }] } },
      "audio in vorbis cannot be joined with chunks",
    ],
    [{ format: "mp4", params: { audio: [{ from: 2 }] } }, "it cannot be made of this input"],
    [{ format: "webm:vp9:vorbis" }, "audio in vorbis cannot be joined with chunks"],
    [{ format: "avi:h264:pcm-s16le" }, "audio in pcm-s16le cannot be joined with chunks"],
    [{ format: "httpstream", params: { hls: { path: "h" }, subtitles: [{ from: 1, optional: true }] } }, null],
    [{ format: "mp4:1080p::level=10" }, "it cannot be made of this input"],
  ];

  test.each(ROWS)("%j: %s", (output, reason) => {
    expect(reasonFor(output)).toBe(reason);
  });

  test("rejects captions of images", () => {
    const { streams, format } = probeOf("25/1");
    const images = { index: 2, codec_type: "subtitle", codec_name: "hdmv_pgs_subtitle" };
    const probe = { format, streams: [...streams, images] };
    expect(reasonFor({ format: "mp4", params: { burn: { from: 1 } } }, probe)).toMatch(/`burn` are not text/);
  });

  test("rejects an input without an index", () => {
    expect(reasonFor({ format: "mp4" }, probeOf("25/1", { format_name: "asf" }))).toMatch(
      /cannot be read from its middle/,
    );
  });

  test("rejects several audio tracks of an MPEG-TS input, whose times depend on the tracks that are read", () => {
    const { streams, format } = probeOf("25/1", { format_name: "mpegts" });
    const probe = { format, streams: [...streams, { ...streams[1], index: 2 }] };
    expect(reasonFor({ format: "mp4", params: { audio: "all" } }, probe)).toMatch(/times of several audio tracks/);
    expect(reasonFor({ format: "mp4" }, probe)).toBeNull();
  });

  test("rejects an output that drops the audio of an MPEG-TS input if the audio starts first", () => {
    const probe = probeOf("25/1", { format_name: "mpegts", start_time: "1.400000" });
    const streams = probe.streams.map((stream, at) => ({ ...stream, start_time: at === 0 ? "1.421000" : "1.400000" }));
    expect(reasonFor({ format: "mp4::x" }, { ...probe, streams })).toMatch(/times depend on/);
    expect(reasonFor({ format: "mp4" }, { ...probe, streams })).toBeNull();
  });
});

describe("chunks and segments", () => {
  const stream = (seconds: number): OutputOptions => ({
    format: "httpstream",
    params: { hls: { path: "h" }, segment_duration: seconds },
  });
  const ROWS: [outputs: OutputOptions[], gridMs: number | null][] = [
    [[{ format: "mp4" }], 2000],
    [[stream(6)], 6000],
    [[stream(5), { format: "mp4" }], 10_000],
    [[stream(4), stream(6)], 12_000],
    [[stream(7), stream(9)], null],
  ];

  test.each(ROWS)("%j have common boundaries every %s ms", (outputs, gridMs) => {
    expect(chunkGridMs(outputs.map(specOf))).toBe(gridMs);
  });
});
