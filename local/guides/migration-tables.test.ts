// Hand-written tables of other services' requests: each row of a page has a request here, which the service accepts.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parseJobRequest } from "#shared/request/job-request.ts";
import { isObject } from "../../dashboard/new-job/secrets.ts";
import { ROOT } from "../home/constants.ts";

// Loaded at run time: the Worker's types differ from Node's.
const operations = new URL("../../worker/http/openapi/operations.ts", import.meta.url).href;
const { OPERATIONS }: { OPERATIONS: readonly { route: string }[] } = await import(operations);
const ROUTES = OPERATIONS.map(({ route }) => route.replace(/\{.*?\}/g, ""));

type Changes = Readonly<Record<string, unknown>>;

const BASE = {
  input: { url: "https://example.com/video.mp4" },
  storage: { service: "coconut" },
  outputs: { "mp4:720p": { path: "a.mp4" } },
  notification: { type: "http", url: "https://example.com/hook" },
};
const video = (params: Changes): Changes => ({ outputs: { "mp4:720p": { path: "a.mp4", ...params } } });
const image = (params: Changes): Changes => ({ outputs: { "jpg:320x": { path: "a-%02d.jpg", ...params } } });
const stream = (params: Changes): Changes => ({
  outputs: { httpstream: { path: "a", hls: { path: "hls" }, dash: { path: "dash" }, ...params } },
});
const formats = (...names: string[]): Changes => ({
  outputs: Object.fromEntries(names.map((name, at) => [name, { path: `${at}.mp4` }])),
});
/** A row about something other than a request of a job. */
const OTHER = {};

/** The changes to BASE, by the first words of each row. */
const ROWS: Readonly<Record<string, Readonly<Record<string, Changes>>>> = {
  mux: {
    "POST /video/v1/assets": OTHER,
    "inputs[0].url": { input: BASE.input },
    "inputs[].url": stream({ subtitles: [{ url: "https://example.com/en.vtt", language: "en" }] }),
    "inputs[0].overlay_settings": video({ watermark: { url: "https://example.com/logo.png" } }),
    "inputs[0].start_time": video({ offset: 5, duration: 10 }),
    video_quality: stream({ variants: ["mp4:360p::quality=3", "mp4:720p::quality=4"] }),
    max_resolution_tier: stream({ variants: ["mp4:720p"] }),
    static_renditions: formats("mp4:720p", "m4a:128k"),
    master_access: OTHER,
    playback_policies: stream({ encryption: { key_uri: "https://example.com/key" } }),
    "passthrough, meta": { tags: { id: "42" } },
    "https://stream.mux.com/": stream({}),
    "https://image.mux.com/<id>/thumbnail": image({ offsets: [3] }),
    "https://image.mux.com/<id>/animated": formats("gif:320x"),
    "https://image.mux.com/<id>/storyboard": image({ interval: 10, sprite: true, vtt: true }),
    "Direct uploads": { input: { upload: "h2Ks9dQ0aLwE4nRb7TcX" } },
    "video.asset.ready": { notification: { ...BASE.notification, events: true } },
    "mux-signature": OTHER,
    "access token id": OTHER,
    "mux webhooks listen": OTHER,
    "GET /video/v1/delivery-usage": OTHER,
  },
  transloadit: {
    Assembly: OTHER,
    "/http/import": { input: BASE.input },
    "/upload/handle": { input: { upload: "h2Ks9dQ0aLwE4nRb7TcX" } },
    '/video/encode with preset: "hls-720p"': stream({ variants: ["mp4:720p"] }),
    '/video/encode with preset: "web/mp4': formats("mp4:720p", "mp4:1280x720", "mp4:720p_2000k"),
    ffmpeg_stack: OTHER,
    "/video/adaptive": stream({}),
    "/video/thumbs count": {
      outputs: {
        "jpg:320x": [
          { path: "a-%02d.jpg", number: 5 },
          { path: "b.jpg", offsets: [3] },
        ],
      },
    },
    "/video/thumbs and": image({ sprite: true, vtt: true, number: 9 }),
    "/video/encode watermark_url": video({ watermark: { url: "https://example.com/logo.png", position: "topleft" } }),
    "/audio/encode": formats("mp3:128k"),
    "/image/resize": formats("jpg:320x"),
    "/s3/store": { storage: BASE.storage },
    path: video({}),
    "template_id, fields": OTHER,
    "fields for own data": { tags: { id: "42" } },
    notify_url: { notification: BASE.notification },
    "/video/subtitle": video({
      subtitles: [{ url: "https://example.com/en.srt", language: "en" }],
      burn: { url: "https://example.com/en.srt" },
    }),
    conditions: video({ if: "{{ input.height }} >= 1080" }),
    "auth.key": OTHER,
    "GET /assemblies": OTHER,
    "POST /assemblies": OTHER,
    "bills by GB": OTHER,
  },
};

/** All names and texts in a value. */
const textsOf = (value: unknown): string[] => {
  if (Array.isArray(value)) return value.flatMap(textsOf);
  return isObject(value) ? [...Object.keys(value), ...Object.values(value).flatMap(textsOf)] : [String(value)];
};

describe.each(Object.entries(ROWS))("docs/migrating/%s.md", (service, changes) => {
  const text = readFileSync(join(ROOT, `docs/migrating/${service}.md`), "utf8");
  const rows = [...text.matchAll(/^\| (.*?) \| (.*) \|$/gm)].slice(2);
  const requests = Object.entries(changes);
  const startsWith = (theirs: string, words: string): boolean => theirs.replaceAll("`", "").startsWith(words);

  it("has the tested rows", () => {
    expect(rows).toHaveLength(requests.length);
    for (const [at, [, theirs = ""]] of rows.entries()) expect(theirs.replaceAll("`", "")).toContain(requests[at]?.[0]);
  });

  it.each(requests)("names parameters in the row %s that the service accepts", (words, change) => {
    const parsed = parseJobRequest({ ...BASE, ...change }, "none");
    expect(parsed.ok ? "" : parsed.error.message).toBe("");
    const [, , ours = ""] = rows.find(([, theirs = ""]) => startsWith(theirs, words)) ?? [];
    expect(ours).not.toBe("");
    const spans = [...ours.matchAll(/`([^`]+)`/g)].map(([, span = ""]) => span);
    const routes = spans.filter((span) => /^(?:GET|POST) /.test(span));
    for (const route of routes) expect(ROUTES).toContain(route);
    if (change === OTHER) return;
    const known = textsOf(change).join(" ");
    const names = spans.flatMap((span) => (/^[a-z]+:\w+$|^[a-z]+$/.test(span) ? [span] : []));
    for (const name of names) expect(known).toContain(name);
  });
});

it.each([
  ["mux", ["captions", "images", "tags", "templates", "upload-links", "usage", "verify-webhooks"]],
  ["transloadit", ["bucket-events", "captions", "images", "streams", "tags", "templates", "upload-links", "usage"]],
  ["zencoder", ["captions", "notifications", "storage", "streams", "tags", "templates"]],
  ["mediaconvert", ["audio-tracks", "captions", "loudness", "notifications", "storage", "tags", "templates"]],
  ["../coming-from-coconut", ["bucket-events", "notifications", "storage", "tags", "templates", "upload-links"]],
])("docs/migrating/%s.md links the pages of all features that its users need", (service, features) => {
  const text = readFileSync(join(ROOT, `docs/migrating/${service}.md`), "utf8");
  const links = new Set([...text.matchAll(/\]\((?:\.\.\/)?([\w-]+)\.md/g)].map(([, page]) => page));
  expect(features.filter((page) => !links.has(page))).toEqual([]);
});
