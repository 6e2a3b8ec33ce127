// The fields of the form: members of a request, with what people need to know about them.
import type { OutputKind } from "./output-list.ts";

export type FormField = {
  /** The member, with `.` between names: `hls.path`. */
  readonly member: string;
  readonly label: string;
  /** `list`: texts, one on each line; `numbers`: with commas between them. */
  readonly type: "text" | "number" | "flag" | "choice" | "list" | "numbers" | "secret";
  readonly choices?: readonly string[];
  /** An example, shown while the field is empty. */
  readonly example?: string;
  readonly help?: string;
  /** Shown without opening "More". */
  readonly first?: boolean;
};

const text = (member: string, label: string, more: Partial<FormField> = {}): FormField => ({
  ...{ member, label, type: "text" },
  ...more,
});
const number = (member: string, label: string, more: Partial<FormField> = {}): FormField => ({
  ...{ member, label, type: "number" },
  ...more,
});
const flag = (member: string, label: string, help?: string): FormField => ({
  ...{ member, label, type: "flag" },
  ...(help === undefined ? {} : { help }),
});
const choice = (member: string, label: string, choices: readonly string[], help?: string): FormField => ({
  ...{ member, label, type: "choice", choices },
  ...(help === undefined ? {} : { help }),
});

const PATH = text("path", "Path in the storage", { first: true, example: "video/720p.mp4" });
const COMMON: readonly FormField[] = [
  text("if", "Only if", { example: "{{ input.width }} >= 1280" }),
  text("key", "Key", { help: "Names the output in responses; the format by default" }),
];
const FILTERS: readonly FormField[] = [
  choice("fit", "Other aspect ratios", ["pad", "crop"]),
  choice("transpose", "Rotate", ["0", "1", "2", "3"], "1: 90° clockwise, 2: counterclockwise; 0 and 3 flip, too"),
  flag("hflip", "Flip horizontally"),
  flag("vflip", "Flip vertically"),
  text("watermark.url", "Watermark", { example: "https://example.com/logo.png" }),
  choice("watermark.position", "Its corner", ["topleft", "topright", "bottomleft", "bottomright"]),
];
const PART: readonly FormField[] = [
  number("offset", "Start at", { help: "Seconds" }),
  number("duration", "Length", { help: "Seconds" }),
];
const STILL: readonly FormField[] = [
  number("number", "Number of images", { first: true, help: "Spread evenly" }),
  number("interval", "One every", { help: "Seconds; 0 is automatic. Instead of a number" }),
  { member: "offsets", label: "At", type: "numbers", example: "1, 10, 30", help: "Seconds. Instead of a number" },
  flag("sprite", "Sprite sheets"),
  flag("vtt", "WebVTT file for seek bars"),
];

export const OUTPUT_FIELDS: Readonly<Record<OutputKind, readonly FormField[]>> = {
  video: [PATH, ...PART, ...COMMON, ...FILTERS, flag("deinterlace", "Deinterlace")],
  audio: [PATH, ...PART, ...COMMON],
  image: [PATH, ...STILL, ...COMMON, flag("square", "Square"), number("blur", "Blur", { help: "1 to 5" }), ...FILTERS],
  animated: [
    PATH,
    number("scene.number", "Scenes", { first: true }),
    number("scene.duration", "Length of each", { help: "Seconds, 5 at most" }),
    ...COMMON,
    flag("square", "Square"),
    ...FILTERS,
  ],
  stream: [
    text("path", "Folder in the storage", { first: true, example: "video" }),
    text("hls.path", "HLS in", { first: true, example: "hls", help: "MPEG-TS segments; empty for none" }),
    text("dash.path", "DASH in", { first: true, example: "dash", help: "Fragmented MP4; empty for none" }),
    flag("dash.hlsfmp4", "HLS playlists for the DASH segments, too"),
    {
      member: "variants",
      label: "Renditions",
      type: "list",
      example: "mp4:720p\nmp4:360p",
      help: "Formats, one on each line. By default 240p to 2160p, as far as the source is large enough",
    },
    flag("live_playlist", "Play while it is encoded", "The playlists grow with the stream"),
    flag("thumbnails", "Thumbnails for seek bars"),
    number("segment_duration", "Segments", { help: "2 to 10 seconds; 6 by default" }),
    text("playlist_name", "Name of the playlist", { example: "master" }),
    choice("hls.version", "HLS version", ["3", "4", "5", "6", "7"], "3: video and audio in the same segments"),
    text("encryption.key_uri", "URL of the key", { help: "Encrypts the HLS segments (AES-128)" }),
    {
      member: "encryption.key",
      label: "Key",
      type: "secret",
      help: "32 hexadecimal digits; made by the service by default",
    },
    ...COMMON,
  ],
};

const BUCKET = text("bucket", "Bucket", { first: true });
const REGION = text("region", "Region", { first: true, example: "eu-west-1" });
const KEYS: readonly FormField[] = [
  text("credentials.access_key_id", "Access key ID", { first: true }),
  { member: "credentials.secret_access_key", label: "Secret access key", type: "secret", first: true },
];
const OBJECTS: readonly FormField[] = [
  text("acl", "ACL", { example: "public-read", help: "By default as the bucket specifies" }),
  text("storage_class", "Storage class"),
  text("cache_control", "Cache-Control", { example: "max-age=3600" }),
];
const FOLDER = text("path", "Folder", { first: true, example: "videos", help: "Contains all outputs" });

export type Service = { readonly label: string; readonly fields: readonly FormField[] };

const ENDPOINT = text("endpoint", "Endpoint", { first: true, example: "https://s3.example.com" });
const PATH_STYLE = flag("force_path_style", "Bucket in the path of URLs");

/** Where buckets are, by the name of their service. */
const PLACES: Readonly<Record<string, { readonly label: string; readonly fields: readonly FormField[] }>> = {
  s3: { label: "Amazon S3", fields: [BUCKET, REGION] },
  gcs: { label: "Google Cloud Storage", fields: [BUCKET] },
  r2: { label: "Cloudflare R2", fields: [BUCKET, text("account_id", "Account ID", { first: true })] },
  dospaces: { label: "DigitalOcean Spaces", fields: [BUCKET, { ...REGION, example: "fra1" }] },
  linode: { label: "Linode Object Storage", fields: [BUCKET, REGION] },
  wasabi: { label: "Wasabi", fields: [BUCKET, REGION] },
  s3other: {
    label: "Other S3-compatible service, such as the local system's",
    fields: [ENDPOINT, BUCKET, { ...REGION, example: "us-east-1" }, PATH_STYLE],
  },
};

/** The storages of outputs. `url` is the upload URL, which has no service. */
export const STORAGES: Readonly<Record<string, Service>> = {
  coconut: { label: "Test storage: outputs are public for a day", fields: [FOLDER] },
  ...Object.fromEntries(
    Object.entries(PLACES).map(([name, { label, fields }]) => [
      name,
      { label, fields: [...fields, ...KEYS, FOLDER, ...OBJECTS] },
    ]),
  ),
  backblaze: {
    label: "Backblaze B2",
    fields: [
      text("bucket_id", "Bucket ID", { first: true }),
      text("credentials.app_key_id", "Application key ID", { first: true }),
      { member: "credentials.app_key", label: "Application key", type: "secret", first: true },
      FOLDER,
    ],
  },
  azure: {
    label: "Azure Blob Storage",
    fields: [
      text("container", "Container", { first: true }),
      text("credentials.account", "Account", { first: true }),
      { member: "credentials.api_key", label: "Access key", type: "secret", first: true },
      FOLDER,
      text("cache_control", "Cache-Control", { example: "max-age=3600" }),
    ],
  },
  url: {
    label: "Upload URL: each file in a POST",
    fields: [text("url", "URL", { first: true, example: "https://example.com/upload" })],
  },
};

/** Buckets that sources can be in. */
export const SOURCES: Readonly<Record<string, Service>> = Object.fromEntries(
  Object.entries(PLACES).map(([name, { label, fields }]) => [
    name,
    {
      label,
      fields: [...fields, text("key", "Name of the object", { first: true, example: "videos/a.mov" }), ...KEYS],
    },
  ]),
);

export const NOTIFICATIONS: Readonly<Record<string, Service>> = {
  none: { label: "None", fields: [] },
  http: {
    label: "Webhook",
    fields: [
      text("url", "URL", { first: true, example: "https://example.com/hook" }),
      flag("events", "Also of the input and of each output"),
      flag("metadata", "With metadata"),
    ],
  },
  sns: {
    label: "Amazon SNS",
    fields: [
      text("topic_arn", "Topic", { first: true, example: "arn:aws:sns:us-east-1:123456789012:name" }),
      REGION,
      ...KEYS,
      flag("events", "Also of the input and of each output"),
      flag("metadata", "With metadata"),
    ],
  },
};

export const SETTINGS: readonly FormField[] = [
  { ...flag("ultrafast", "Ultrafast", "Long videos are encoded in chunks by many nodes"), first: true },
  text("queue", "Pool of nodes", { example: "default" }),
  number("priority", "Priority", { help: "−50 to 50" }),
  { member: "require", label: "Labels of nodes", type: "list", example: "gpu", help: "One on each line" },
  number("start_within_s", "Fails if it waits", { help: "Seconds; a day by default" }),
  number("max_run_s", "Fails if it runs", { help: "Seconds; no limit by default" }),
];
