import { describe, expect, test } from "vitest";
import type { MediaProbe } from "../../media/media-probe.ts";
import { probeOf } from "../../testing/frame-indexes.ts";
import { type OutputOptions, specOf } from "../../testing/output-specs.ts";
import { ALL_SOFTWARE } from "../command/capabilities.ts";
import { chooseTracks } from "../source/source-tracks.ts";
import { chunkGridMs, unchunkableReason } from "./chunkable.ts";

const why = (ask: OutputOptions, probe: MediaProbe = probeOf("25/1")): string | null =>
  unchunkableReason(specOf(ask, 0), chooseTracks(probe), ALL_SOFTWARE);

describe("an output is encoded in one piece", () => {
  const ROWS: [ask: OutputOptions, reason: string | null][] = [
    [{ format: "mp4" }, null],
    [{ format: "mp4:hevc_15fps" }, null],
    [{ format: "webm:vp9" }, null],
    [{ format: "mkv:av1:flac" }, null],
    [{ format: "mov:720p:pcm-s16le" }, null],
    [{ format: "mp4:x" }, "it has no picture"],
    [{ format: "jpg" }, "it is made of single pictures"],
    [{ format: "mp4:copy" }, "its picture is copied"],
    [{ format: "mp4::copy" }, "its sound is copied"],
    [{ format: "webm:vp8" }, "vp8 is not put together from chunks"],
    [{ format: "mp4:::2pass" }, "it is encoded in two passes"],
    [{ format: "mp4", params: { offset: 3 } }, "it is a part of the input"],
    [{ format: "mp4", durationMs: 3000 }, "it is a part of the input"],
    [{ format: "asf:h264" }, "asf is not written from chunks"],
    [{ format: "webm:vp9:vorbis" }, "vorbis sound is not added to chunks"],
    [{ format: "avi:h264:pcm-s16le" }, "pcm-s16le sound is not added to chunks"],
    [{ format: "mp4:1080p::level=10" }, "it cannot be made of this input"],
  ];

  test.each(ROWS)("%j: %s", (ask, reason) => {
    expect(why(ask)).toBe(reason);
  });

  test("of a format without an index", () => {
    expect(why({ format: "mp4" }, probeOf("25/1", { format_name: "asf" }))).toMatch(/cannot be read from its middle/);
  });

  test("silent, of an MPEG-TS whose sound begins first", () => {
    const probe = probeOf("25/1", { format_name: "mpegts", start_time: "1.400000" });
    const streams = probe.streams.map((stream, at) => ({ ...stream, start_time: at === 0 ? "1.421000" : "1.400000" }));
    expect(why({ format: "mp4::x" }, { ...probe, streams })).toMatch(/times depend on/);
    expect(why({ format: "mp4" }, { ...probe, streams })).toBeNull();
  });
});

describe("chunks and segments", () => {
  const stream = (seconds: number): OutputOptions => ({
    format: "httpstream",
    params: { hls: { path: "h" }, segment_duration: seconds },
  });
  const ROWS: [asks: OutputOptions[], gridMs: number | null][] = [
    [[{ format: "mp4" }], 2000],
    [[stream(6)], 6000],
    [[stream(5), { format: "mp4" }], 10_000],
    [[stream(4), stream(6)], 12_000],
    [[stream(7), stream(9)], null],
  ];

  test.each(ROWS)("%j have lines in common every %s ms", (asks, gridMs) => {
    expect(chunkGridMs(asks.map(specOf))).toBe(gridMs);
  });
});
