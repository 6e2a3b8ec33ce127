// Where s3rver is more lenient than a real S3 service, it is made as strict: what works here must work elsewhere.
import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { rename, rm } from "node:fs/promises";
import { join } from "node:path";
import type S3rver from "@20minutes/s3rver";
import S3Error from "@20minutes/s3rver/lib/models/error.js";

/**
 * Without a signature objects may be read, like in a bucket with a public-read policy, and nothing else; of a private
 * bucket not even that.
 */
export const refuseStrangers =
  (isPrivate: boolean): S3rver.Middleware =>
  async (context, next) => {
    const signed =
      context.req.headers.authorization !== undefined ||
      "X-Amz-Algorithm" in context.query ||
      "Signature" in context.query;
    const reads = ["GET", "HEAD", "OPTIONS"].includes(context.method);
    const namesObject = /^\/[^/]+\/./.test(context.path);
    if (!signed && (isPrivate || !reads || !namesObject)) throw new S3Error("AccessDenied", "Access Denied");
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

/** Objects appear whole or not at all, and parts belong to an upload that was begun. */
export function tighten(store: S3rver.Store): void {
  const { putContent, putPart, putObjectMultipart } = store;
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
