import { describe, expect, it } from "vitest";
import { parseJobRequest } from "../request/job-request.ts";
import { convertText, detectService } from "./convert.ts";
import { MEDIACONVERT_FIELDS } from "./mediaconvert/fields.ts";
import { readMediaConvert } from "./mediaconvert/mediaconvert.ts";
import type { Converted, FieldRow, Json } from "./note.ts";
import { Reader } from "./reader.ts";
import { OLD_SERVICES, type OldService } from "./services.ts";
import { COCONUT_V2_JOB, MEDIACONVERT_JOB, ZENCODER_JOB } from "./testing/examples.ts";
import { ZENCODER_FIELDS } from "./zencoder/fields.ts";
import { readZencoder } from "./zencoder/zencoder.ts";

const EXAMPLES: readonly (readonly [OldService, unknown])[] = [
  ["coconut", COCONUT_V2_JOB],
  ["zencoder", ZENCODER_JOB],
  ["mediaconvert", MEDIACONVERT_JOB],
];
const textOf = (body: unknown): string => (typeof body === "string" ? body : JSON.stringify(body));

function convert(body: unknown): Converted {
  const result = convertText(textOf(body));
  if (!result.ok) throw new Error(result.error);
  return result.converted;
}

/** Fills in the keys that people must add. */
function filled({ request }: Converted): unknown {
  return JSON.parse(JSON.stringify(request).replaceAll(/"(access_key_id|secret_access_key)":""/g, '"$1":"filled"'));
}
const error = (result: ReturnType<typeof parseJobRequest>): string => (result.ok ? "" : result.error.message);
const outputsOf = ({ request }: Converted): Json => request.outputs as Json;

describe.each(EXAMPLES)("%s", (service, body) => {
  it("is recognized as a request of its service", () => expect(detectService(body)).toBe(service));

  it("becomes a valid request after keys are filled in", () => {
    expect(error(parseJobRequest(filled(convert(body)), "none"))).toBe("");
  });

  it("has notes that contain no values", () => {
    expect(JSON.stringify(convert(body).notes)).not.toMatch(/hun|AKID|token/);
  });
});

const TABLES: readonly (readonly [string, readonly FieldRow[], (job: Reader) => unknown, unknown])[] = [
  ["Zencoder", ZENCODER_FIELDS, readZencoder, ZENCODER_JOB],
  ["MediaConvert", MEDIACONVERT_FIELDS, readMediaConvert, MEDIACONVERT_JOB],
];

it.each(TABLES)("uses all fields in the table of %s", (_, rows, read, example) => {
  const job = new Reader(example);
  read(job);
  const named = rows.flatMap((row) => ("becomes" in row ? [row.field] : []));
  // A job has either `Inputs[].Key` or its alternative.
  const unused = named.filter((field) => !job.hasUsed(field) && field !== "Inputs[].Key");
  expect(unused).toEqual([]);
});

it("reports a reason for each lost field of MediaConvert's example", () => {
  const { notes } = convert(MEDIACONVERT_JOB);
  const fields = notes.flatMap(({ level, field }) => (level === "lost" ? [field] : []));
  const output = "Settings.OutputGroups.0.Outputs.0";
  expect(fields).toEqual(
    expect.arrayContaining([
      "Role",
      "Settings.TimecodeConfig",
      "Settings.Inputs.1",
      "Settings.Inputs.0.AudioSelectors.Audio Selector 2.SelectorType",
      "Settings.Inputs.0.CaptionSelectors.File.SourceSettings.FileSourceSettings.Convert608To708",
      "Settings.Inputs.0.CaptionSelectors.Bucket",
      `${output}.AudioDescriptions.0.AudioNormalizationSettings.LoudnessLogging`,
      `${output}.CaptionDescriptions.0.DestinationSettings.BurninDestinationSettings.FontSize`,
      "Settings.OutputGroups.0.Outputs.1.CaptionDescriptions.1",
      "Settings.Inputs.0.FilterEnable",
      `${output}.VideoDescription.CodecSettings.H264Settings.{GopSize, Softness}`,
      `${output}.VideoDescription.VideoPreprocessors.NoiseReducer`,
    ]),
  );
  expect(fields).not.toContain("");
  expect(fields).not.toContain("Settings.OutputGroups");
  expect(notes.map(({ message }) => message)).not.toContain("is not known to the converter");
});

it.each(TABLES)("reports unknown fields of %s", (_, rows, read, example) => {
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
      subtitles: [{ url: "https://example.com/en.scc", language: "und" }],
    },
    "jpg:640x360": { key: "large", path: "thumbs/large_%04d.jpg", number: 5 },
    "png:320x0": { path: "thumbnails/small-%04d.png", interval: 10 },
    "png:0x100": { offsets: [1, 2.5] },
    "mp4:640x480_900k::maxrate=1200k,2pass": { key: "two pass", path: "videos/b.mp4" },
    "mp3:128k": { key: "audio", path: "a.mp3" },
    vtt: { key: "text", path: "a.vtt", from: "cc1" },
    "webm:vp9:x": { key: "silent", path: "silent.webm", captions: "drop" },
    httpstream: {
      key: "master",
      hls: { path: "hls" },
      playlist_name: "playlist",
      variants: ["mp4:640x360_600k", "mp4:1280x720_2000k"],
      segment_duration: 10,
      encryption: { key_uri: "https://example.com/key" },
      subtitles: [{ url: "https://example.com/de.vtt", language: "de", name: "Deutsch" }],
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
        "outputs.0.audio_normalize",
        "outputs.6.captions.1",
        "outputs.9",
        "outputs.9.caption_url",
        "outputs.10",
        "input.credentials",
      ].filter((field) => field !== "input.credentials"),
    ),
  );
});

it("converts audio tracks, loudness and captions of MediaConvert", () => {
  const es = { url: "https://example.com/es.srt", shift: 1.5 };
  expect(outputsOf(convert(MEDIACONVERT_JOB))).toMatchObject({
    "mp4:1920x1080_4500k_23.98fps:96k_48000hz_stereo:2pass,vprofile=high,level=41": {
      audio: [
        {},
        {
          from: [2, 3],
          optional: true,
          offset: -0.04,
          language: "en",
          name: "The 'described' track",
          role: "description",
          format: "ac3_384k_48000hz_multi",
        },
      ],
      loudness: { target: -24, true_peak: -2 },
      burn: { ...es, color: "#ffff00", outline_color: "#000000" },
    },
    srt: { path: "files/a_hd.srt", from: "cc3", shift: -10 },
    vtt: { path: "files/a_text.vtt", from: 2, shift: -10 },
    httpstream: [
      {
        audio: [{}, { from: "de", optional: true }, { url: "https://example.com/fr.wav" }],
        subtitles: [{ ...es, language: "es", name: "Español" }],
      },
      { dash: { path: "cmaf" } },
    ],
  });
});

const normalized = (settings: Json) => ({
  OutputGroups: [{ Outputs: [{ AudioDescriptions: [{ AudioNormalizationSettings: settings }] }] }],
});

it.each<[Json, unknown]>([
  [{ Algorithm: "ITU_BS_1770_1" }, -24],
  [{ Algorithm: "ITU_BS_1770_4" }, -23],
  [{ TargetLkfs: -16 }, -16],
  [{ TargetLkfs: -16, AlgorithmControl: "MEASURE_ONLY" }, "measure"],
])("converts the normalization %j of MediaConvert", (settings, loudness) => {
  expect(Object.values(outputsOf(convert(normalized(settings))))).toMatchObject([{ loudness }]);
});

it("keeps one audio track in containers that have one", () => {
  const wav = { CodecSettings: { Codec: "WAV" } };
  const { request, notes } = convert({
    OutputGroups: [{ Outputs: [{ ContainerSettings: { Container: "RAW" }, AudioDescriptions: [wav, wav] }] }],
  });
  expect(outputsOf({ request, notes })).toEqual({ wav: { path: "output.wav" } });
  expect(notes.map(({ message }) => message)).toContain("wav can hold one audio track");
});

it("converts settings of MediaConvert without a job around them", () => {
  expect(outputsOf(convert(MEDIACONVERT_JOB.Settings))).toEqual(outputsOf(convert(MEDIACONVERT_JOB)));
});

it("keeps requests of Coconut's API v2, except for fields that differ", () => {
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

it("detects the service of 1 MiB of line ends in linear time", () => {
  expect(detectService("\n".repeat(2 ** 20))).toBeNull();
});
