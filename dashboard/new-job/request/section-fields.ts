// The fields of sources, storages, notifications and settings.
import { type FormField, flag, number, text } from "./form-field.ts";

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

/** Locations of buckets, by the name of their service. */
const PLACES: Readonly<Record<string, { readonly label: string; readonly fields: readonly FormField[] }>> = {
  s3: { label: "Amazon S3", fields: [BUCKET, { ...REGION, help: "us-east-1 by default" }] },
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

const KEY = text("key", "Name of the object", { first: true, example: "videos/a.mov" });

/** Services without an S3 API: the location and the keys. */
const BACKBLAZE: readonly FormField[] = [
  text("bucket_id", "Bucket ID", { first: true }),
  text("credentials.app_key_id", "Application key ID", { first: true }),
  { member: "credentials.app_key", label: "Application key", type: "secret", first: true },
];
const AZURE: readonly FormField[] = [
  text("container", "Container", { first: true }),
  text("credentials.account", "Account", { first: true }),
  { member: "credentials.api_key", label: "Access key", type: "secret", first: true },
];

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
    fields: [...BACKBLAZE, FOLDER],
  },
  azure: {
    label: "Azure Blob Storage",
    fields: [...AZURE, FOLDER, text("cache_control", "Cache-Control", { example: "max-age=3600" })],
  },
  url: {
    label: "Upload URL: each file in a POST",
    fields: [text("url", "URL", { first: true, example: "https://example.com/upload" })],
  },
};

/** Bucket services that sources can be in. */
export const SOURCES: Readonly<Record<string, Service>> = {
  ...Object.fromEntries(
    Object.entries(PLACES).map(([name, { label, fields }]) => [name, { label, fields: [...fields, KEY, ...KEYS] }]),
  ),
  backblaze: { label: "Backblaze B2", fields: [...BACKBLAZE, KEY] },
  azure: { label: "Azure Blob Storage", fields: [...AZURE, KEY] },
};

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
  flag("quality_report", "Measure the quality", "VMAF, PSNR and SSIM of the videos against their source"),
  text("queue", "Pool of nodes", { example: "default" }),
  number("priority", "Priority", { help: "−50 to 50" }),
  { member: "require", label: "Labels of nodes", type: "list", example: "gpu", help: "Each on its own line" },
  text("start_at", "Starts at", { example: "2026-12-01T02:00:00Z", help: "Up to 30 days ahead; at once by default" }),
  number("start_within_s", "Fails if it waits", { help: "Seconds; a day by default" }),
  number("max_run_s", "Fails if it runs", { help: "Seconds; no limit by default" }),
];

export const TAGS: FormField = {
  member: "tags",
  label: "Tags",
  type: "pairs",
  example: "tenant=a",
  help: "Names and values to find the job by, each on its own line",
  first: true,
};
