// /storage/:job/*: the service's own storage. Nodes put objects by signed addresses, the world reads them for a day.
import { type Context, Hono } from "hono";
import { cors } from "hono/cors";
import { AppError } from "#shared/errors.ts";
import { messageOf } from "#shared/log.ts";
import { type Env, jobOf, log, settingsOf } from "../../env.ts";
import { answerTo } from "../../storage/builtin/builtin-answer.ts";
import { BUILTIN_RETENTION_MS, keyOf, objectAt } from "../../storage/builtin/builtin-objects.ts";
import { verifyGrant } from "../../storage/builtin/builtin-signature.ts";
import { takeUpload } from "../../storage/builtin/builtin-store.ts";
import { UploadGone } from "../../storage/upload-gone.ts";
import { answer, problem } from "../responses/problem.ts";

type StorageEnv = { Bindings: Env };

const READ_HEADERS = ["Accept-Ranges", "Content-Length", "Content-Range", "ETag", "Last-Modified"];

export const storage = new Hono<StorageEnv>({ strict: false })
  // Players of any site may read; job ids cannot be guessed.
  .use(cors({ origin: "*", allowMethods: ["GET", "HEAD"], exposeHeaders: READ_HEADERS, maxAge: 86_400 }))
  .get("/:job/:path{.+}", serve)
  .put("/:job/:path{.+}", take);

/** Serves an object, whole or in one range. HEAD comes here too. */
async function serve(context: Context<StorageEnv>): Promise<Response> {
  const named = objectAt(new URL(context.req.url).pathname);
  const bucket = context.env.STORAGE;
  const found = named && bucket ? await bucket.head(keyOf(named)) : null;
  if (!named || !bucket || !found || found.uploaded.getTime() + BUILTIN_RETENTION_MS <= Date.now()) {
    throw new AppError("object_not_found", "There is no such object, or no longer: they are kept for 24 hours");
  }
  describe(context, found);
  const { size: sizeBytes, httpEtag: etag, uploaded: uploadedAt } = found;
  const isHead = context.req.method === "HEAD";
  const planned = isHead
    ? { status: 200 as const }
    : answerTo(context.req.raw.headers, { sizeBytes, etag, uploadedAt });
  switch (planned.status) {
    case 304:
      allowCaching(context, found);
      return context.body(null, 304);
    case 412:
      return problem(context, "precondition_failed", "The object is not as the request supposes");
    case 416:
      context.header("content-range", `bytes */${sizeBytes}`);
      return problem(context, "range_not_satisfiable", `The object has ${sizeBytes} bytes`);
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
  const read = await bucket.get(keyOf(named), { range, onlyIf: { etagMatches: found.etag } });
  if (!read || !("body" in read)) throw new AppError("service_unavailable", "The object is being replaced; try again");
  allowCaching(context, found);
  return context.body(read.body, planned.status);
}

/** What every answer with an object says of it. It is of others' making: on this origin it must not be able to act. */
function describe(context: Context, found: R2Object): void {
  context.header("accept-ranges", "bytes");
  context.header("etag", found.httpEtag);
  context.header("last-modified", found.uploaded.toUTCString());
  context.header("content-security-policy", "sandbox");
  context.header("cross-origin-resource-policy", "cross-origin");
  context.header("x-content-type-options", "nosniff");
}

/** What caches may do with the object, for answers that are the object and no refusal. */
function allowCaching(context: Context, { httpMetadata }: R2Object): void {
  if (httpMetadata?.cacheControl !== undefined) context.header("cache-control", httpMetadata.cacheControl);
}

/** Takes one signed upload: a whole object, or a part of one. */
async function take(context: Context<StorageEnv>): Promise<Response> {
  const bucket = context.env.STORAGE;
  const grant = await verifyGrant(new URL(context.req.url), settingsOf(context.env).sealingKeys, Date.now());
  if (!bucket || !grant)
    throw new AppError("upload_not_allowed", "This address is not signed for an upload, or no longer");
  // An address without a lease was signed by an earlier version, whose node asks for a new one when it is refused.
  if (!grant.holder || !(await jobOf(context.env, grant.object.jobId).mayStore(grant.holder))) {
    throw new AppError("upload_not_allowed", "The lease that this address is signed for has ended");
  }
  // Of a body without a length nobody knows how much will come.
  if (context.req.header("content-length") !== String(grant.sizeBytes)) {
    throw new AppError("upload_not_allowed", `This address is signed for a body of ${grant.sizeBytes} bytes`);
  }
  try {
    context.header("etag", `"${await takeUpload(bucket, grant, context.req.raw.body)}"`);
    return answer(context, {});
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    if (error instanceof UploadGone) return problem(context, "upload_gone", error.message);
    log.warn("Upload not stored", { job: grant.object.jobId, error: messageOf(error) });
    return problem(context, "service_unavailable", "The upload could not be stored; please try again in a moment");
  }
}
