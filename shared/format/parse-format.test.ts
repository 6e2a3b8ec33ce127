import { describe, expect, it } from "vitest";
import type { FrameSize, RateTarget } from "../output-spec.ts";
import { parseFormat } from "./parse-format.ts";

const size = (width: number | null, height: number | null): FrameSize => ({ width, height });
const mean = (bitrateKbps: number): RateTarget => ({ bitrateKbps });
const step = (quality: number, maxrateKbps: number | null = null): RateTarget => ({ quality, maxrateKbps });
const stereo128 = { codec: "aac", bitrateKbps: 128, sampleRateHz: null, channels: null };

describe("parseFormat", () => {
  const videos: [string, FrameSize, RateTarget | null, string | null][] = [
    ["mp4", size(null, null), null, null],
    ["mp4:", size(null, null), null, null],
    ["mp4::", size(null, null), null, null],
    ["mp4:240p", size(null, 240), mean(500), null],
    ["mp4:720p", size(1280, 720), mean(2000), null],
    ["mp4:2160p", size(3840, 2160), mean(8000), null],
    ["mp4:640x360", size(640, 360), null, null],
    ["mp4:600x0", size(600, null), null, null],
    ["mp4:480x", size(480, null), null, null],
    ["mp4:x480", size(null, 480), null, null],
    ["MP4:720P_1500K", size(1280, 720), mean(1500), null],
    ["mp4:1500k_720p", size(1280, 720), mean(1500), null],
    ["mp4:h264_29.97fps", size(null, null), null, "30000/1001"],
    ["mp4:25fps", size(null, null), null, "25"],
    ["mp4:0fps", size(null, null), null, null],
    ["mp4:::quality=4", size(null, null), step(4), null],
    ["mp4:720p::quality=5", size(1280, 720), step(5), null],
    ["mp4:720p::quality=4,maxrate=3000k", size(1280, 720), step(4, 3000), null],
    ["mp4:720p::maxrate=3000k_quality=1", size(1280, 720), step(1, 3000), null],
  ];
  it.each(videos)("reads the picture of %s", (text, asked, rate, fps) => {
    const video = { codec: "h264", size: asked, rate, fps };
    expect(parseFormat(text)).toEqual({ ok: true, spec: { kind: "video", container: "mp4", video, audio: stereo128 } });
  });

  const sounds: [string, object | null][] = [
    ["mp4:720p:64k", { ...stereo128, bitrateKbps: 64 }],
    ["mp4:720p:aac_96k_44100hz_mono", { codec: "aac", bitrateKbps: 96, sampleRateHz: 44100, channels: "mono" }],
    ["mp4:720p:stereo", { ...stereo128, channels: "stereo" }],
    ["mp4:720p:x", null],
    ["mp4:720p:noaudio", null],
  ];
  it.each(sounds)("reads the sound of %s", (text, audio) => {
    expect(parseFormat(text)).toMatchObject({ ok: true, spec: { audio } });
  });

  it("switches the picture off", () => {
    expect(parseFormat("mp4:x:64k")).toMatchObject({ ok: true, spec: { video: null, audio: { bitrateKbps: 64 } } });
    expect(parseFormat("mp4:novideo")).toMatchObject({ ok: true, spec: { video: null } });
  });

  const images: [string, FrameSize][] = [
    ["jpg", size(null, null)],
    ["jpg:300x200", size(300, 200)],
    ["jpeg:300x", size(300, null)],
    ["jpg:x200", size(null, 200)],
    ["jpg:480p", size(null, 480)],
  ];
  it.each(images)("reads the picture size of %s", (text, asked) => {
    expect(parseFormat(text)).toEqual({ ok: true, spec: { kind: "image", container: "jpg", size: asked } });
  });

  const refusals: [string, RegExp][] = [
    ["", /container ``.*mp4, jpg/],
    ["mp5", /container `mp5`.*mp4, jpg/],
    ["constructor", /container `constructor`/],
    ["mp4:721p", /`721p`.*720p/],
    ["mp4:toString", /`tostring`/],
    ["mp4:720p:12", /`12`/],
    ["mp4:720p_480p", /`480p`.*size.*second time/],
    ["mp4:500k_600k", /`600k`.*bitrate.*second time/],
    ["mp4:9000x10", /`9000x10`.*8192/],
    ["mp4:0k", /`0k`.*1k to 199999k/],
    ["mp4:200000k", /199999k/],
    ["mp4:26fps", /`26fps`.*25/],
    ["mp4:720p:513k", /512k/],
    ["mp4:720p:44101hz", /`44101hz`.*44100/],
    ["mp4:720p:64k:quality=6", /`quality=6`.*quality=1 to quality=5/],
    ["mp4:720p::speed=1", /`speed=1`/],
    ["mp4:720p::maxrate=100k", /`maxrate` needs `quality`/],
    ["mp4:720p:64k:quality=4:more", /`more` is left over/],
    ["mp4:x:x", /both video and audio/],
    ["jpg:300", /image size `300`/],
    ["jpg:300x200:64k", /`64k` is left over/],
  ];
  it.each(refusals)("refuses %j and says what is allowed", (text, message) => {
    expect(parseFormat(text)).toEqual({ ok: false, message: expect.stringMatching(message) });
  });
});
