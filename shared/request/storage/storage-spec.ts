// The storage of a job after parsing: complete, without secrets.
import * as z from "zod";

/** Credentials for signed requests: a public id and a secret. */
export const AccessKeys = z.object({ accessKeyId: z.string(), secretAccessKey: z.string() });
export type AccessKeys = z.infer<typeof AccessKeys>;

/** The secret to access a source or storage: the whole URL, whose user, password and query are secret, or keys. */
export const AccessSecret = z.union([z.object({ url: z.string() }), AccessKeys]);
export type AccessSecret = z.infer<typeof AccessSecret>;

/** The secret to send events: the whole URL, or the keys of a topic and the attributes of its messages. */
export const NotificationSecret = z.union([
  z.object({ url: z.string() }),
  AccessKeys.extend({ params: z.record(z.string(), z.string()).default({}) }),
]);
export type NotificationSecret = z.infer<typeof NotificationSecret>;

/** A bucket of an S3-compatible service, and how requests to it are addressed and signed. */
export const S3Bucket = z.object({
  /** Scheme, host and base path of the service, without a trailing slash. */
  endpoint: z.string(),
  region: z.string(),
  bucket: z.string(),
  /** True if the name of the bucket is the first label of the host or the first segment of the path. */
  addressing: z.enum(["host", "path"]),
});
export type S3Bucket = z.infer<typeof S3Bucket>;

/** Headers to store objects with; null: as the bucket specifies. */
export const ObjectOptions = z.object({
  acl: z.string().nullable(),
  storageClass: z.string().nullable(),
  cacheControl: z.string().nullable(),
  expires: z.string().nullable(),
});
export type ObjectOptions = z.infer<typeof ObjectOptions>;

/** `path` is the folder that contains all objects of the job. */
export const StorageSpec = z.discriminatedUnion("kind", [
  z.object({
    kind: z.literal("s3"),
    ...S3Bucket.shape,
    path: z.string(),
    options: ObjectOptions,
    /** True if responses contain https URLs, independent of the URLs of requests. */
    secure: z.boolean(),
  }),
  z.object({
    kind: z.literal("azure"),
    /** The URL of the account's blob service, without a trailing slash. */
    endpoint: z.string(),
    account: z.string(),
    container: z.string(),
    path: z.string(),
    cacheControl: z.string().nullable(),
  }),
  /** The Worker's own bucket: `origin` is where it serves the objects. */
  z.object({ kind: z.literal("builtin"), origin: z.string(), path: z.string() }),
  /** One POST per file to `url` and the output's path. */
  z.object({ kind: z.literal("http"), url: z.string() }),
]);
export type StorageSpec = z.infer<typeof StorageSpec>;
export type StorageOf<Kind extends StorageSpec["kind"]> = Extract<StorageSpec, { kind: Kind }>;

/**
 * A storage as the request describes it. worker/storage/resolve-storage.ts adds what only the service or the Worker's
 * own URL can provide, and makes a StorageSpec of it.
 */
export type RequestedStorage =
  | Exclude<StorageSpec, { kind: "builtin" }>
  | Omit<StorageOf<"builtin">, "origin">
  | BackblazeBucket;

/** Backblaze identifies buckets by id; creating the job requests the name and the URL. */
export type BackblazeBucket = {
  kind: "backblaze";
  bucketId: string;
  path: string;
  options: ObjectOptions;
  secure: boolean;
};
