// Buckets that speak S3: what `storage` and `input` have in common, whichever service they name.
import * as z from "zod";
import { MAX_NAME_BYTES, nameBytes } from "../../job/object-name.ts";
import { type AllowPrivate, checkUrl } from "../../network/address-policy.ts";
import { strictObject } from "../../strict-object.ts";
import { cleanPath } from "../clean-path.ts";
import { needed, type Parsed, parseSection, refuse, text } from "../parse-section.ts";
import { ACCESS_KEYS } from "./credentials.ts";
import { folder } from "./folder.ts";
import { OPTION_FIELDS, type OptionFields, objectOptions, secure } from "./object-options.ts";
import { type StorageService, storageService } from "./storage-service.ts";
import type { AccessKeys, S3Bucket } from "./storage-spec.ts";

/** A bucket's name: S3's rules, with the looser alphabet that some compatible services allow. */
export const bucket = text(255, ": the bucket's name")
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]*$/, "must be a bucket name: letters, digits, dots, hyphens")
  .describe("The bucket, which must exist");

const key = z
  .string(needed(": the path of the media file in the bucket, such as in/film.mp4", "must be a string"))
  .min(1, "must not be empty")
  .refine((value) => nameBytes(value) <= MAX_NAME_BYTES, `at most ${MAX_NAME_BYTES} bytes`)
  .check(cleanPath)
  .describe("The object that is the media file; one slash in front means nothing");

/** Where requests for a bucket go, and which region they are signed for. */
type Location = { endpoint: string; region: string; forcePathStyle?: boolean };

/** A source in a bucket. */
export type BucketObject = S3Bucket & { key: string };
export type InputService = {
  /** The `input` section as clients write it. */
  readonly body: z.ZodType;
  parse(value: Record<string, unknown>, allow: AllowPrivate): Parsed<{ object: BucketObject; keys: AccessKeys }>;
};

export type S3Service = { readonly storage: StorageService; readonly input: InputService };

/** The two sections of a service: `title` is its name for people, `place` says where a bucket is, `options` what else may be said of outputs. */
export const s3Bodies = <Place extends z.core.$ZodShape, Options extends z.core.$ZodShape>(
  name: string,
  title: string,
  place: Place,
  options: Options,
) => {
  const head = { service: z.literal(name).describe(title), credentials: ACCESS_KEYS.body, bucket };
  return {
    storage: strictObject({ ...head, ...place, path: folder, secure, ...OPTION_FIELDS, ...options }),
    input: strictObject({ ...head, ...place, key }),
  };
};

type Fields<Place> = {
  readonly storage: z.ZodType<Place & OptionFields & { bucket: string; path: string; secure: boolean }>;
  readonly input: z.ZodType<Place & { bucket: string; key: string }>;
};

/** A service by its two sections and by where its buckets are. */
export function s3Service<Place>(
  { storage, input }: NoInfer<Fields<Place>>,
  locate: (place: Place) => Location,
): S3Service {
  return {
    storage: storageService({
      body: storage,
      parseKeys: (value) => ACCESS_KEYS.parse("storage", value),
      toStorage(fields, allow) {
        const at = bucketAt(fields.bucket, locate(fields), allow);
        if (!at.ok) return refuse("storage_not_valid", `\`storage.endpoint\`: ${at.reason}`);
        const { path, secure } = fields;
        return { ok: true, value: { kind: "s3", ...at.value, path, options: objectOptions(fields), secure } };
      },
    }),
    input: {
      body: input,
      parse(value, allow) {
        const keys = ACCESS_KEYS.parse("input", value);
        if (!keys.ok) return keys;
        const fields = parseSection(input, value, "input", "input_not_valid");
        if (!fields.ok) return fields;
        const at = bucketAt(fields.value.bucket, locate(fields.value), allow);
        if (!at.ok) return refuse("input_not_valid", `\`input.endpoint\`: ${at.reason}`);
        const object = { ...at.value, key: fields.value.key.replace(/^\//, "") };
        return { ok: true, value: { object, keys: keys.value } };
      },
    },
  };
}

/** A bucket at a checked address. */
function bucketAt(
  bucket: string,
  { endpoint, region, forcePathStyle = false }: Location,
  allow: AllowPrivate,
): { ok: true; value: S3Bucket } | { ok: false; reason: string } {
  const verdict = checkUrl(endpoint, allow);
  if (!verdict.ok) return verdict;
  const { origin, pathname, hostname, username, password, search, hash } = new URL(verdict.url);
  if (username || password || search || hash) {
    return { ok: false, reason: "must be an address without user, password, query or fragment" };
  }
  // In front of a host a bucket's name must be one label: another would not match the service's wildcard certificate,
  // lose its capitals, or make no host at all.
  const label = /^[a-z0-9-]{1,63}$/.test(bucket) && !/^\[|^[\d.]+$/.test(hostname);
  const addressing = label && !forcePathStyle ? "host" : "path";
  return { ok: true, value: { endpoint: origin + pathname.replace(/\/+$/, ""), region, bucket, addressing } };
}
