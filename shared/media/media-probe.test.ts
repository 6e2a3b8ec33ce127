import { describe, expect, it } from "vitest";
import { contractMetadata, publicUrl } from "../job/metadata.ts";
import { audioStream, videoStream } from "../testing/probes.ts";
import { type MediaProbe, type ProbedStream, rotationOf } from "./media-probe.ts";
import { sourceFacts } from "./source-facts.ts";

const video = (changes: Partial<ProbedStream> = {}) => videoStream(1920, 1080, "30000/1001", changes);
const audio = audioStream({ bit_rate: "128000" });
const probe = (streams: ProbedStream[], format: MediaProbe["format"] = { duration: "10.5" }): MediaProbe => ({
  streams,
  format,
});
const matrix = (rotation: number) => video({ side_data_list: [{ side_data_type: "Display Matrix", rotation }] });

describe("sourceFacts", () => {
  it("finds video, audio and duration", () => {
    expect(sourceFacts(probe([audio, video()]))).toEqual({
      durationMs: 10500,
      audio: { sampleRateHz: 48000, channels: 2 },
      video: {
        codedWidth: 1920,
        codedHeight: 1080,
        rotation: 0,
        displayWidth: 1920,
        displayHeight: 1080,
        fps: 30000 / 1001,
        constantFrameRate: true,
      },
    });
  });

  it("ignores cover art and missing audio", () => {
    expect(sourceFacts(probe([video({ disposition: { attached_pic: 1 } }), audio])).video).toBeNull();
    expect(sourceFacts(probe([video()])).audio).toBeNull();
    expect(sourceFacts(probe([video({ width: 0 })])).video).toBeNull();
  });

  const sizes: [string, ProbedStream, [number, number, number]][] = [
    ["not rotated", video(), [1920, 1080, 0]],
    ["turned", matrix(-90), [1080, 1920, 90]],
    ["wide pixels", video({ width: 720, height: 576, sample_aspect_ratio: "64:45" }), [1024, 576, 0]],
    ["wide pixels, turned", { ...matrix(90), width: 720, height: 576, sample_aspect_ratio: "64:45" }, [576, 1024, 270]],
    ["unknown pixels", video({ sample_aspect_ratio: "0:1" }), [1920, 1080, 0]],
  ];
  it.each(sizes)("returns the displayed size: %s", (_, stream, [width, height, rotation]) => {
    expect(sourceFacts(probe([stream])).video).toMatchObject({ displayWidth: width, displayHeight: height, rotation });
  });

  it("detects a variable frame rate", () => {
    const facts = sourceFacts(probe([video({ r_frame_rate: "60/1", avg_frame_rate: "24/1" })])).video;
    expect(facts).toMatchObject({ fps: 24, constantFrameRate: false });
    expect(sourceFacts(probe([video({ r_frame_rate: "0/0", avg_frame_rate: "0/0" })])).video).toMatchObject({
      fps: null,
    });
  });

  it("falls back to a stream's duration", () => {
    expect(sourceFacts(probe([video({ duration: "3.2" })], {})).durationMs).toBe(3200);
    expect(sourceFacts(probe([video()], { duration: "N/A" })).durationMs).toBeNull();
  });
});

describe("rotationOf", () => {
  const rows: [ProbedStream, number][] = [
    [video(), 0],
    [matrix(90), 270],
    [matrix(-90), 90],
    [matrix(180), 180],
    [matrix(-180), 180],
    [video({ tags: { rotate: "90" } }), 90],
    [video({ tags: { rotate: "x" } }), 0],
  ];
  it.each(rows)("returns degrees clockwise (row %#)", (stream, rotation) => {
    expect(rotationOf(stream)).toBe(rotation);
  });
});

describe("contractMetadata", () => {
  const bases: [Partial<ProbedStream>, string | undefined][] = [
    [{}, "1001/60000"],
    [{ avg_frame_rate: "30/1" }, "1/60"],
    [{ codec_name: "hevc", avg_frame_rate: "30/1" }, "1/30"],
    [{ codec_name: "vp9", avg_frame_rate: "25/1" }, "1/25"],
    [{ avg_frame_rate: "0/0" }, undefined],
    [{ codec_time_base: "1/7" }, "1/7"],
  ];
  it.each(bases)("fills in codec_time_base (row %#)", (changes, expected) => {
    expect(contractMetadata(probe([video(changes)]), "").streams[0]?.codec_time_base).toBe(expected);
  });

  it("keeps all fields from ffprobe, and adds fields that it no longer prints", () => {
    const input = probe([{ ...matrix(-90), tags: { language: "und" }, bits_per_raw_sample: "8" }, audio], {
      duration: "10.5",
      filename: "/tmp/input.bin",
    });
    expect(contractMetadata(input, "http://host/video.mp4")).toEqual({
      streams: [
        { ...input.streams[0], codec_time_base: "1001/60000", tags: { language: "und", rotate: "90" } },
        { ...audio, codec_time_base: "1/48000", max_bit_rate: "128000" },
      ],
      format: { duration: "10.5", filename: "http://host/video.mp4" },
    });
  });
});

describe("publicUrl", () => {
  const rows: [string, string][] = [
    ["https://user:pass@host:8443/a/b.mp4?X-Amz-Signature=1#t", "https://host:8443/a/b.mp4"],
    ["http://host/a@b.mp4", "http://host/a@b.mp4"],
    ["http://host", "http://host"],
  ];
  it.each(rows)("%s", (url, expected) => {
    expect(publicUrl(url)).toBe(expected);
  });
});
