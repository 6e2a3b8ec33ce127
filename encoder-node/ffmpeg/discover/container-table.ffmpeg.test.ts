// A real ffmpeg writes and reads back every pair of container and codec that a request may name.
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import type { AudioCodec, VideoCodec } from "#shared/format/codecs.ts";
import { TRACK_CONTAINER_TRAITS, TRACK_CONTAINERS, type TrackContainer } from "#shared/format/containers.ts";
import { fileFolder } from "../../../test/fixtures.ts";
import { REFERENCE_FFMPEG } from "../../testing/plan-runs.ts";
import { toolEnvironment } from "../sandbox/tool-environment.ts";

const VIDEO_ENCODERS: Readonly<Record<VideoCodec, string>> = {
  h264: "libx264",
  hevc: "libx265 -x265-params log-level=none",
  vp8: "libvpx",
  vp9: "libvpx-vp9",
  av1: "libaom-av1 -cpu-used 8 -usage realtime",
  theora: "libtheora",
  mpeg4: "mpeg4",
  mpeg2video: "mpeg2video",
  mjpeg: "mjpeg -pix_fmt yuvj420p",
  prores: "prores -pix_fmt yuv422p10le",
  "prores-ks": "prores_ks -pix_fmt yuva444p10le",
  dnxhd: "dnxhd -profile:v dnxhr_sq -pix_fmt yuv422p",
  flv: "flv",
  h263: "h263",
  wmv2: "wmv2",
};
const AUDIO_ENCODERS: Readonly<Record<AudioCodec, string>> = {
  aac: "aac",
  ac3: "ac3",
  mp2: "mp2",
  mp3: "libmp3lame",
  vorbis: "libvorbis",
  opus: "libopus -ar 48000",
  flac: "flac",
  "pcm-s16le": "pcm_s16le",
  "pcm-u8": "pcm_u8",
  "pcm-alaw": "pcm_alaw",
  "amr-nb": "libopencore_amrnb -ar 8000 -ac 1",
  wmav2: "wmav2",
};
/** Muxers whose name differs from the container's. */
const MUXERS: Readonly<Partial<Record<TrackContainer, string>>> = { mkv: "matroska", aac: "adts", m4a: "ipod" };
/** Codecs whose ffmpeg name differs. mp4 does not distinguish the layers of MPEG audio. */
const NAMES: Readonly<Partial<Record<VideoCodec | AudioCodec, RegExp>>> = {
  "prores-ks": /prores/,
  flv: /flv1/,
  mp2: /mp[23]/,
};
const nameOf = (codec: VideoCodec | AudioCodec): RegExp => NAMES[codec] ?? new RegExp(codec.replace("-", "_"));

/** The build from npm, which has all encoders. This test is about muxers. */
const FFMPEG = REFERENCE_FFMPEG;

const folder = fileFolder();
const run = (argv: readonly string[]) =>
  promisify(execFile)(FFMPEG, ["-hide_banner", "-nostdin", "-y", ...argv], { cwd: folder, env: toolEnvironment() });

const SOURCE = "-f lavfi -i testsrc2=s=352x288:r=25:d=0.2 -f lavfi -i sine=r=44100:d=0.5".split(" ");

test.each(TRACK_CONTAINERS)("%s accepts the codecs of its row", async (container) => {
  const { video, audio } = TRACK_CONTAINER_TRAITS[container];
  const muxer = ["-f", MUXERS[container] ?? container];
  await run([
    ...["-v", "error", ...SOURCE],
    ...video.flatMap((codec) => ["-map", "0", "-c:v", ...VIDEO_ENCODERS[codec].split(" "), ...muxer, codec]),
    ...audio.flatMap((codec) => ["-map", "1", "-c:a", ...AUDIO_ENCODERS[codec].split(" "), ...muxer, codec]),
  ]);
  const codecs = [...video, ...audio];
  const { stderr } = await run([
    ...codecs.flatMap((codec) => ["-i", codec]),
    ...codecs.flatMap((_, at) => ["-map", String(at)]),
    ...["-c", "copy", "-f", "null", "-"],
  ]);
  for (const [at, codec] of codecs.entries()) {
    const name = new RegExp(`Stream #${at}:0.*: (?:Video|Audio): (\\w+)`).exec(stderr)?.[1];
    expect(name, `${codec} in ${container}`).toMatch(nameOf(codec));
  }
});
