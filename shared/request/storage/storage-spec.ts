// Storage of a job after parsing: complete, without secrets.
import * as z from "zod";

/** Credentials for signed requests: a public id and a secret. */
export const AccessKeys = z.object({
  accessKeyId: z.string(),
  secretAccessKey: z.string(),
  /** The token of temporary credentials (AWS STS): part of each signed request. */
  sessionToken: z.string().exactOptional(),
});
export type AccessKeys = z.infer<typeof AccessKeys>;

/**
 * Secret for a source or storage: keys, or the whole URL, whose user, password and query are secret. `headers`: of the
 * requests for a source.
 */
export const AccessSecret = z.union([
  z.object({ url: z.string(), headers: z.record(z.string(), z.string()).exactOptional() }),
  AccessKeys,
]);
export type AccessSecret = z.infer<typeof AccessSecret>;

/** Secret for sending events: the whole URL, or the keys of a topic and the attributes of its messages. */
export const NotificationSecret = z.union([
  z.object({ url: z.string() }),
  AccessKeys.extend({ params: z.record(z.string(), z.string()).default({}) }),
]);
export type NotificationSecret = z.infer<typeof NotificationSecret>;

/** A bucket of an S3-compatible service, with the addressing and signing of its requests. */
export const S3Bucket = z.object({
  /** Scheme, host and base path of the service, without a trailing slash. */
  endpoint: z.string(),
  region: z.string(),
  bucket: z.string(),
  /** True if the name of the bucket is the first label of the host or the first segment of the path. */
  addressing: z.enum(["host", "path"]),
});
export type S3Bucket = z.infer<typeof S3Bucket>;

/** A container of Azure Blob Storage. */
export const AzureContainer = z.object({
  /** The URL of the account's blob service, without a trailing slash. */
  endpoint: z.string(),
  account: z.string(),
  container: z.string(),
});
export type AzureContainer = z.infer<typeof AzureContainer>;

/** A source in the request's description; a bucket of Backblaze lacks its name and URL. */
export type RequestedObject = { readonly key: string } & (
  | ({ readonly kind: "bucket" } & S3Bucket)
  | ({ readonly kind: "azure" } & AzureContainer)
  | { readonly kind: "backblaze"; readonly bucketId: string }
  | { readonly kind: "folder"; readonly folder: string }
);

/** Headers stored with objects. Null: the bucket's defaults. */
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
    ...AzureContainer.shape,
    path: z.string(),
    cacheControl: z.string().nullable(),
  }),
  /** The Worker's own bucket. `origin`: origin at which the Worker serves the objects. */
  z.object({ kind: z.literal("builtin"), origin: z.string(), path: z.string() }),
  /** A POST per file to `url` and the output's path. */
  z.object({ kind: z.literal("http"), url: z.string() }),
  /** A folder on nodes, which store the files themselves. */
  z.object({ kind: z.literal("folder"), folder: z.string(), path: z.string() }),
]);
export type StorageSpec = z.infer<typeof StorageSpec>;
export type StorageOf<Kind extends StorageSpec["kind"]> = Extract<StorageSpec, { kind: Kind }>;

/**
 * A storage in the request's description. worker/storage/resolve-storage.ts adds values that only the service or the
 * Worker's own URL can provide, and returns a StorageSpec.
 */
export type RequestedStorage =
  | Exclude<StorageSpec, { kind: "builtin" }>
  | Omit<StorageOf<"builtin">, "origin">
  | BackblazeBucket;

/** Backblaze identifies buckets by id. When a job is created, the service requests the name and the URL. */
export type BackblazeBucket = {
  kind: "backblaze";
  bucketId: string;
  path: string;
  options: ObjectOptions;
  secure: boolean;
};
