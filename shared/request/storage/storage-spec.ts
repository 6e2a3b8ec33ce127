// Where the results of a job go, after the request was parsed: complete, without any secret.
import * as z from "zod";

/** Two halves of a credential for requests that are signed: an id that may be seen, and a secret. */
export const AccessKeys = z.object({ accessKeyId: z.string(), secretAccessKey: z.string() });
export type AccessKeys = z.infer<typeof AccessKeys>;

/** What a client's place is reached with: its whole address, of which user, password and query are secret, or keys. */
export const AccessSecret = z.union([z.object({ url: z.string() }), AccessKeys]);
export type AccessSecret = z.infer<typeof AccessSecret>;

/** What events are sent with: a whole URL, or a topic's keys and what its messages carry beside the event. */
export const NotificationSecret = z.union([
  z.object({ url: z.string() }),
  AccessKeys.extend({ params: z.record(z.string(), z.string()).default({}) }),
]);
export type NotificationSecret = z.infer<typeof NotificationSecret>;

/** A bucket of any service that speaks S3, and how requests to it are addressed and signed. */
export const S3Bucket = z.object({
  /** Scheme, host and base path of the service, without a slash at the end. */
  endpoint: z.string(),
  region: z.string(),
  bucket: z.string(),
  /** Whether the bucket's name is the first label of the host, or the first part of the path. */
  addressing: z.enum(["host", "path"]),
});
export type S3Bucket = z.infer<typeof S3Bucket>;

/** Headers that objects are to be stored with; null leaves it to the bucket. */
export const ObjectOptions = z.object({
  acl: z.string().nullable(),
  storageClass: z.string().nullable(),
  cacheControl: z.string().nullable(),
  expires: z.string().nullable(),
});
export type ObjectOptions = z.infer<typeof ObjectOptions>;

/** `path` is the folder below which all objects of the job lie. */
export const StorageSpec = z.discriminatedUnion("kind", [
  z.object({
    kind: z.literal("s3"),
    ...S3Bucket.shape,
    path: z.string(),
    options: ObjectOptions,
    /** False: clients are shown http addresses, whatever requests use. */
    secure: z.boolean(),
  }),
  z.object({
    kind: z.literal("azure"),
    /** The address of the account's blob service, without a slash at the end. */
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
 * A storage as a request alone says it. What must be asked of others, or of the Worker's own address, is not in it
 * yet: worker/storage/resolve-storage.ts makes a StorageSpec of it.
 */
export type RequestedStorage =
  | Exclude<StorageSpec, { kind: "builtin" }>
  | Omit<StorageOf<"builtin">, "origin">
  | BackblazeBucket;

/** Backblaze names its buckets by id; the name and the address are asked of it when the job is created. */
export type BackblazeBucket = {
  kind: "backblaze";
  bucketId: string;
  path: string;
  options: ObjectOptions;
  secure: boolean;
};
