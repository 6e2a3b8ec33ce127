import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parseJobRequest } from "#shared/request/job-request.ts";
import { fileFolder } from "../../test/fixtures.ts";
import { buildJob, newFolder, withInput } from "./job-request.ts";
import { outputsOf } from "./output-request.ts";
import { assumedSource, planText } from "./plan.ts";
import { nameOf, sourceOf } from "./source.ts";
import { readyFiles } from "./watch.ts";

const folder = fileFolder();

describe("--to", () => {
  it.each<[string[], object]>([
    [["mp4:720p"], { "mp4:720p": { path: "v-720p.mp4" } }],
    [["mp4"], { mp4: { path: "v.mp4" } }],
    [["webm:vp9:128k:quality=4"], { "webm:vp9:128k:quality=4": { path: "v-vp9-128k-quality-4.webm" } }],
    [["mp4:x:64k"], { "mp4:x:64k": { path: "v-64k.mp4" } }],
    [["jpg:320x:number=5"], { "jpg:320x": { number: 5, path: "v-320x-%02d.jpg" } }],
    [["jpg:320x"], { "jpg:320x": { path: "v-320x.jpg" } }],
    [["jpg:320x::quality=4"], { "jpg:320x::quality=4": { path: "v-320x-quality-4.jpg" } }],
    [["gif:320x:number=5"], { "gif:320x": { number: 5, path: "v-320x.gif" } }],
    [["mp4:720p:path=a/b.mp4,duration=10"], { "mp4:720p": { path: "a/b.mp4", duration: 10 } }],
    [["mp4:if=width>=1280"], { mp4: { if: "width>=1280", path: "v.mp4" } }],
    [["mp4:2pass", "mp4:2pass"], { "mp4:2pass": [{ path: "v-2pass.mp4" }, { path: "v-2pass-2.mp4" }] }],
    [["vtt:from=en,shift=-1"], { vtt: { from: "en", shift: -1, path: "v.vtt" } }],
    [["srt:from=cc1,optional=true"], { srt: { from: "cc1", optional: true, path: "v.srt" } }],
    [["mp4:720p:audio=all"], { "mp4:720p": { audio: "all", path: "v-720p.mp4" } }],
    [["mkv:audio=en+3,duration=5"], { mkv: { audio: [{ from: "en" }, { from: 3 }], duration: 5, path: "v.mkv" } }],
    [["mpegts"], { mpegts: { path: "v.ts" } }],
    [["hls", "mp4"], { mp4: { path: "v.mp4" }, httpstream: { hls: { path: "v-hls" } } }],
    [["hls", "dash"], { httpstream: { hls: { path: "v-hls" }, dash: { path: "v-dash" } } }],
    [["hls-fmp4", "dash"], { httpstream: { hls: { path: "v-hls", segments: "fmp4" }, dash: { path: "v-dash" } } }],
    [["cmaf"], { httpstream: { dash: { path: "v-cmaf", hlsfmp4: true } } }],
    [["thumbnails"], { "jpg:320x": { number: 5, path: "v-320x-%02d.jpg" } }],
  ])("%j", (formats, outputs) => expect(outputsOf(formats, "v")).toEqual(outputs));

  it("passes --variant to streams", () => {
    const variants = ["mp4:1080p::quality=vmaf93", "mp4:720p::quality=vmaf93"];
    const subtitles = ["1", "pt-BR", "speech"];
    const streams = { variant: variants, dropSimilarVariants: true, subtitles, audio: ["all"] };
    const options = { to: ["mp4", "hls", "dash"], ...streams, qualityReport: true };
    const body = request(options);
    expect(body.outputs).toEqual({
      mp4: { path: "video.mp4" },
      httpstream: {
        hls: { path: "video-hls" },
        dash: { path: "video-dash" },
        variants,
        drop_similar_variants: true,
        subtitles: [{ from: 1 }, { from: "pt-BR" }, { from: "speech" }],
        audio: "all",
      },
    });
    expect(body.settings).toEqual({ quality_report: true });
    expect(parseJobRequest(body, "none")).toMatchObject({ ok: true });
    for (const alone of [{ variant: variants }, { dropSimilarVariants: true }, { subtitles }, { audio: ["en"] }])
      expect(() => request({ to: ["mp4"], ...alone })).toThrow("are for streams: name one, such as --to hls");
  });

  it.each([
    ["https://example.com/en.ass", { url: "https://example.com/en.ass" }],
    ["2", { from: 2 }],
    ["pt-BR", { from: "pt-BR" }],
  ])("passes --burn %s to all outputs", (burn, expected) => {
    expect(request({ to: ["mp4", "hls"], burn }).outputs).toEqual({
      mp4: { path: "video.mp4", burn: expected },
      httpstream: { hls: { path: "video-hls" }, burn: expected },
    });
  });

  it("passes --overlay with its place and width to all outputs", () => {
    const overlay = [
      "https://a.example:8080/logo.png:topright:12.5",
      "https://a.example/b.png:top",
      "http://c.example/d",
    ];
    const overlays = [
      { url: "https://a.example:8080/logo.png", anchor: "topright", width: 12.5 },
      { url: "https://a.example/b.png", anchor: "top" },
      { url: "http://c.example/d" },
    ];
    const { outputs } = request({ to: ["mp4", "hls"], overlay });
    expect(outputs).toEqual({
      mp4: { path: "video.mp4", overlays },
      httpstream: { hls: { path: "video-hls" }, overlays },
    });
    expect(parseJobRequest(request({ to: ["mp4", "hls"], overlay }), "none")).toMatchObject({ ok: true });
    expect(() => request({ to: ["mp4"], overlay: ["logo.png:top"] })).toThrow("the http or https URL of an image");
  });

  it("names a parameter without a value", () => {
    expect(() => outputsOf(["jpg:320x:number="], "v")).toThrow("--to jpg:320x:number=: `number=` is not a parameter");
  });

  it.each([..."mp4:720p hls dash cmaf thumbnails sprite webm:vp9_720p mp3".split(" "), "gif:320x:number=9,interval=1"])(
    "makes a request of %s that the service accepts",
    (format) => {
      const accepted = parseJobRequest(request({ to: [format] }), "none");
      if (format.startsWith("gif")) expect(accepted.ok).toBe(false);
      else expect(accepted).toMatchObject({ ok: true });
    },
  );
});

const AT = { endpoint: "http://127.0.0.1:9000", region: "us-east-1", bucket: "copra" };
const S3 = { ...AT, accessKeyId: "id", secretAccessKey: "secret" };
const LOCAL = { api: "http://127.0.0.1:8787/v2", apiKey: "k", adminToken: "a", s3: S3 };
const job = (options: object, local: typeof LOCAL | null = null) =>
  buildJob({ options: { ...options }, name: "video", local, folder: "run/" });
const request = (options: object) => withInput(job(options), { url: "https://example.com/a.mov" });

describe("a job", () => {
  it("stores outputs in a new folder of the local system's bucket, or at the service", () => {
    const local = job({ to: ["mp4"] }, LOCAL);
    expect(local).toMatchObject({ prefix: "run/", sections: { outputs: { mp4: { path: "run/video.mp4" } } } });
    expect(local.sections.storage).toMatchObject({ service: "s3other", bucket: "copra", force_path_style: true });
    expect(job({ to: ["mp4"] })).toMatchObject({ prefix: "", sections: { storage: { service: "coconut" } } });
    expect(newFolder(0, () => 0.5)).toBe("copra-19700101T000000-i000/");
  });

  it("takes sections from files and overrides them with options", () => {
    const [file, storage] = ["job.json", "storage.json"].map((name) => join(folder, name));
    writeFileSync(file ?? "", JSON.stringify({ outputs: { mp3: { path: "a.mp3" } }, settings: { priority: 3 } }));
    writeFileSync(storage ?? "", JSON.stringify({ service: "s3", bucket: "mine" }));
    const settings = { ultrafast: true, queue: "gpu", require: ["region:eu"] };
    const [startAt, notify] = ["2026-12-01T02:00:00Z", "https://example.com/hook"];
    const options = { file, storage, to: ["mp4"], ...settings, tag: ["order=7", "note=a=b"], startAt, notify };
    const { sections, prefix } = job(options, LOCAL);
    expect(prefix).toBe("");
    expect(sections).toEqual({
      storage: { service: "s3", bucket: "mine" },
      outputs: { mp3: { path: "a.mp3" }, mp4: { path: "video.mp4" } },
      notification: { type: "http", url: notify },
      settings: { priority: 3, ...settings, start_at: startAt },
      tags: { order: "7", note: "a=b" },
    });
  });

  it("names a saved storage, unless there is such a file", () => {
    expect(job({ to: ["mp4"], storage: "main" }).sections.storage).toEqual({ use: "main" });
    expect(() => job({ to: ["mp4"], storage: "none.json" })).toThrow("There is no file none.json");
  });

  it("names a template and its variables, and adds no sections of its own", () => {
    const options = { template: "web@3", var: ["id=a=b", "empty="], priority: "5" };
    expect(job({ ...options, start: "12.5" }, LOCAL)).toEqual({
      prefix: "",
      clip: { start: "12.5" },
      sections: { template: "web@3", vars: { id: "a=b", empty: "" }, settings: { priority: "5" } },
    });
    expect(job({ template: "web", to: ["mp4"] }).sections).toMatchObject({ outputs: { mp4: { path: "video.mp4" } } });
    expect(() => job({ template: "web", var: ["id"] })).toThrow("--var must be name=value");
    expect(() => job({ to: ["mp4"], var: ["id=1"] })).toThrow("--var needs --template");
  });

  it.each<[string, string | null, RegExp]>([
    ["missing.json", null, /^There is no file .*missing\.json$/],
    ["broken.json", "{", /broken\.json is not JSON/],
    ["list.json", "[]", /list\.json must be a job/],
    ["empty.json", "{}", /Name the outputs with --to/],
  ])("names the error in %s", (name, content, message) => {
    if (content !== null) writeFileSync(join(folder, name), content);
    expect(() => job({ file: join(folder, name) })).toThrow(message);
  });
});

it("accepts files, URLs and objects in buckets as sources", () => {
  writeFileSync(join(folder, "my video.mov"), "x");
  writeFileSync(join(folder, "empty.mov"), "");
  expect(sourceOf(join(folder, "my video.mov"), {})).toMatchObject({ kind: "file", size: 1 });
  const url = "https://example.com/a.mov";
  expect(sourceOf(url, {})).toEqual({ kind: "remote", input: { url } });
  const headers = { Authorization: "Bearer a:b", "X-A": "1" };
  const withHeaders = sourceOf(url, {}, ["Authorization: Bearer a:b", "X-A:1"]);
  expect(withHeaders).toEqual({ kind: "remote", input: { url, headers } });
  expect(() => sourceOf(url, {}, ["secret"])).toThrow(/^--header must be "Name: value"$/);
  expect(() => sourceOf("s3://bucket/a.mov", {}, ["A: b"])).toThrow("--header needs a source at an http(s) URL");
  const keys = { AWS_ACCESS_KEY_ID: "id", AWS_SECRET_ACCESS_KEY: "secret", AWS_REGION: "eu-west-1" };
  const credentials = { access_key_id: "id", secret_access_key: "secret" };
  const input = { service: "s3", bucket: "bucket", key: "in/a.mov", region: "eu-west-1", credentials };
  expect(sourceOf("s3://bucket/in/a.mov", keys)).toEqual({ kind: "remote", input });
  const session = { input: { credentials: { ...credentials, session_token: "token" } } };
  expect(sourceOf("s3://bucket/a.mov", { ...keys, AWS_SESSION_TOKEN: "token" })).toMatchObject(session);
  expect(() => sourceOf("s3://bucket/a.mov", {})).toThrow("AWS_ACCESS_KEY_ID");
  expect(() => sourceOf("s3://bucket", keys)).toThrow("must be s3://bucket/key");
  expect(() => sourceOf(join(folder, "empty.mov"), {})).toThrow("is empty");
});

it.each([
  ["/tmp/my video.final.mov", "my-video.final"],
  ["https://example.com/a/b%20c.mp4?token=x", "b-c"],
  ["s3://bucket/in/a.mov", "a"],
  ["../..", "output"],
  ["Überraschung.mkv", "Überraschung"],
])("derives the name of outputs from the source %s: %s", (source, name) => expect(nameOf(source)).toBe(name));

it("passes the facts from ffprobe to the plan", () => {
  const video = { index: 0, codec_type: "video", width: 1920, height: 1080, avg_frame_rate: "30000/1001" };
  const rotated = { ...video, side_data_list: [{ rotation: -90 }] };
  const facts = { width: 1920, height: 1080, fps: 29.97, duration: 12.5, rotation: 90, tracks: [] };
  expect(assumedSource({ streams: [rotated], format: { duration: "12.5" } })).toEqual(facts);
  const traits = { tags: { language: "ger", title: "K" }, disposition: { default: 1, comment: 0 } };
  const audio = { index: 1, codec_type: "audio", codec_name: "ac3", channels: 6, ...traits };
  const track = { type: "audio", codec: "ac3", language: "ger", title: "K", channels: 6, dispositions: ["default"] };
  const data = { index: 2, codec_type: "data" };
  expect(assumedSource({ streams: [audio, data], format: {} })).toEqual({ tracks: [track] });
});

it("encodes files of a watched folder that are complete, new and not hidden", () => {
  const file = (name: string, version = "1") => ({ name, version });
  const now = [file("new"), file("grows", "2"), file("done"), file("changed", "2"), file(".hidden"), file("a.part")];
  const before = [file("new"), file("grows", "1"), file("done"), file("changed", "2"), file(".hidden"), file("a.part")];
  expect(readyFiles(now, before, { done: "1", changed: "1" }).map(({ name }) => name)).toEqual(["new", "changed"]);
});

it("lists each rendition of a planned stream by its height", () => {
  const packages = ["hls" as const];
  const renditions = [
    { video: "v1", audio: "a1", width: 1280, height: 720, fps: 25, packages, variant: 0 },
    { video: null, audio: "a1", packages, variant: 1 },
  ];
  const stream = { key: "httpstream", type: "httpstream" as const, format: "httpstream", spec: {}, renditions };
  const lines = planText({ outputs: [stream], commands: [], refusals: [] }, (text) => text).split("\n");
  expect(lines.slice(3).map((line) => line.split(/ {2,}/))).toEqual([
    ["RENDITION", "VIDEO", "AUDIO", "IN"],
    ["httpstream 720p", "v1 1280x720 25 fps", "a1", "hls"],
    ["httpstream audio only", "a1", "hls"],
  ]);
});
