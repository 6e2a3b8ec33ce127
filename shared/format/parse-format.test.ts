import { describe, expect, it } from "vitest";
import type { FormatHash } from "./format-hash.ts";
import type { FormatSpec, FrameSize, RateTarget, VideoFormat, VideoTrackSpec } from "./format-spec.ts";
import { parseFormat } from "./parse-format.ts";
import { printFormat } from "./print-format.ts";

const size = (width: number | null, height: number | null): FrameSize => ({ width, height });
type Kbps = number | null;
const mean = (bitrateKbps: Kbps, maxrateKbps: Kbps = null): RateTarget => ({ bitrateKbps, maxrateKbps });
const vmaf = (vmaf: number, maxrateKbps: Kbps = null): RateTarget => ({ vmaf, maxrateKbps, rateFactor: null });
const step = (quality: number, maxrateKbps: Kbps = null): RateTarget => ({ quality, maxrateKbps });
const aac = { codec: "aac", bitrateKbps: 128, sampleRateHz: null, channels: null } as const;
const FREE = { fps: null, pixelFormat: null, profile: null, level: null };
const h264: VideoTrackSpec = { codec: "h264", size: size(null, null), rate: mean(null), ...FREE, twoPass: false };
const MP4 = { type: "video", container: "mp4", keepsMetadata: true, fragmented: false } as const;
const mp4: VideoFormat = { ...MP4, video: h264, audio: aac };

const parsed = (text: string, hash?: FormatHash): FormatSpec => {
  const result = parseFormat(text, hash);
  if (!result.ok) throw new Error(result.error.message);
  return result.value;
};

describe("parseFormat", () => {
  it.each<[string, Partial<VideoTrackSpec>]>([
    ["mp4", {}],
    ["mp4:", {}],
    ["mp4::", {}],
    ["mp4:h264_0x0_0fps", {}],
    ["mp4:240p", { size: size(null, 240), rate: mean(null, 750) }],
    ["mp4:720p", { size: size(1280, 720), rate: mean(null, 3000) }],
    ["mp4:720p::2pass", { size: size(1280, 720), rate: mean(2000), twoPass: true }],
    ["mp4:1440p", { size: size(2560, 1440), rate: mean(null, 9000) }],
    ["mp4:2160p", { size: size(3840, 2160), rate: mean(null, 12_000) }],
    ["mp4:640x360", { size: size(640, 360) }],
    ["mp4:600x0", { size: size(600, null) }],
    ["mp4:10k_0x264", { size: size(null, 264), rate: mean(10) }],
    ["mp4:480x", { size: size(480, null) }],
    ["mp4:x480", { size: size(null, 480) }],
    ["MP4:720P_1500K", { size: size(1280, 720), rate: mean(1500) }],
    ["mp4:1500k_720p", { size: size(1280, 720), rate: mean(1500) }],
    ["mp4:hevc_29.97fps", { codec: "hevc", fps: "30000/1001" }],
    ["mp4:50fps", { fps: "50" }],
    ["mp4:::quality=4", { rate: step(4) }],
    ["mp4:720p_900k::quality=5", { size: size(1280, 720), rate: step(5) }],
    ["mp4:720p::quality=4,maxrate=3000k", { size: size(1280, 720), rate: step(4, 3000) }],
    ["mp4:720p::quality=vmaf93", { size: size(1280, 720), rate: vmaf(93) }],
    ["mp4:720p_2000k::quality=VMAF70,maxrate=3000k", { size: size(1280, 720), rate: vmaf(70, 2000) }],
    ["mp4:720p::maxrate=3000k_quality=1", { size: size(1280, 720), rate: step(1, 3000) }],
    ["mp4:720p::maxrate=3000k", { size: size(1280, 720), rate: mean(null, 3000) }],
    ["mp4:720p::maxrate=900k", { size: size(1280, 720), rate: mean(null, 900) }],
    ["mp4:::maxrate=900k", { rate: mean(null, 900) }],
    ["mp4:::pix_fmt=yuv422p_vprofile=high422,level=41", { pixelFormat: "yuv422p", profile: "high422", level: 41 }],
    ["mp4:500k::2pass", { rate: mean(500), twoPass: true }],
    ["mp4:copy", { codec: "copy" }],
  ])("reads the video of %s", (text, video) => {
    expect(parsed(text)).toEqual({ ...mp4, video: { ...h264, ...video } });
  });

  it.each<[string, Partial<VideoFormat>]>([
    ["mp4:x:64k", { video: null, audio: { ...aac, bitrateKbps: 64 } }],
    ["mp4:novideo", { video: null }],
    ["mp4::x", { audio: null }],
    ["mp4::noaudio", { audio: null }],
    ["mp4::96k_44100hz_mono_aac", { audio: { codec: "aac", bitrateKbps: 96, sampleRateHz: 44100, channels: "mono" } }],
    ["mp4::flac_multi", { audio: { ...aac, codec: "flac", bitrateKbps: null, channels: "multi" } }],
    ["mp4::copy", { audio: { ...aac, codec: "copy", bitrateKbps: null } }],
    ["mp4:::metadata=0,frag", { keepsMetadata: false, fragmented: true }],
    ["mp4:::metadata=1_frag=0", {}],
  ])("reads the tracks of %s", (text, format) => {
    expect(parsed(text)).toEqual({ ...mp4, ...format });
  });

  it.each([
    ["divx:480p", "avi:0x480_1000k"],
    ["xvid", "avi"],
    ["wmv:wmv2:wmav2", "asf"],
    ["hls:360p", "mpegts:0x360::maxrate=1200k"],
    ["flash", "flv"],
    ["theora", "ogv"],
    ["jpeg:300x", "jpg:300x0"],
    ["webm:600x0_800k", "webm:600x0_800k"],
    ["webm:vp9:opus", "webm:vp9"],
    ["webm:vp9:vorbis", "webm:vp9:vorbis"],
    ["webm:x:opus", "webm:x:opus"],
    ["mov:prores_ks_1080p:pcm_s16le:pix_fmt=yuva444p10le", "mov:1920x1080_prores-ks:pcm-s16le:pix_fmt=yuva444p10le"],
    ["3gp::32k", "3gp"],
    ["3gp:h263:amr_nb_8000hz_mono", "3gp::amr-nb_8000hz_mono"],
    ["mp3:64k_22050hz_mono", "mp3:64k_22050hz_mono"],
    ["wav:pcm_s16le", "wav"],
    ["wav:pcm-u8", "wav:pcm-u8"],
    ["m4a:128k:frag", "m4a::frag"],
    ["mp4:x:x264", null],
    ["mp4:x264", null],
    ["jpg:480p", "jpg:0x480"],
    ["webp_anim:500x500", "webp_anim:500x500"],
    ["avif", "avif"],
    ["jpg:::quality=4", "jpg:::quality=4"],
    ["jpg:320x::quality=4", "jpg:320x0::quality=4"],
    ["webp_anim:::quality=1", "webp_anim:::quality=1"],
    ["gif:100x::quality=2", "gif:100x0::quality=2"],
    ["avif:::quality=5", "avif"],
  ])("reads %s as %s", (text, canonical) => {
    const result = parseFormat(text);
    expect(result.ok ? printFormat(result.value) : null).toBe(canonical);
  });

  it.each<[string, FormatHash, string]>([
    ["avi:240p", { resolution: "0x240", video_bitrate: "500k" }, "avi:0x240_500k"],
    ["avi:240p", { resolution: "0x240" }, "avi:0x240"],
    ["mp4", {}, "mp4"],
    ["mp4", { resolution: "720p", fps: 30, quality: 4, maxrate: 900 }, "mp4:1280x720_30fps::quality=4,maxrate=900k"],
    ["mp4:30fps", { fps: "29.97fps", video_bitrate: 1500 }, "mp4:1500k_29.97fps"],
    ["mp4:::quality=5,2pass=0", { video_bitrate: "2000", "2pass": true }, "mp4:2000k::2pass"],
    ["mp4:900k", { quality: "3" }, "mp4:::quality=3"],
    ["mp4:720p", { quality: "vmaf93", maxrate: 3000 }, "mp4:1280x720::quality=vmaf93,maxrate=3000k"],
    ["mp4:::2pass,frag", { "2pass": false, frag: false, level: 41, vprofile: "high" }, "mp4:::vprofile=high,level=41"],
    ["mkv", { video_codec: "PRORES_KS", pix_fmt: "yuva444p10le" }, "mkv:prores-ks::pix_fmt=yuva444p10le"],
    ["mkv::64k", { audio_codec: "opus", audio_channel: 2, sample_rate: 48000 }, "mkv::opus_64k_48000hz_stereo"],
    [
      "mp4:720p:x",
      { audio_codec: "aac", audio_bitrate: 96, sample_rate: "44100hz" },
      "mp4:1280x720:96k_44100hz:maxrate=3000k",
    ],
    ["mp4", { video_codec: "novideo", audio_channel: "mono" }, "mp4:x:mono"],
    ["jpg:300x200", { resolution: "x100" }, "jpg:0x100"],
  ])("parses %s with the hash %j to %s", (text, hash, canonical) => {
    expect(printFormat(parsed(text, hash))).toBe(canonical);
  });

  it.each<[string, RegExp]>([
    ["", /container ``.*mp4, .*jpg, .*httpstream/],
    ["mp5", /container `mp5`.*mp4/],
    ["constructor", /container `constructor`/],
    ["__proto__:720p", /container `__proto__`/],
    ["mp4:721p", /`721p`.*720p/],
    ["mp4:toString", /`toString`.*h264, hevc/],
    ["mp4:x_64k", /`64k` is not allowed.*no video/],
    ["mp4:720p:12", /`12`.*<n>k/],
    ["mp4:720p_480p", /`480p`.*`resolution`.*second time/],
    ["mp4:500k_600k", /`600k`.*`video_bitrate`.*second time/],
    ["mp4:::frag,frag", /`frag`.*second time/],
    ["mp4:9000x10", /`9000x10`.*8192/],
    ["mp4:0k", /`0k`.*10k to 199999k/],
    ["mp4:4k", /`4k`.*10k to 199999k; for a size, use 2160p or 3840x2160/],
    ["mp4:::maxrate=9k", /`maxrate=9k`.*10k to 199999k$/],
    ["mp4:200000k", /199999k/],
    ["mp4:26fps", /`26fps`.*23\.98.*fps/],
    ["mp4::513k", /512k/],
    ["mp4::44101hz", /`44101hz`.*44100/],
    ["mp4:::quality=6", /`quality=6`.*1, 2, 3, 4, 5/],
    ["mp4:::quality=vmaf99", /`quality=vmaf99`.*vmaf70 to vmaf98/],
    ["mkv:vp8::quality=vmaf93", /`quality=vmaf93`.*only h264, hevc, vp9, av1.*vp8/],
    ["mp4:::quality=vmaf93,2pass", /`2pass` requires a bitrate/],
    ["mp4:::quality", /`quality=`/],
    ["mp4:::quality=4=4", /`quality=4=4`/],
    ["mp4:::speed=1", /`speed=1`.*quality=….*frag/],
    ["mp4:3000k::maxrate=1000k", /`maxrate=1000k`.*3000k/],
    ["mp4:::2pass,quality=4", /`2pass`.*`quality`/],
    ["mp4:720p:64k:quality=4:more", /`more` is one segment too many.*mp4:<video>:<audio>:<options>/],
    ["mp4:x:x", /disables both video and audio/],
    ["mp3:x", /disables both video and audio/],
    ["mp3:720p", /`720p`.*aac/],
    ["mp3:64k:quality=3", /`quality=3`.*no video/],
    ["mp3::frag:more", /`more` is one segment too many/],
    ["mp4:vp8", /mp4 does not support.*`vp8`.*allowed: h264, hevc, vp9/],
    ["webm::aac", /webm does not support.*`aac`.*vorbis, opus/],
    ["mp4:copy_720p", /`720p`.*`copy`/],
    ["mp4::copy_64k", /`64k`.*`copy`/],
    ["mov:prores_500k", /`500k`.*prores.*`quality`/],
    ["mov:dnxhd_100000k::2pass", /`2pass=1`.*dnxhd.*`video_bitrate`/],
    ["mp4::flac_96k", /`96k`.*flac is lossless/],
    ["mkv::mp2_100k", /`100k`.*mp2.*96k, 112k/],
    ["3gp::amr_nb_44100hz", /amr-nb.*`44100hz`.*8000hz/],
    ["3gp::amr_nb_stereo", /amr-nb.*`stereo`.*mono/],
    ["mp4::mp3_8000hz", /mp3 in mp4.*`8000hz`.*16000hz/],
    ["mpegts:::frag", /`frag`.*mp4, mov/],
    ["mp4:vp9::vprofile=main", /`vprofile=main`.*vp9 has no/],
    ["mp4:hevc::vprofile=high", /`vprofile=high`.*hevc supports: main/],
    ["mp4:::level=27", /`level=27`.*h264 supports: 10, .*51/],
    ["mp4:::vprofile=high,pix_fmt=yuv422p", /`high` supports yuv420p.*yuv422p/],
    ["mp4:::pix_fmt=yuva444p10le", /`pix_fmt=yuva444p10le`.*h264 supports: yuv420p, yuv422p/],
    ["jpg:300", /`300`.*<width>x<height>/],
    ["jpg:300x200:64k", /`64k` is not allowed here: images have no audio/],
    ["jpg:300x::quality=4:x", /`x` is one segment too many.*`jpg:<size>::<options>`/],
    ["jpg:quality=4", /is an option and belongs in the fourth segment: `jpg:::quality=4`/],
    ["jpg:::quality=6", /`quality=6`.*1, 2, 3, 4, 5/],
    ["jpg:::quality=vmaf93", /`quality=vmaf93`.*1, 2, 3, 4, 5/],
    ["jpg:::maxrate=500k", /`maxrate=500k`.*only a `resolution` and a `quality`/],
    ["png:::quality=4", /`quality=4`.*png is lossless/],
    ["jpg:x", /`x`/],
    ["gif:501x", /width of gif must be at most 500 pixels/],
    [`mp4:${"720p_".repeat(50)}`, /at most 200 characters/],
  ])("rejects %j and names the allowed values", (text, message) => {
    const field = expect.toSatisfy((name) => name === null || typeof name === "string");
    expect(parseFormat(text)).toEqual({ ok: false, error: { message: expect.stringMatching(message), field } });
  });

  it.each<[string, FormatHash, string, RegExp]>([
    ["mp4", { video_codec: "vp8" }, "video_codec", /`vp8`.*h264/],
    ["mp4:hevc", { vprofile: "high" }, "vprofile", /hevc supports: main/],
    ["mp4", { fps: 26 }, "fps", /`26fps`/],
    ["mp4", { video_bitrate: 1.5 }, "video_bitrate", /`1\.5k`/],
    ["mp4", { audio_channel: 3 }, "audio_channel", /`3`.*stereo/],
    ["mp4", { resolution: "toString" }, "resolution", /`toString`/],
    ["jpg", { fps: "30fps" }, "fps", /only a `resolution`/],
    ["mp3", { resolution: "720p" }, "resolution", /no video/],
  ])("rejects %s with the hash %j and names %s", (text, hash, field, message) => {
    expect(parseFormat(text, hash)).toEqual({ ok: false, error: { message: expect.stringMatching(message), field } });
  });
});
