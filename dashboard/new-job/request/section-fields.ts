// The fields of sources, storages, notifications and settings: labels, examples and order. Their kinds are the
// schemas'.
import { type FieldText, type FormField, type SchemaFields, withSchema } from "./form-field.ts";
import { FIELDS } from "./schema-fields.ts";

export type Service = { readonly label: string; readonly fields: readonly FormField[] };

const PLACE: readonly FieldText[] = [
  { member: "url", label: "URL", example: "https://example.com/video.mov" },
  { member: "headers", label: "Headers of the requests", type: "headers", example: "Authorization: Bearer …" },
  { member: "endpoint", label: "Endpoint", example: "https://s3.example.com" },
  { member: "bucket", label: "Bucket" },
  { member: "bucket_id", label: "Bucket ID" },
  { member: "container", label: "Container" },
  { member: "folder", label: "Name of the folder", example: "media", help: "As the operator named it" },
  { member: "account_id", label: "Account ID", first: true },
  { member: "region", label: "Region", example: "eu-west-1", first: true },
  { member: "key", label: "Name of the object", example: "videos/a.mov" },
  { member: "credentials.access_key_id", label: "Access key ID" },
  { member: "credentials.secret_access_key", label: "Secret access key", type: "secret" },
  { member: "credentials.app_key_id", label: "Application key ID" },
  { member: "credentials.app_key", label: "Application key", type: "secret" },
  { member: "credentials.account", label: "Account" },
  { member: "credentials.api_key", label: "Access key", type: "secret" },
  { member: "credentials.session_token", label: "Session token", type: "secret", help: "Of temporary keys" },
  { member: "force_path_style", label: "Bucket in the path of URLs" },
];
const PART: readonly FieldText[] = [
  { member: "start", label: "Clip from", example: "12.5", help: "Seconds of the file" },
  { member: "end", label: "Clip to", example: "3600", help: "Seconds of the file" },
];
const OBJECTS: readonly FieldText[] = [
  { member: "path", label: "Folder", example: "videos", help: "Contains all outputs", first: true },
  { member: "acl", label: "ACL", example: "public-read" },
  { member: "storage_class", label: "Storage class" },
  { member: "cache_control", label: "Cache-Control", example: "max-age=3600" },
  { member: "expires", label: "Expires", example: "2027-10-21T07:28:00Z" },
];
const RECEIVER: readonly FieldText[] = [
  { member: "topic_arn", label: "Topic", example: "arn:aws:sns:us-east-1:123456789012:name" },
  ...PLACE,
  { member: "events", label: "Also of the input and of each output" },
  { member: "metadata", label: "With metadata" },
];
const WORK: readonly FieldText[] = [
  { member: "ultrafast", label: "Ultrafast", help: "Long videos are encoded in chunks by many nodes", first: true },
  { member: "quality_report", label: "Measure the quality", help: "VMAF, PSNR and SSIM of the videos" },
  { member: "queue", label: "Pool of nodes", example: "default" },
  { member: "priority", label: "Priority" },
  { member: "require", label: "Labels of nodes", example: "gpu", help: "Each on its own line" },
  { member: "start_at", label: "Starts at", example: "2026-12-01T02:00:00Z", help: "Up to 30 days ahead" },
  { member: "start_within_s", label: "Fails if it waits", help: "Seconds" },
  { member: "max_run_s", label: "Fails if it runs", help: "Seconds; no limit by default" },
];

/** The services with a label, in the order of the labels. */
const services = (
  labels: Readonly<Record<string, string>>,
  fields: Readonly<Record<string, SchemaFields>>,
  texts: readonly FieldText[],
): Readonly<Record<string, Service>> =>
  Object.fromEntries(
    Object.entries(labels).map(([name, label]) => [name, { label, fields: withSchema(texts, fields[name]) }]),
  );

const BUCKETS: Readonly<Record<string, string>> = {
  s3: "Amazon S3",
  gcs: "Google Cloud Storage",
  r2: "Cloudflare R2",
  dospaces: "DigitalOcean Spaces",
  linode: "Linode Object Storage",
  wasabi: "Wasabi",
  s3other: "Other S3-compatible service, such as the local system's",
  backblaze: "Backblaze B2",
  azure: "Azure Blob Storage",
  folder: "Folder on nodes, such as a NAS",
};

/** The storages of outputs. `url` is the upload URL, which has no service. */
export const STORAGES = services(
  { coconut: "Test storage", ...BUCKETS, url: "Upload URL: each file in a POST" },
  FIELDS.storages,
  [...PLACE, ...OBJECTS],
);

/** The places of sources, except uploads. */
export const SOURCES = services({ url: "A URL", ...BUCKETS }, FIELDS.sources, [
  ...PLACE,
  { member: "path", label: "Path of the file", example: "in/video.mov" },
  ...PART,
]);

/** The part of a source that is encoded. */
export const CLIP = withSchema(PART, FIELDS.sources.upload);

export const NOTIFICATIONS = services(
  { none: "None", http: "Webhook", sns: "Amazon SNS" },
  { ...FIELDS.notifications, none: {} },
  RECEIVER,
);

export const SETTINGS = withSchema(WORK, FIELDS.settings);

export const TAGS: FormField = {
  member: "tags",
  label: "Tags",
  type: "pairs",
  example: "tenant=a",
  help: "Names and values to find the job by, each on its own line",
  first: true,
};
