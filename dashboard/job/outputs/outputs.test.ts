import { describe, expect, it } from "vitest";
import type { Job, JobMetadata, Output } from "../../../client/index.ts";
import { bucketRule } from "./bucket-rule.ts";
import { fileFigures, loudnessFigures, sizeOf, streamFigures } from "./figures.ts";
import { isSource, localSource, paramsOf, playablesOf, sourceOf, withOffset } from "./playable.ts";

const S3 = "https://bucket.s3.example/vod";
const video = {
  index: 0,
  codec_type: "video",
  codec_name: "h264",
  width: 1280,
  height: 720,
  avg_frame_rate: "30000/1001",
  r_frame_rate: "30/1",
};
const audio = { index: 1, codec_type: "audio", codec_name: "aac", channels: 2, sample_rate: "48000" };
const cover = { index: 2, codec_type: "video", codec_name: "mjpeg", disposition: { attached_pic: 1 } };
const file = { streams: [cover, video, audio], format: { duration: "60.5", size: "7500000", bit_rate: "991735" } };

const output = (key: string, more: Partial<Output>): Output =>
  ({ key, type: "video", format: "mp4", status: "video.encoded", ...more }) as Output;
const jobOf = (outputs: readonly Output[], source = `${S3}/in.mov`): Job =>
  ({ id: "j", input: { status: "input.transferred", source }, outputs }) as unknown as Job;
const requestOf = (outputs: Record<string, unknown>) => ({
  input: {},
  storage: {},
  notification: {},
  settings: {},
  outputs,
});
const metadata = { input: file, outputs: [{ all: file }] } as unknown as JobMetadata["metadata"];

describe("the media of a job that can be played", () => {
  it("lists files with their frame rate and their start in the source", () => {
    const outputs = [
      output("all", { url: `${S3}/all.mp4` }),
      output("part", { url: `${S3}/part.mp4` }),
      output("later", { status: "video.encoding" }),
    ];
    const request = requestOf({ mp4: [{ key: "all" }, { key: "part", offset: 12.5 }, { key: "later" }] });
    const [all, part, ...none] = playablesOf(jobOf(outputs), { request, metadata });
    expect(all?.medium).toEqual({
      kind: "file",
      source: `${S3}/all.mp4`,
      label: "all",
      offset: 0,
      frameRate: 30000 / 1001,
      hasVideo: true,
    });
    expect(part?.medium).toMatchObject({ offset: 12.5, frameRate: null, hasVideo: null });
    expect(none).toEqual([]);
  });

  it("adds the offset once the request has been read, and else keeps the object, so that playback continues", () => {
    const job = jobOf([output("part", { url: `${S3}/part.mp4` })]);
    const known = { request: requestOf({ mp4: [{ key: "part", offset: 12.5 }] }), metadata };
    const [early] = playablesOf(job, { request: undefined, metadata });
    const later = playablesOf(job, known);
    expect(early && withOffset(early, later)).toEqual(later[0]);
    expect(early && withOffset(early, [])).toBe(early);
  });

  it("lists each playlist of a stream, also while it grows, with the thumbnails beside it", () => {
    const live = { hls: `${S3}/hls/master.m3u8`, seconds: 12 };
    const growing = output("s", { type: "httpstream", status: "httpstream.variants.encoding", live });
    const urls = [
      { format: "hls" as const, url: `${S3}/hls/master.m3u8` },
      { format: "dash" as const, url: `${S3}/dash/master.mpd` },
    ];
    const done = output("s", { type: "httpstream", status: "httpstream.packaged", urls });
    const request = requestOf({ httpstream: { key: "s", thumbnails: true } });
    const [before, ...after] = [growing, done].flatMap((state) =>
      playablesOf(jobOf([state]), { request, metadata: undefined }),
    );
    expect(before).toMatchObject({ id: "s#0", thumbnails: `${S3}/hls/master.vtt` });
    expect(after.map(({ id, medium, thumbnails }) => [id, medium.kind, thumbnails])).toEqual([
      ["s#0", "hls", `${S3}/hls/master.vtt`],
      ["s#1", "dash", `${S3}/dash/master.vtt`],
    ]);
  });

  it("takes thumbnails from an image output, unless the output is a part of the source", () => {
    const images = output("jpg", { type: "image", urls: [`${S3}/1.jpg`, `${S3}/1.vtt`] });
    const outputs = [output("all", { url: `${S3}/a.mp4` }), output("part", { url: `${S3}/b.mp4` }), images];
    const request = requestOf({ mp4: [{ key: "all" }, { key: "part", duration: 5 }] });
    const playables = playablesOf(jobOf(outputs), { request, metadata: undefined });
    expect(playables.map(({ thumbnails }) => thumbnails)).toEqual([`${S3}/1.vtt`, null]);
  });

  it("offers the source of a job if it has a URL", () => {
    expect(sourceOf(jobOf([]), { request: undefined, metadata })?.medium).toMatchObject({ hasVideo: true });
    const uploaded = jobOf([], "upload://x/in.mov");
    expect(sourceOf(uploaded, { request: undefined, metadata })).toBeNull();
    const uploadUrl = "https://copra.example/storage/uploads/x?signature=1";
    expect(sourceOf(uploaded, { request: undefined, metadata, uploadUrl })?.medium.source).toBe(uploadUrl);
  });

  it("offers a file on this computer besides the source of the job", () => {
    const remote = sourceOf(jobOf([]), { request: undefined, metadata });
    const local = localSource(new File([], "in.mov", { type: "video/quicktime" }));
    expect(local.id).not.toBe(remote?.id);
    expect(local.medium).toMatchObject({ kind: "file", label: "in.mov", hasVideo: true });
    expect([local, remote].map((playable) => playable && isSource(playable))).toEqual([true, true]);
  });
});

it("finds the parameters of an output by the key that the service gives", () => {
  const request = requestOf({ "mp4:720p": [{ path: "a" }, { path: "b" }], mp3: { path: "c" }, webm: { key: "w" } });
  const params = ["mp4:720p:1", "mp4:720p:2", "mp3", "w", "webm"].map((key) => paramsOf(request, key));
  expect(params).toEqual([{ path: "a" }, { path: "b" }, { path: "c" }, { key: "w" }, {}]);
});

it("describes ffprobe's figures in words", () => {
  expect(fileFigures(file as never)).toEqual([
    ["Video", "H.264 1280×720 · 29.97 fps"],
    ["Audio", "AAC stereo · 48 kHz"],
    ["Length", "1 min 1 s"],
    ["Bitrate", "992 kbit/s"],
  ]);
  const tags = { variant_bitrate: "2500000" };
  const hls = { streams: [{ ...video, tags }, audio], format: { duration: "60", size: "1000000" } };
  const dash = { streams: [video, audio], format: { size: "2000000" } };
  expect(streamFigures({ hls, dash } as never)).toEqual([
    ["Variants", "720p 2.5 Mbit/s"],
    ["Video", "H.264 · 29.97 fps"],
    ["Audio", "AAC stereo · 48 kHz"],
    ["Length", "1 min"],
  ]);
  expect(fileFigures({ streams: [], format: {} })).toEqual([]);
});

it("adds the sizes of a stream's packages", () => {
  const dash = { format: { size: "2000000" } };
  expect([file, { hls: file, dash }, undefined].map((media) => sizeOf(media as never))).toEqual([
    7_500_000, 9_500_000, 0,
  ]);
});

it.each([
  [{ service: "s3", bucket: "vod" }, /AWS console → S3 → vod/, "AllowedOrigins"],
  [{ service: "r2", bucket: "vod" }, /R2 → vod/, "AllowedOrigins"],
  [{ service: "gcs", bucket: "vod" }, /gs:\/\/vod /, "responseHeader"],
  [{ service: "azure", container: "vod" }, /container vod/, "az storage cors add"],
  [{ service: "backblaze", bucket: "vod" }, /bucket update vod/, "s3_get"],
  [{ service: "s3other", bucket: "vod", endpoint: "https://minio.example" }, /--endpoint-url https/, "CORSRules"],
  [{ url: "https://media.example/in" }, /header/i, "Access-Control-Allow-Origin: *"],
  [undefined, /<bucket>/, "CORSRules"],
])("gives the CORS rule for the storage %o", (storage, label, text) => {
  const rule = bucketRule(storage);
  expect(rule.label).toMatch(label);
  expect(rule.text).toContain(text);
});

it("describes the loudness of each mix", () => {
  const mix = { layout: "stereo", output: { integrated: -16.02, true_peak: -1 }, gain_db: 7.43 };
  expect(loudnessFigures()).toEqual([]);
  expect(loudnessFigures([mix] as never)).toEqual([["Loudness", "−16.0 LUFS, gain +7.4 dB"]]);
  expect(loudnessFigures([mix, { ...mix, layout: "mono", gain_db: 0 }] as never)).toEqual([
    ["Loudness, stereo", "−16.0 LUFS, gain +7.4 dB"],
    ["Loudness, mono", "−16.0 LUFS"],
  ]);
  expect(loudnessFigures([1, 2].map((track) => ({ ...mix, track })) as never).map(([name]) => name)).toEqual([
    "Loudness, track 1, stereo",
    "Loudness, track 2, stereo",
  ]);
});
