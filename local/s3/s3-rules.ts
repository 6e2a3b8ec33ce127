// Where s3rver is more lenient than a real S3 service, it is made as strict: what works here must work elsewhere.
import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { rename, rm } from "node:fs/promises";
import { join } from "node:path";
import type S3rver from "@20minutes/s3rver";
import S3Error from "@20minutes/s3rver/lib/models/error.js";

/**
 * Without a signature objects of public buckets may be read, as by a public-read policy, and nothing else; of all other
 * buckets not even that.
 */
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

/** AbortMultipartUpload, which s3rver lacks: it checks the signature and then calls the method not allowed. */
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

/** Objects appear whole or not at all, parts belong to an upload that was begun, and many objects can be deleted at once. */
export function tighten(store: S3rver.Store): void {
  const { putContent, putPart, putObjectMultipart, deleteObject } = store;
  store.deleteObject = async (bucket, key) => {
    try {
      await deleteObject.call(store, bucket, key);
    } catch (error) {
      // The object is gone, and so is its folder, which another deletion found empty at the same time.
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    }
  };
  store.putContent = async (path, content) => {
    const draft = `${path}.${randomUUID()}`;
    try {
      const written = await putContent.call(store, draft, content);
      await rename(draft, path);
      return written;
    } catch (error) {
      await rm(draft, { force: true });
      throw error;
    }
  };
  store.putPart = async (bucket, uploadId, part, content) => {
    uploadFolder(store, bucket, uploadId);
    return putPart.call(store, bucket, uploadId, part, content);
  };
  store.putObjectMultipart = async (bucket, uploadId, parts) => {
    uploadFolder(store, bucket, uploadId);
    return putObjectMultipart.call(store, bucket, uploadId, parts);
  };
}

/** Throws S3's NoSuchUpload when there is no such upload. */
function uploadFolder(store: S3rver.Store, bucket: string, uploadId: string): string {
  const folder = join(store.getResourcePath(bucket, undefined, "uploads"), uploadId);
  if (/^[0-9a-f]{32}$/.test(uploadId) && existsSync(join(folder, "key"))) return folder;
  throw new S3Error("NoSuchUpload", "The specified upload does not exist.");
}
