// The `storage` section of a job request: where the results go.
import * as z from "zod";
import { type AllowPrivate, checkUrl } from "../address-policy.ts";
import { isCleanPath, isObject, type Parsed, parseSection, refuse, text } from "./parse-section.ts";
import type { AccessKeys, ObjectOptions, StorageSpec } from "./storage-spec.ts";

/** Bucket names of S3, with the looser alphabet that some compatible services allow. */
const bucket = text(255).regex(/^[A-Za-z0-9][A-Za-z0-9._-]*$/, "must be a bucket name: letters, digits, dots, hyphens");
const region = text(64).regex(/^[a-z0-9-]+$/i, "must be a region name such as us-east-1");
const folder = z
  .string("must be a string")
  .max(512)
  .refine(isCleanPath, "must be a path without `.` or `..` parts")
  .default("");

const NO_OPTIONS: ObjectOptions = { acl: null, storageClass: null, cacheControl: null, expires: null };

const S3Body = z
  .strictObject({ service: z.literal("s3"), bucket, region, path: folder, credentials: z.unknown() })
  .transform(({ bucket, region, path }): StorageSpec => {
    // A dot in the bucket's name would not match the wildcard certificate of virtual-hosted addresses.
    const addressing = bucket.includes(".") ? "path" : "host";
    const endpoint = `https://s3.${region}.amazonaws.com`;
    return { kind: "s3", endpoint, region, bucket, addressing, path, options: NO_OPTIONS, secure: true };
  });
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
  .transform(({ endpoint, region, bucket, force_path_style, path }): StorageSpec => {
    const addressing = force_path_style ? "path" : "host";
    return { kind: "s3", endpoint, region, bucket, addressing, path, options: NO_OPTIONS, secure: true };
  });

const SERVICES = ["s3", "s3other"];

/** Parses the `storage` section. */
export function parseStorage(
  value: unknown,
  allow: AllowPrivate,
): Parsed<{ storage: StorageSpec; keys: AccessKeys | null }> {
  if (!isObject(value)) return refuse("storage_not_valid", "`storage` must be an object");
  if (typeof value.service !== "string" || !SERVICES.includes(value.service)) {
    const shown = typeof value.service === "string" ? `\`${value.service}\` is not known` : "is missing";
    return refuse("storage_service_not_valid", `\`storage.service\` ${shown}; allowed: ${SERVICES.join(", ")}`);
  }
  const keys = parseKeys(value.credentials);
  if (!keys.ok) return keys;
  const schema = value.service === "s3" ? S3Body : S3OtherBody;
  const storage = parseSection<StorageSpec>(schema, value, "storage", "storage_not_valid");
  if (!storage.ok) return storage;
  if (storage.value.kind === "s3") {
    const checked = checkUrl(storage.value.endpoint, allow);
    if (!checked.ok) return refuse("storage_not_valid", `\`storage.endpoint\`: ${checked.reason}`);
    storage.value.endpoint = checked.url.replace(/\/+$/, "");
  }
  return { ok: true, value: { storage: storage.value, keys: keys.value } };
}

function parseKeys(value: unknown): Parsed<AccessKeys> {
  const { access_key_id: accessKeyId, secret_access_key: secretAccessKey } = isObject(value) ? value : {};
  if (typeof accessKeyId === "string" && accessKeyId && typeof secretAccessKey === "string" && secretAccessKey) {
    return { ok: true, value: { accessKeyId, secretAccessKey } };
  }
  return refuse(
    "storage_credentials_not_valid",
    "The storage credentials are not correct: `access_key_id` and `secret_access_key` must both be defined in `storage.credentials`",
  );
}
