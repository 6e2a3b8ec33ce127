// The body of POST /v2/jobs: one schema per section, parsed in the order in which errors are answered (api-v2 §2).
import * as z from "zod";
import { type AllowPrivate, checkUrl } from "./address-policy.ts";
import { parseOutputs } from "./job-request-outputs.ts";
import type { OutputSpec } from "./output-spec.ts";
import { isCleanPath, isObject, type Parsed, parseSection, refuse } from "./parse-section.ts";

export const InputSpec = z.object({ url: z.string() });
export type InputSpec = z.infer<typeof InputSpec>;

/** A bucket that speaks S3, without its credentials. */
export const StorageSpec = z.discriminatedUnion("service", [
  z.object({ service: z.literal("s3"), bucket: z.string(), region: z.string(), path: z.string() }),
  z.object({
    service: z.literal("s3other"),
    bucket: z.string(),
    region: z.string(),
    path: z.string(),
    endpoint: z.string(),
    forcePathStyle: z.boolean(),
  }),
]);
export type StorageSpec = z.infer<typeof StorageSpec>;

export const StorageCredentials = z.object({ accessKeyId: z.string(), secretAccessKey: z.string() });
export type StorageCredentials = z.infer<typeof StorageCredentials>;

export const NotificationSpec = z.object({
  type: z.literal("http"),
  url: z.string(),
  params: z.record(z.string(), z.string()),
  /** Whether events before the end are sent too. */
  events: z.boolean(),
  /** Whether payloads carry metadata. */
  metadata: z.boolean(),
});
export type NotificationSpec = z.infer<typeof NotificationSpec>;

export const SettingsSpec = z.object({ ultrafast: z.boolean() });
export type SettingsSpec = z.infer<typeof SettingsSpec>;

export type JobRequest = {
  input: InputSpec;
  storage: StorageSpec;
  credentials: StorageCredentials;
  outputs: OutputSpec[];
  notification: NotificationSpec;
  settings: SettingsSpec;
};

/** Parses the body of a job request; the first section that is wrong answers. */
export function parseJobRequest(body: unknown, allow: AllowPrivate): Parsed<JobRequest> {
  if (!isObject(body)) return refuse("json_not_valid", "The body must be a JSON object");
  const input = parseInput(body.input, allow);
  if (!input.ok) return input;
  const storage = parseStorage(body.storage, allow);
  if (!storage.ok) return storage;
  const outputs = parseOutputs(body.outputs);
  if (!outputs.ok) return outputs;
  const notification = parseNotification(body.notification, allow);
  if (!notification.ok) return notification;
  const settings = parseSection(SettingsBody, body.settings ?? {}, "settings", "settings_not_valid");
  if (!settings.ok) return settings;
  return {
    ok: true,
    value: {
      input: input.value,
      ...storage.value,
      outputs: outputs.value,
      notification: notification.value,
      settings: settings.value,
    },
  };
}

// ── input ──────────────────────────────────────────────────────────────────────────────────────────────────────────

/** Signed addresses are long; beyond this no server takes them. */
const MAX_URL_CHARS = 8192;

function parseInput(value: unknown, allow: AllowPrivate): Parsed<InputSpec> {
  if (!isObject(value)) return refuse("input_not_valid", "The job 'input' is not a valid object.");
  if (typeof value.url !== "string" || value.url === "") {
    return refuse("input_url_not_valid", "`input.url` must be the http or https address of the media file");
  }
  const { url, ...rest } = value;
  const [extra] = Object.keys(rest);
  if (extra !== undefined) return refuse("input_not_valid", `\`input.${extra}\` is not known; allowed: url`);
  if (url.length > MAX_URL_CHARS)
    return refuse("input_url_not_valid", `\`input.url\`: at most ${MAX_URL_CHARS} characters`);
  const checked = checkUrl(url, allow);
  if (!checked.ok) return refuse("input_url_not_valid", `\`input.url\`: ${checked.reason}`);
  return { ok: true, value: { url: checked.url } };
}

// ── storage ────────────────────────────────────────────────────────────────────────────────────────────────────────

const text = (max: number) =>
  z.string("must be a string").trim().min(1, "must not be empty").max(max, `at most ${max} characters`);

/** Bucket names of S3, with the looser alphabet that some compatible services allow. */
const bucket = text(255).regex(/^[A-Za-z0-9][A-Za-z0-9._-]*$/, "must be a bucket name: letters, digits, dots, hyphens");
const region = text(64).regex(/^[a-z0-9-]+$/i, "must be a region name such as us-east-1");
const folder = z
  .string("must be a string")
  .max(512)
  .refine(isCleanPath, "must be a path without `.` or `..` parts")
  .default("");

const S3Body = z
  .strictObject({ service: z.literal("s3"), bucket, region, path: folder, credentials: z.unknown() })
  .transform(({ credentials: _credentials, ...rest }) => rest);
const S3OtherBody = z
  .strictObject({
    credentials: z.unknown(),
    service: z.literal("s3other"),
    bucket,
    region: region.default("us-east-1"),
    path: folder,
    endpoint: text(1024),
    force_path_style: z.boolean("must be true or false").default(false),
  })
  .transform(({ force_path_style, credentials: _credentials, ...rest }) => ({
    ...rest,
    forcePathStyle: force_path_style,
  }));

const SERVICES = ["s3", "s3other"];

function parseStorage(
  value: unknown,
  allow: AllowPrivate,
): Parsed<{ storage: StorageSpec; credentials: StorageCredentials }> {
  if (!isObject(value)) return refuse("storage_not_valid", "`storage` must be an object");
  if (typeof value.service !== "string" || !SERVICES.includes(value.service)) {
    const shown = typeof value.service === "string" ? `\`${value.service}\` is not known` : "is missing";
    return refuse("storage_service_not_valid", `\`storage.service\` ${shown}; allowed: ${SERVICES.join(", ")}`);
  }
  const credentials = parseCredentials(value.credentials);
  if (!credentials.ok) return credentials;
  const schema = value.service === "s3" ? S3Body : S3OtherBody;
  const storage = parseSection<StorageSpec>(schema, value, "storage", "storage_not_valid");
  if (!storage.ok) return storage;
  if (storage.value.service === "s3other") {
    const checked = checkUrl(storage.value.endpoint, allow);
    if (!checked.ok) return refuse("storage_not_valid", `\`storage.endpoint\`: ${checked.reason}`);
  }
  return { ok: true, value: { storage: storage.value, credentials: credentials.value } };
}

function parseCredentials(value: unknown): Parsed<StorageCredentials> {
  const { access_key_id: accessKeyId, secret_access_key: secretAccessKey } = isObject(value) ? value : {};
  if (typeof accessKeyId === "string" && accessKeyId && typeof secretAccessKey === "string" && secretAccessKey) {
    return { ok: true, value: { accessKeyId, secretAccessKey } };
  }
  return refuse(
    "storage_credentials_not_valid",
    "The storage credentials are not correct: `access_key_id` and `secret_access_key` must both be defined in `storage.credentials`",
  );
}

// ── notification, settings ─────────────────────────────────────────────────────────────────────────────────────────

const NotificationBody = z.strictObject({
  type: z.literal("http", "must be http"),
  url: text(2048),
  params: z
    .record(z.string().max(200), z.union([z.string().max(1000), z.number(), z.boolean()]).transform(String))
    .refine((params) => Object.keys(params).length <= 50, "has at most 50 members")
    .default({}),
  events: z.boolean("must be true or false").default(false),
  metadata: z.boolean("must be true or false").default(false),
});

function parseNotification(value: unknown, allow: AllowPrivate): Parsed<NotificationSpec> {
  if (!isObject(value))
    return refuse("notification_not_valid", "`notification` must be an object with `type` and `url`");
  const parsed = parseSection<NotificationSpec>(NotificationBody, value, "notification", "notification_not_valid");
  if (!parsed.ok) return parsed;
  const checked = checkUrl(parsed.value.url, allow);
  if (!checked.ok) return refuse("notification_not_valid", `\`notification.url\`: ${checked.reason}`);
  return parsed;
}

const SettingsBody = z.strictObject({ ultrafast: z.boolean("must be true or false").default(false) });
