import { describe, expect, it } from "vitest";
import { parseJobRequest } from "../request/job-request.ts";
import { convertText, detectService } from "./convert.ts";
import { readElasticTranscoder } from "./elastic-transcoder/elastic-transcoder.ts";
import { ELASTIC_FIELDS } from "./elastic-transcoder/fields.ts";
import { SYSTEM_PRESETS } from "./elastic-transcoder/presets.ts";
import { MEDIACONVERT_FIELDS } from "./mediaconvert/fields.ts";
import { readMediaConvert } from "./mediaconvert/mediaconvert.ts";
import type { Converted, FieldRow, Json } from "./note.ts";
import { Reader } from "./reader.ts";
import { OLD_SERVICES, type OldService } from "./services.ts";
import {
  COCONUT_V1_CONFIG,
  COCONUT_V1_JSON,
  COCONUT_V2_JOB,
  ELASTIC_JOB,
  MEDIACONVERT_JOB,
  ZENCODER_JOB,
} from "./testing/examples.ts";
import { ZENCODER_FIELDS } from "./zencoder/fields.ts";
import { readZencoder } from "./zencoder/zencoder.ts";

const EXAMPLES: readonly (readonly [OldService, unknown])[] = [
  ["coconut", COCONUT_V2_JOB],
  ["coconut-v1", COCONUT_V1_CONFIG],
  ["coconut-v1", COCONUT_V1_JSON],
  ["zencoder", ZENCODER_JOB],
  ["elastic-transcoder", ELASTIC_JOB],
  ["mediaconvert", MEDIACONVERT_JOB],
];
const textOf = (body: unknown): string => (typeof body === "string" ? body : JSON.stringify(body));

function convert(body: unknown): Converted {
  const result = convertText(textOf(body));
  if (!result.ok) throw new Error(result.error);
  return result.converted;
}

/** With keys, which people fill in. */
function filled({ request }: Converted): unknown {
  return JSON.parse(JSON.stringify(request).replaceAll(/"(access_key_id|secret_access_key)":""/g, '"$1":"filled"'));
}
const error = (result: ReturnType<typeof parseJobRequest>): string => (result.ok ? "" : result.error.message);
const outputsOf = ({ request }: Converted): Json => request.outputs as Json;

describe.each(EXAMPLES)("%s", (service, body) => {
  it("is recognized", () => expect(detectService(body)).toBe(service));

  it("becomes a request that is valid when keys are filled in", () => {
    expect(error(parseJobRequest(filled(convert(body)), "none"))).toBe("");
  });

  it("has notes without values", () => {
    expect(JSON.stringify(convert(body).notes)).not.toMatch(/hun|AKID|token/);
  });
});

const TABLES: readonly (readonly [string, readonly FieldRow[], (job: Reader) => unknown, unknown])[] = [
  ["Zencoder", ZENCODER_FIELDS, readZencoder, ZENCODER_JOB],
  ["Elastic Transcoder", ELASTIC_FIELDS, readElasticTranscoder, ELASTIC_JOB],
  ["MediaConvert", MEDIACONVERT_FIELDS, readMediaConvert, MEDIACONVERT_JOB],
];

it.each(TABLES)("uses all fields of %s that its table has", (_, rows, read, example) => {
  const job = new Reader(example);
  read(job);
  const named = rows.flatMap((row) => ("becomes" in row ? [row.field] : []));
  // Jobs have one of these two.
  const unused = named.filter((field) => !job.hasUsed(field) && field !== "Inputs[].Key");
  expect(unused).toEqual([]);
});

it("finds a reason for each field that MediaConvert's example does not carry over", () => {
  const { notes } = convert(MEDIACONVERT_JOB);
  const fields = notes.flatMap(({ level, field }) => (level === "lost" ? [field] : []));
  const output = "Settings.OutputGroups.0.Outputs.0";
  expect(fields).toEqual(
    expect.arrayContaining([
      "Role",
      "Settings.TimecodeConfig",
      "Settings.Inputs.1",
      "Settings.Inputs.0.AudioSelectors",
      "Settings.Inputs.0.FilterEnable",
      `${output}.VideoDescription.CodecSettings.H264Settings.{GopSize, Softness}`,
      `${output}.VideoDescription.VideoPreprocessors.NoiseReducer`,
    ]),
  );
  expect(fields).not.toContain("");
  expect(fields).not.toContain("Settings.OutputGroups");
  expect(notes.map(({ message }) => message)).not.toContain("is not known to the converter");
});

it.each(TABLES)("reports each field of %s that it does not use", (_, rows, read, example) => {
  const used = (job: Reader): string => JSON.stringify(job.lost(rows));
  const job = new Reader({ ...(example as Json), made_up: { deep: 1 } });
  read(job);
  expect(used(job)).toContain('"made_up.deep","message":"is not known to the converter"');
});

it("converts the outputs of Zencoder", () => {
  const { request, notes } = convert(ZENCODER_JOB);
  expect(request).toMatchObject({
    input: { service: "s3", bucket: "in-bucket", region: "eu-west-1", key: "videos/a.mov" },
    storage: { service: "s3", bucket: "out-bucket", acl: "public-read", storage_class: "REDUCED_REDUNDANCY" },
    notification: { type: "http", url: "https://example.com/hook?token=hunter2", events: true },
  });
  expect((request.storage as Json).credentials).toEqual({ access_key_id: "AKID", secret_access_key: "hun/ter2" });
  expect(outputsOf({ request, notes })).toMatchObject({
    "mp4:1280x720_29.97fps:160k_48000hz_stereo:quality=4,maxrate=3000k,vprofile=high,level=41": {
      key: "web",
      path: "videos/a.mp4",
      offset: 62.5,
      duration: 30,
      fit: "crop",
      deinterlace: true,
      transpose: 1,
      watermark: { url: "https://example.com/logo.png", position: "bottomleft" },
    },
    "jpg:640x360": { key: "large", path: "thumbs/large_%04d.jpg", number: 5 },
    "png:320x0": { path: "thumbnails/small-%04d.png", interval: 10 },
    "png:0x100": { offsets: [1, 2.5] },
    "mp4:640x480_900k::maxrate=1200k,2pass": { key: "two pass", path: "videos/b.mp4" },
    "mp3:128k": { key: "audio", path: "a.mp3" },
    "webm:vp9:x": { key: "silent", path: "silent.webm", captions: "drop" },
    httpstream: {
      key: "master",
      hls: { path: "hls" },
      playlist_name: "playlist",
      variants: ["mp4:640x360_600k", "mp4:1280x720_2000k"],
      segment_duration: 10,
      encryption: { key_uri: "https://example.com/key" },
    },
  });
  expect(notes.map(({ field }) => field)).toEqual(
    expect.arrayContaining(
      [
        "outputs.3: frame rate",
        "outputs.2",
        "notifications.1",
        "outputs.0.{speed, h264_bframes, tuning}",
        "outputs.0.made_up",
        "outputs.7",
        "input.credentials",
      ].filter((field) => field !== "input.credentials"),
    ),
  );
});

it("converts jobs, pipelines and presets of Elastic Transcoder", () => {
  const converted = convert(ELASTIC_JOB);
  expect(converted.request).toMatchObject({
    input: { service: "s3", bucket: "in-bucket", region: "eu-west-1", key: "videos/a.mov" },
    storage: { service: "s3", bucket: "out-bucket", region: "eu-west-1", path: "out/a/" },
    notification: { type: "sns", region: "eu-west-1", topic_arn: "arn:aws:sns:eu-west-1:123456789012:done" },
  });
  expect(outputsOf(converted)).toMatchObject({
    "mp4:0x720_2400k_29.97fps:160k_stereo:vprofile=baseline,level=31": { path: "720p.mp4", transpose: 1, offset: 10.5 },
    "mp4:640x360_800k_25fps:96k_44100hz_stereo:maxrate=900k,vprofile=main,level=31": {
      path: "own.mp4",
      fit: "crop",
      offset: 5,
      duration: 20,
    },
    "png:192x0": { path: "thumbs/images-%05d.png", interval: 60 },
    "jpg:0x108": { path: "own-%05d.jpg", interval: 30 },
    httpstream: [
      {
        hls: { path: "hls", version: 3 },
        playlist_name: "index",
        segment_duration: 6,
        variants: [
          "mp4:1024x768_1872k:128k_stereo:vprofile=main,level=31",
          "mp4:640x432_872k:128k_stereo:vprofile=main,level=30",
          "mp4:x:64k_stereo",
        ],
      },
      // Its video and audio are separate outputs.
      {
        dash: { path: "stream" },
        playlist_name: "dash",
        variants: ["mp4:1280x720_4800k_30fps:128k_stereo:vprofile=main,level=31", "mp4:x:128k_stereo"],
      },
    ],
  });
});

it.each(SYSTEM_PRESETS)("converts the system preset %s", (PresetId) => {
  const job = { PipelineId: "1", Input: { Key: "a" }, Outputs: [{ Key: "a.bin", PresetId }] };
  const converted = convert(job);
  const { storage: _, ...request } = filled(converted) as Json;
  const storage = { service: "coconut" };
  expect(error(parseJobRequest({ ...request, input: { url: "https://example.com/a" }, storage }, "none"))).toBe("");
  expect(converted.notes.filter(({ level, field }) => level === "lost" && field.startsWith("Outputs"))).toEqual([]);
});

it("converts groups of MediaConvert", () => {
  const converted = convert(MEDIACONVERT_JOB);
  expect(converted.request).toMatchObject({
    input: { service: "s3", bucket: "in-bucket", key: "videos/a.mov" },
    storage: { service: "s3", bucket: "out-bucket", acl: "public-read", storage_class: "STANDARD_IA" },
    settings: { priority: 5, ultrafast: true },
  });
  expect(outputsOf(converted)).toMatchObject({
    "mp4:1920x1080_4500k_23.98fps:96k_48000hz_stereo:2pass,vprofile=high,level=41": {
      path: "files/a_hd.m4v",
      fit: "crop",
      deinterlace: true,
      offset: 10,
      duration: 60,
    },
    "mp3:192k_44100hz_stereo": { path: "files/a_audio.mp3" },
    "jpg:320x0": { path: "files/a_thumbs.%07d.jpg", interval: 5 },
    httpstream: [
      {
        hls: { path: "hls" },
        playlist_name: "index",
        segment_duration: 10,
        variants: [
          "mp4:1280x720:96k_48000hz_stereo:quality=4,maxrate=3000k",
          "mp4:640x360:96k_48000hz_stereo:quality=4,maxrate=3000k",
        ],
      },
      { dash: { path: "cmaf", hlsfmp4: true }, playlist_name: "a" },
    ],
  });
});

it("converts settings of MediaConvert without a job around them", () => {
  expect(outputsOf(convert(MEDIACONVERT_JOB.Settings))).toEqual(outputsOf(convert(MEDIACONVERT_JOB)));
});

it("converts configurations of Coconut's first API", () => {
  const converted = convert(COCONUT_V1_CONFIG);
  expect(converted.request).toMatchObject({
    input: { url: "https://example.com/1234.mov" },
    storage: { service: "s3", bucket: "my-bucket" },
    notification: { url: "https://example.com/hook?vid=1234", events: true, metadata: true },
  });
  expect(outputsOf(converted)).toMatchObject({
    "mp4:720p::quality=4": { if: "{{ input.width }} >= 1280", fit: "crop" },
    "jpg:300x": { number: 3, square: true },
    "png:320x": { offsets: [1, 10, 30] },
    "jpg:160x": { interval: 5, sprite: true, vtt: true },
    "gif:320x": { scene: { number: 3, duration: 2 } },
    "mp4:480p": { duration: 30, offset: 5, watermark: { url: "https://example.com/logo.png", position: "topleft" } },
    httpstream: {
      hls: { path: "hls" },
      dash: { path: "dash", hlsfmp4: true },
      variants: ["mp4:x:64k", "mp4:360p_600k", "mp4:720p"],
      playlist_name: "index",
    },
  });
  expect(converted.notes.map(({ field }) => field)).toEqual(
    expect.arrayContaining(["set api_version", "1 lines", "-> jpg:160x, storyboard"]),
  );
});

it("keeps requests of Coconut's second API, except for what differs", () => {
  const { request, notes } = convert(COCONUT_V2_JOB);
  expect(request).toMatchObject({ storage: { region: "us-east-1" }, outputs: { "mp4:h264_720p": { path: "/a.mp4" } } });
  expect(notes.map(({ level, field }) => [level, field])).toEqual([
    ["lost", "api_version"],
    ["todo", "storage.region"],
  ]);
});

it.each(["", "{}", "[]", "null", '"text"', "hello", '{"a":1}'])("does not convert %j", (text) => {
  expect(convertText(text)).toMatchObject({ ok: false });
});

it.each(OLD_SERVICES)("converts anything as %s without an exception", (service) => {
  for (const text of ["{}", '{"input":1,"outputs":[1,null,{"thumbnails":1}],"Outputs":"x","OutputGroups":[{}]}']) {
    expect(typeof convertText(text, service).ok).toBe("boolean");
  }
});

it("looks for a configuration in 1 MiB of line ends in linear time", () => {
  expect(detectService("\n".repeat(2 ** 20))).toBeNull();
});
