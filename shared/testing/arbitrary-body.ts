// Bodies for property-based tests: complete requests of all kinds, with a few errors.
import fc from "fast-check";

const keys = { access_key_id: "AKID", secret_access_key: "secret" };
const watermark = { url: "https://media.example.com/logo.png", position: "topleft" };

const STORAGES: readonly unknown[] = [
  { service: "s3", bucket: "videos", region: "eu-west-1", path: "/a", acl: "public-read", credentials: keys },
  {
    service: "s3other",
    bucket: "videos",
    endpoint: "https://s3.example.com",
    force_path_style: true,
    credentials: keys,
  },
  { service: "gcs", bucket: "videos", credentials: keys },
  { service: "dospaces", bucket: "videos", region: "nyc3", credentials: keys },
  { service: "wasabi", bucket: "videos", region: "eu-central-1", credentials: keys },
  { service: "azure", container: "videos", credentials: { account: "videos", api_key: "c2VjcmV0" } },
  { service: "coconut" },
  { url: "https://user:password@upload.example.com/in?token=1" },
];

const OUTPUTS: readonly unknown[] = [
  {
    "mp4:720p": { path: "/720p.mp4", if: "{{ input.width }} >= 1280 and not {{ input.is_audio_only }}" },
    "webm:vp9_x360:opus_96k": [{ key: "small", path: "small.webm", duration: 10.5, offset: 3, fit: "crop" }],
    "mp4:x:64k": { path: "audio.mp4" },
    mp3: { path: "audio.mp3" },
    "mkv:360p": {
      path: "tracks.mkv",
      audio: [
        { from: "en", default: true },
        { from: [2, 3], map: [[1, 0.5]], role: "description", offset: 0.5, format: "ac3_384k" },
        { url: "https://media.example.com/fr.wav", language: "fr", name: "Fran\u00e7ais", optional: true },
      ],
    },
    "avi:240p": { path: "a.avi", format: { resolution: "0x240", video_bitrate: "500k" }, watermark, hflip: true },
  },
  {
    "jpg:300x": [
      { path: "thumbs/%02d.jpg", number: 5, square: true, blur: 2 },
      { path: "at/%d.jpg", offsets: [1, 2.5] },
      { path: "sheet-%02d.jpg", interval: 0, sprite: { limit: 40, columns: 5 }, vtt: { filename: "sheet.vtt" } },
    ],
    "gif:200x": { path: "a.gif", scene: { number: 3, duration: 2 } },
  },
  {
    httpstream: {
      hls: { path: "hls" },
      dash: { path: "dash", hlsfmp4: true },
      variants: ["mp4:x:64k", "mp4:360p::quality=4", "mp4:hevc_720p"],
      playlist_name: "index",
      segment_duration: 4,
      encryption: { key: "00112233445566778899aabbccddeeff", key_uri: "https://keys.example.com/1" },
      subtitles: [{ url: "https://media.example.com/en.srt", language: "en", name: "English", default: true }],
      thumbnails: true,
      if: "({{ input.rotation }} = 90 or {{ input.rotation }} = 270) and {{ input.height }} > 100",
    },
  },
];

const section = (...values: readonly unknown[]) => fc.constantFrom(...values);

export const completeBody = fc.record({
  input: section(
    { url: "https://user:password@media.example.com:8443/video.mp4?signature=1" },
    { service: "s3", bucket: "videos", region: "eu-west-1", key: "in/video.mp4", credentials: keys },
  ),
  storage: section(...STORAGES),
  outputs: section(...OUTPUTS),
  notification: section(
    { type: "http", url: "https://example.com/hook", params: { id: 7 }, events: true, metadata: true },
    { type: "sns", region: "eu-west-1", topic_arn: "arn:aws:sns:eu-west-1:123456789012:videos", credentials: keys },
  ),
  settings: section(
    { ultrafast: true },
    { quality_report: true },
    { queue: "spare", priority: 5, require: ["gpu"] },
    { start_within_s: 3600, max_run_s: 86_400 },
  ),
});

/** Values that are plausible, almost valid, or harmful. */
const NASTY: readonly unknown[] = [
  ...[
    null,
    true,
    -1,
    0,
    0.5,
    1e21,
    2 ** 53,
    "",
    " ",
    "\u0000",
    "__proto__",
    "constructor",
    "%02d",
    "../../x",
    "x".repeat(9000),
  ],
  ...[
    "mp4:",
    "mp4:::",
    "jpg:0x0",
    "webm:h264",
    "{{ input.width",
    "((((((((",
    "NOT NOT NOT",
    "http://[::1]/",
    "http://0x7f.1/",
  ],
  ...[[], {}, [[]], [null], { "": "" }],
];

type Mutation = { steps: readonly number[]; act: "replace" | "remove" | "add"; name: string; value: unknown };

const mutation: fc.Arbitrary<Mutation> = fc.record({
  steps: fc.array(fc.nat(11), { maxLength: 6 }),
  act: fc.constantFrom("replace", "remove", "add"),
  name: fc.oneof(fc.string(), fc.constantFrom("__proto__", "path", "key", "format", "if", "mp4:240p", "httpstream")),
  value: fc.oneof(fc.jsonValue({ maxDepth: 2 }), fc.constantFrom(...NASTY)),
});

/** A complete body with up to three mutations, or any JSON. */
export const arbitraryBody: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 19, arbitrary: fc.tuple(completeBody, fc.array(mutation, { maxLength: 3 })).map(mutated) },
  { weight: 1, arbitrary: fc.jsonValue() },
);

/** Copies a value, so that a value that occurs twice is not changed twice. */
const copyOf = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

function mutated([body, mutations]: [unknown, readonly Mutation[]]): unknown {
  const copy = copyOf(body);
  for (const change of mutations) mutate(copy, change);
  return copy;
}

/** Follows the steps, each to a property by its number, and changes the value there. */
function mutate(root: unknown, { steps, act, name, value }: Mutation): void {
  let parent = root;
  for (const [depth, step] of steps.entries()) {
    if (typeof parent !== "object" || parent === null) return;
    const members = parent as Record<string, unknown>;
    const names = Object.keys(members);
    const key = names[step % names.length];
    if (key === undefined) break;
    const child = members[key];
    if (depth < steps.length - 1 && typeof child === "object" && child !== null) parent = child;
    else if (act === "replace") members[key] = copyOf(value);
    else if (act === "remove") delete members[key];
    else if (Array.isArray(parent)) parent.push(copyOf(value));
    else members[name] = copyOf(value);
  }
}
