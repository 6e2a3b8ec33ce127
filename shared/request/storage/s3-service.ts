// Services with an S3 API: fields that their `storage` and `input` sections share.

import * as z from "zod";
import { checkReachableUrl, checkUrl } from "../../network/address-policy.ts";
import { err, ok, type Result } from "../../result.ts";
import { strictObject } from "../../strict-object.ts";
import { invalid, text } from "../parse-section.ts";
import { ACCESS_KEYS, type CredentialPair } from "./credentials.ts";
import { folder, objectKey } from "./folder.ts";
import { OPTION_FIELDS, type OptionFields, objectOptions, secure } from "./object-options.ts";
import { type InputService, inputService, type StorageService, storageService } from "./storage-service.ts";
import type { S3Bucket } from "./storage-spec.ts";

/** Name of a bucket. The rules are S3's, with the larger alphabet of some compatible services. */
export const bucket = text(255, ": the name of the bucket")
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]*$/, "must be a bucket name of letters, digits, `.`, `_` and `-`")
  .describe("The name of an existing bucket");

/** Endpoint for requests to a bucket, and the region of their signatures. */
type Location = { endpoint: string; region: string; forcePathStyle?: boolean };

export type S3Service = { readonly storage: StorageService; readonly input: InputService };

/**
 * Returns the two sections of a service. `title` is its display name, `place` locates a bucket, and `options` apply to
 * outputs.
 */
export const s3Bodies = <Place extends z.core.$ZodShape, Options extends z.core.$ZodShape>(
  name: string,
  title: string,
  place: Place,
  options: Options,
  pair: CredentialPair = ACCESS_KEYS,
) => {
  const head = { service: z.literal(name).describe(title), credentials: pair.body, bucket };
  return {
    pair,
    storage: strictObject({ ...head, ...place, path: folder, secure, ...OPTION_FIELDS, ...options }),
    input: strictObject({ ...head, ...place, key: objectKey }),
  };
};

type Fields<Place> = {
  /** The names of the credentials; S3's names by default. */
  readonly pair?: CredentialPair;
  readonly storage: z.ZodType<Place & OptionFields & { bucket: string; path: string; secure: boolean }>;
  readonly input: z.ZodObject & z.ZodType<Place & { bucket: string; key: string }>;
};

/** Defines a service by its two sections and the location of its buckets. */
export function s3Service<Place>(
  { storage, input, pair = ACCESS_KEYS }: NoInfer<Fields<Place>>,
  locate: (place: Place) => Location,
): S3Service {
  return {
    storage: storageService({
      body: storage,
      parseKeys: (value) => pair.parse("storage", value),
      toStorage(fields, allow) {
        const at = bucketAt(fields.bucket, locate(fields), (url) => checkReachableUrl(url, allow));
        if (!at.ok) return invalid("storage_not_valid", `\`storage.endpoint\` ${at.error}`);
        const { path, secure } = fields;
        return ok({ kind: "s3", ...at.value, path, options: objectOptions(fields), secure });
      },
    }),
    input: inputService({
      body: input,
      parseKeys: (value) => pair.parse("input", value),
      toObject(fields, allow) {
        // Only nodes read inputs, so hosts of inputs may be IP addresses, even on Cloudflare.
        const at = bucketAt(fields.bucket, locate(fields), (url) => checkUrl(url, allow));
        if (!at.ok) return invalid("input_not_valid", `\`input.endpoint\` ${at.error}`);
        return ok({ kind: "bucket", ...at.value, key: fields.key });
      },
    }),
  };
}

/** Returns a bucket at a checked URL. */
function bucketAt(
  bucket: string,
  { endpoint, region, forcePathStyle = false }: Location,
  check: (url: string) => Result<string, string>,
): Result<S3Bucket, string> {
  const verdict = check(endpoint);
  if (!verdict.ok) return verdict;
  const { origin, pathname, hostname, username, password, search, hash } = new URL(verdict.value);
  if (username || password || search || hash) {
    return err("must be a URL without user, password, query or fragment");
  }
  // As part of the host, the name of a bucket must be a single label. Other names would not match the service's
  // wildcard certificate, would lose their capitals, or would not make a valid host.
  const label = /^[a-z0-9-]{1,63}$/.test(bucket) && !/^\[|^[\d.]+$/.test(hostname);
  const addressing = label && !forcePathStyle ? "host" : "path";
  return ok({ endpoint: origin + pathname.replace(/(?<!\/)\/+$/, ""), region, bucket, addressing });
}
