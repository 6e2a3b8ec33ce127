// Makes s3rver as strict as a real S3 service: a request that works locally must work elsewhere.
import { AsyncLocalStorage } from "node:async_hooks";
import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, rename, rm, statfs } from "node:fs/promises";
import type { IncomingHttpHeaders } from "node:http";
import { dirname, join } from "node:path";
import type S3rver from "@20minutes/s3rver";
import S3Error from "@20minutes/s3rver/lib/models/error.js";
import { errorCode } from "#shared/log.ts";
import { isCleanPath } from "#shared/request/clean-path.ts";

const invalidUri = (): S3Error => new S3Error("InvalidURI", "The path must not lead out of its bucket.");

/**
 * Rejects paths that lead out of their bucket: s3rver decodes the key and joins it to the bucket's folder. The path is
 * decoded twice, because a proxy in front may decode it, too.
 */
export const stayInBucket: S3rver.Middleware = async (context, next) => {
  let once: string;
  try {
    once = decodeURIComponent(context.path);
  } catch {
    throw invalidUri();
  }
  const twice = once.replace(/%[0-7][0-9a-f]/gi, (escaped) => decodeURIComponent(escaped));
  if (!isCleanPath(once) || !isCleanPath(twice)) throw invalidUri();
  return next();
};

/** Requires a signature for a copy's source: a presigned URL allows an upload, but not reads. */
export const requireSignedSource: S3rver.Middleware = async (context, next) => {
  const { headers } = context.req;
  const [, inHeader] = /SignedHeaders=([^,\s]*)/.exec(headers.authorization ?? "") ?? [];
  const signed = `${context.query["X-Amz-SignedHeaders"] ?? inHeader ?? ""}`.split(";");
  if ("x-amz-copy-source" in headers && !signed.includes("x-amz-copy-source")) {
    throw new S3Error("AccessDenied", "There were headers present in the request which were not signed");
  }
  return next();
};

/** Rejects uploads that would leave less than `minBytes` of `folder`'s disk free, before their bodies are read. */
export const keepFreeSpace =
  (folder: string, minBytes: number): S3rver.Middleware =>
  async (context, next) => {
    if (context.method !== "PUT" && !("uploads" in context.query)) return next();
    const { bavail, bsize } = await statfs(folder);
    if (bavail * bsize - Number(context.req.headers["content-length"] ?? 0) >= minBytes) return next();
    context.status = 507;
    context.body = "<Error><Code>InsufficientStorage</Code><Message>The disk is nearly full.</Message></Error>";
  };

/**
 * Compares versions only by ETag if a reader sends an ETag (RFC 9110, 13.1.3). Times are in seconds: a live playlist
 * may change twice in a second, and a browser would then keep the earlier version forever.
 */
export const preferEtags: S3rver.Middleware = async (context, next) => {
  if ("if-none-match" in context.req.headers) delete context.req.headers["if-modified-since"];
  return next();
};

const conditions = new AsyncLocalStorage<IncomingHttpHeaders>();

/** Passes the headers of conditional writes to the store (patchStore): s3rver lacks them. */
export const conditionalWrites: S3rver.Middleware = (context, next) => conditions.run(context.req.headers, next);

/** Throws S3's error if the version of the object does not allow this request's write. `etag`: null without the object. */
function requireVersion(etag: string | null): void {
  const { "if-match": expected, "if-none-match": absent } = conditions.getStore() ?? {};
  if (expected !== undefined && etag === null) throw new S3Error("NoSuchKey", "The specified key does not exist.");
  if ((expected ?? etag) !== etag || (absent !== undefined && etag !== null)) {
    throw new S3Error("PreconditionFailed", "At least one of the pre-conditions you specified did not hold.");
  }
}

/**
 * Accepts signatures of `/bucket/`, which s3rver compares with those of `/bucket`: it adds the mount path to the name of a
 * virtual host.
 */
export const signedSlash: S3rver.Middleware = (context, next) => {
  if (/^\/[^/]+\/$/.test(context.path)) {
    context.mountPath = "/";
    Object.defineProperty(context.state, "vhost", { get: () => true, set: () => {} });
  }
  return next();
};

/** Requires a signature, except to read objects of public buckets, as with a public-read policy. */
export const requireSignature =
  (publicBuckets: readonly string[]): S3rver.Middleware =>
  async (context, next) => {
    const signed =
      context.req.headers.authorization !== undefined ||
      "X-Amz-Algorithm" in context.query ||
      "Signature" in context.query;
    const reads = ["GET", "HEAD", "OPTIONS"].includes(context.method);
    const [, bucket = ""] = /^\/([^/]+)\/./.exec(context.path) ?? [];
    if (!signed && (!reads || !publicBuckets.includes(bucket))) throw new S3Error("AccessDenied", "Access Denied");
    return next();
  };

/**
 * AbortMultipartUpload, which s3rver lacks: it checks the signature and then responds that the method is not allowed.
 */
export const abortUploads =
  (store: S3rver.Store): S3rver.Middleware =>
  async (context, next) => {
    const { uploadId } = context.query;
    if (context.method !== "DELETE" || typeof uploadId !== "string") return next();
    try {
      await next();
    } catch (error) {
      const checked =
        error instanceof S3Error && error.code === "MethodNotAllowed" && context.state.account !== undefined;
      if (!checked) throw error;
    }
    const bucket = decodeURIComponent(context.path.split("/")[1] ?? "");
    await rm(uploadFolder(store, bucket, uploadId), { recursive: true });
    context.status = 204;
    context.body = null;
  };

/**
 * Makes PUTs and copies atomic, also for concurrent readers of the object. Rejects parts of unknown uploads, and keys
 * that lead out of their bucket. Allows concurrent deletions.
 */
export function patchStore(store: S3rver.Store): void {
  const { putContent, putPart, putObjectMultipart, deleteObject, getMetadata, getObject, getResourcePath } = store;
  // Keys also come from headers and bodies, for example in copies and in deletions of many objects.
  store.getResourcePath = (bucket, key, resource) => {
    if (!isCleanPath(`${bucket}/${key ?? ""}`)) throw invalidUri();
    return getResourcePath.call(store, bucket, key, resource);
  };
  const withLock = lockByName();
  const pathOf = (bucket: string, key: string): string => store.getResourcePath(bucket, key, "object");
  const etagOf = async (bucket: string, key: string): Promise<string | null> => {
    if (!existsSync(pathOf(bucket, key))) return null;
    return (await getMetadata.call(store, bucket, key)).etag;
  };
  store.deleteObject = (bucket, key) =>
    withLock(pathOf(bucket, key), async () => {
      requireVersion(await etagOf(bucket, key));
      try {
        await deleteObject.call(store, bucket, key);
      } catch (error) {
        // A concurrent deletion has removed the empty folder of this object.
        if (errorCode(error) !== "ENOENT") throw error;
      }
    });
  // Content, size and headers are in three files. A reader must get all three from the same version.
  store.putObject = async ({ bucket, key, metadata, content }) => {
    const path = pathOf(bucket, key);
    const draft = `${path}.${randomUUID()}`;
    await mkdir(dirname(path), { recursive: true });
    try {
      const [size, md5] = await putContent.call(store, draft, content);
      await withLock(path, async () => {
        requireVersion(await etagOf(bucket, key));
        await rename(draft, path);
        await store.putMetadata(bucket, key, metadata, md5);
      });
      return { size, md5 };
    } catch (error) {
      await rm(draft, { force: true });
      throw error;
    }
  };
  store.copyObject = async (bucket, key, toBucket, toKey, metadata) => {
    const source = await store.getObject(bucket, key);
    if (source === null) throw new S3Error("NoSuchKey", "The specified key does not exist.");
    await store.putObject({
      bucket: toBucket,
      key: toKey,
      metadata: metadata ?? source.metadata,
      content: source.content,
    });
    return store.getMetadata(toBucket, toKey);
  };
  store.getMetadata = (bucket, key) => withLock(pathOf(bucket, key), () => getMetadata.call(store, bucket, key));
  // s3rver opens the file before it returns.
  const reader: S3rver.Store = Object.create(store, { getMetadata: { value: getMetadata } });
  store.getObject = (bucket, key, options) =>
    withLock(pathOf(bucket, key), () => getObject.call(reader, bucket, key, options));
  store.putPart = async (bucket, uploadId, part, content) => {
    uploadFolder(store, bucket, uploadId);
    return putPart.call(store, bucket, uploadId, part, content);
  };
  store.putObjectMultipart = async (bucket, uploadId, parts) => {
    uploadFolder(store, bucket, uploadId);
    return putObjectMultipart.call(store, bucket, uploadId, parts);
  };
}

/** Runs work with the same name in sequence. */
function lockByName() {
  const last = new Map<string, Promise<unknown>>();
  return async <Value>(name: string, run: () => Promise<Value>): Promise<Value> => {
    const mine = (last.get(name) ?? Promise.resolve()).then(run);
    const settled = mine.catch(() => undefined);
    last.set(name, settled);
    try {
      return await mine;
    } finally {
      if (last.get(name) === settled) last.delete(name);
    }
  };
}

/** Throws S3's NoSuchUpload if there is no such upload. */
function uploadFolder(store: S3rver.Store, bucket: string, uploadId: string): string {
  const folder = join(store.getResourcePath(bucket, undefined, "uploads"), uploadId);
  if (/^[0-9a-f]{32}$/.test(uploadId) && existsSync(join(folder, "key"))) return folder;
  throw new S3Error("NoSuchUpload", "The specified upload does not exist.");
}
