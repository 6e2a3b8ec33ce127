// /storage/:job/*: the built-in storage. Nodes upload objects with signed URLs; anyone can read them for a day.
import { type Context, Hono } from "hono";
import { cors } from "hono/cors";
import { AppError } from "#shared/errors.ts";
import { messageOf } from "#shared/log.ts";
import type { Env } from "../../bindings.ts";
import { withDeadline } from "../../deadline.ts";
import { log } from "../../log.ts";
import { jobOf } from "../../rpc/job.ts";
import { settingsOf } from "../../settings.ts";
import { responseTo } from "../../storage/builtin/builtin-answer.ts";
import { BUILTIN_RETENTION_MS, keyOf, objectAt } from "../../storage/builtin/builtin-objects.ts";
import { verifyPut } from "../../storage/builtin/builtin-signature.ts";
import { storeUpload } from "../../storage/builtin/builtin-store.ts";
import { uploadKey } from "../../storage/source-uploads/bucket-uploads.ts";
import { verifyUploadGet } from "../../storage/source-uploads/upload-url.ts";
import { UploadGone } from "../../storage/storage-errors.ts";
import { mount } from "../operation/mount.ts";
import { errorResponse, jsonResponse } from "../responses/json-response.ts";
import { STORAGE_OPERATIONS } from "./storage.operations.ts";

type StorageEnv = { Bindings: Env };

const READ_HEADERS = ["Accept-Ranges", "Content-Length", "Content-Range", "ETag", "Last-Modified"];

export const storage = new Hono<StorageEnv>({ strict: false })
  // Players of any origin may read; job ids cannot be guessed.
  .use("/storage/*", cors({ origin: "*", allowMethods: ["GET", "HEAD"], exposeHeaders: READ_HEADERS, maxAge: 86_400 }))
  .get("/storage/uploads/:id/:name", serveUpload)
  .put("/storage/:job/:path{.+}", take)
  .route("/", mount(STORAGE_OPERATIONS, { getObject: serve }));

/** Serves an object or a range of it. Also handles HEAD. */
async function serve(context: Context<StorageEnv>): Promise<Response> {
  const named = objectAt(new URL(context.req.url).pathname);
  const bucket = context.env.STORAGE;
  const object = named && bucket ? await bucket.head(keyOf(named)) : null;
  if (!named || !bucket || !object || object.uploaded.getTime() + BUILTIN_RETENTION_MS <= Date.now()) {
    throw new AppError("object_not_found", "The object does not exist or was deleted; objects are kept for 24 hours");
  }
  return await serveObject(context, bucket, object);
}

/** Serves an upload of a source file to a node, or a range of it. Also handles HEAD. */
async function serveUpload(context: Context<StorageEnv>): Promise<Response> {
  const { STORAGE: bucket } = context.env;
  const id = await verifyUploadGet(new URL(context.req.url), settingsOf(context.env).sealingKeys, Date.now());
  if (!bucket || id === null) {
    throw new AppError("upload_not_allowed", "The URL is not signed for this upload, or the signature has expired");
  }
  const object = await bucket.head(uploadKey(id));
  if (!object) throw new AppError("object_not_found", "The upload was removed; uploads are kept for 24 hours");
  return await serveObject(context, bucket, object);
}

/** Responds with an object or a range of it, according to the request's headers. */
async function serveObject(context: Context<StorageEnv>, bucket: R2Bucket, found: R2Object): Promise<Response> {
  describe(context, found);
  const { size: sizeBytes, httpEtag: etag, uploaded: uploadedAt } = found;
  const isHead = context.req.method === "HEAD";
  const planned = isHead
    ? { status: 200 as const }
    : responseTo(context.req.raw.headers, { sizeBytes, etag, uploadedAt });
  switch (planned.status) {
    case 304:
      allowCaching(context, found);
      return context.body(null, 304);
    case 412:
      return errorResponse(context, "precondition_failed", "The object does not match a precondition of the request");
    case 416:
      context.header("content-range", `bytes */${sizeBytes}`);
      return errorResponse(context, "range_not_satisfiable", `The object has ${sizeBytes} bytes`);
  }
  const { start, end } = planned.status === 206 ? planned.range : { start: 0, end: sizeBytes - 1 };
  if (planned.status === 206) context.header("content-range", `bytes ${start}-${end}/${sizeBytes}`);
  context.header("content-length", String(end - start + 1));
  context.header("content-type", found.httpMetadata?.contentType ?? "application/octet-stream");
  if (isHead || sizeBytes === 0) {
    allowCaching(context, found);
    return context.body(null, planned.status);
  }
  const range = { offset: start, length: end - start + 1 };
  const read = await bucket.get(found.key, { range, onlyIf: { etagMatches: found.etag } });
  if (!read || !("body" in read)) throw new AppError("service_unavailable", "The object is being replaced; try again");
  allowCaching(context, found);
  return context.body(read.body, planned.status);
}

/** Headers of all responses with an object. Objects are untrusted, so they must not run scripts on this origin. */
function describe(context: Context, found: R2Object): void {
  context.header("accept-ranges", "bytes");
  context.header("etag", found.httpEtag);
  context.header("last-modified", found.uploaded.toUTCString());
  context.header("content-security-policy", "sandbox");
  context.header("cross-origin-resource-policy", "cross-origin");
  context.header("x-content-type-options", "nosniff");
}

/** Sets cache headers, for responses with the object but not for errors. */
function allowCaching(context: Context, { httpMetadata }: R2Object): void {
  if (httpMetadata?.cacheControl !== undefined) context.header("cache-control", httpMetadata.cacheControl);
}

/** Accepts a signed upload: a whole object, or an upload part. */
async function take(context: Context<StorageEnv>): Promise<Response> {
  const bucket = context.env.STORAGE;
  const upload = await verifyPut(new URL(context.req.url), settingsOf(context.env).sealingKeys, Date.now());
  if (!bucket || !upload)
    throw new AppError("upload_not_allowed", "The URL is not signed for an upload, or the signature has expired");
  if (!(await withDeadline("mayStore", jobOf(context.env, upload.object.jobId).mayStore(upload.holder)))) {
    throw new AppError("upload_not_allowed", "The lease that the URL is signed for has ended");
  }
  // Rejects bodies without a length: their size is unknown.
  if (context.req.header("content-length") !== String(upload.sizeBytes)) {
    throw new AppError("upload_not_allowed", `The URL is signed for a body of ${upload.sizeBytes} bytes`);
  }
  try {
    context.header("etag", `"${await storeUpload(bucket, upload, context.req.raw.body)}"`);
    return jsonResponse(context, {});
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    if (error instanceof UploadGone) return errorResponse(context, "upload_gone", error.message);
    log.warn("upload not stored", { job: upload.object.jobId, error: messageOf(error) });
    return errorResponse(context, "service_unavailable", "The upload could not be stored; try again later");
  }
}
