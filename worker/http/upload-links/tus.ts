// Resumable uploads by tus 1.0.0 (https://tus.io/protocols/resumable-upload) to an upload link: core, creation,
// creation-with-upload, termination, checksum and expiration. The offset grows by whole parts, because storages keep
// only whole parts of a multipart upload.
import { type Context, Hono } from "hono";
import { UploadName } from "#shared/api/uploads.ts";
import { AppError } from "#shared/errors.ts";
import { partsOf, type UploadRow } from "../../db/uploads.ts";
import { tusChecksum } from "../../storage/source-uploads/checked-body.ts";
import { partAt, takePart } from "../uploads/upload-parts.ts";
import { completeFile, fileOf, removeFile, startFile } from "./link-file.ts";
import { type LinkEnv, TUS_VERSION } from "./link-guard.ts";
import { urlOf } from "./link-view.ts";
import { partSizeOf } from "./part-size.ts";

type TusContext = Context<LinkEnv>;

const BODY_TYPE = "application/offset+octet-stream";

export const tus = new Hono<LinkEnv>({ strict: false })
  .use(async (context, next) => {
    context.header("tus-resumable", TUS_VERSION);
    context.header("cache-control", "no-store");
    if (context.req.header("tus-resumable") === TUS_VERSION) return next();
    context.header("tus-version", TUS_VERSION);
    throw new AppError("precondition_failed", `The header \`Tus-Resumable\` must be ${TUS_VERSION}`);
  })
  .post("/", create)
  .get("/:upload", describe)
  .patch("/:upload", append)
  .delete("/:upload", terminate)
  // For programs that cannot send PATCH or DELETE.
  .post("/:upload", (context) => {
    const method = context.req.header("x-http-method-override")?.toUpperCase();
    if (method === "PATCH") return append(context);
    if (method === "DELETE") return terminate(context);
    throw new AppError("method_not_allowed", "POST needs the header `X-HTTP-Method-Override`: PATCH or DELETE");
  });

/** Creates the upload. The body may have its first part (creation-with-upload). */
async function create(context: TusContext): Promise<Response> {
  const size = numberOf(context, "upload-length");
  if (size === 0) throw new AppError("request_not_valid", "The header `Upload-Length` must be at least 1");
  const link = context.get("link");
  const { upload } = await startFile(context.env, link, { name: nameOf(context), size });
  if (link.status !== "completed") context.set("link", { ...link, status: "uploading", uploadId: upload.id });
  // A path: the client may reach the service by another host than this.
  context.header("location", `${new URL(urlOf(context.env, link)).pathname}/tus/${upload.id}`);
  context.header("upload-expires", new Date(link.expiresAt).toUTCString());
  if (context.req.header("content-type") !== BODY_TYPE) return context.body(null, 201);
  const offset = await offsetOf(context, upload);
  // A repeated request: the client goes on at the offset.
  const isFirst = offset === 0 && context.req.header("content-length") !== "0";
  context.header("upload-offset", String(isFirst ? await appendPart(context, upload, offset) : offset));
  return context.body(null, 201);
}

/** The state of the upload, for HEAD. */
async function describe(context: TusContext): Promise<Response> {
  const upload = await uploadAt(context);
  const offset = await offsetOf(context, upload);
  // The offset states that the file is complete, so it must be.
  if (offset === upload.sizeBytes) await complete(context, upload);
  context.header("upload-offset", String(offset));
  context.header("upload-length", String(upload.sizeBytes));
  if (offset < upload.sizeBytes) expires(context);
  return context.body(null, 200);
}

async function append(context: TusContext): Promise<Response> {
  const upload = await uploadAt(context);
  if (context.req.header("content-type") !== BODY_TYPE) {
    throw new AppError("upload_part_not_valid", `The header \`Content-Type\` must be ${BODY_TYPE}`);
  }
  const offset = await offsetOf(context, upload);
  if (numberOf(context, "upload-offset") !== offset) {
    throw new AppError("upload_state_conflict", `The header \`Upload-Offset\` must be ${offset}: the stored bytes`);
  }
  context.header("upload-offset", String(await appendPart(context, upload, offset)));
  expires(context);
  return context.body(null, 204);
}

async function terminate(context: TusContext): Promise<Response> {
  await removeFile(context.env, context.get("link"), await uploadAt(context));
  return context.body(null, 204);
}

/** Stores the body as the next part, and returns the new offset. The last part completes the file. */
async function appendPart(context: TusContext, upload: UploadRow, offset: number): Promise<number> {
  const { raw } = context.req;
  const digest = tusChecksum(raw.headers);
  const partBytes = offset === 0 ? partSizeOf(numberOf(context, "content-length"), upload.sizeBytes) : upload.partBytes;
  const sized = { ...upload, partBytes };
  const part = partAt(String(offset / partBytes + 1), sized);
  await takePart(context.env, sized, part, raw, digest);
  const next = offset + part.sizeBytes;
  if (next === upload.sizeBytes) await complete(context, sized);
  return next;
}

const complete = (context: TusContext, upload: UploadRow): Promise<UploadRow> =>
  completeFile(context.env, context.get("link"), upload);

/** The number of stored bytes before the first missing part. */
async function offsetOf({ env }: TusContext, upload: UploadRow): Promise<number> {
  const parts = await partsOf(env.DB, upload.id);
  const missing = parts.findIndex(({ number }, at) => number !== at + 1);
  const stored = missing < 0 ? parts : parts.slice(0, missing);
  return stored.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
}

/** The upload of the path. Throws AppError(upload_not_found): a removed upload has another URL than its successor. */
async function uploadAt(context: TusContext): Promise<UploadRow> {
  const upload = await fileOf(context.env, context.get("link"));
  if (upload.id === context.req.param("upload")) return upload;
  throw new AppError("upload_not_found", "The upload was removed");
}

const expires = (context: TusContext): void =>
  context.header("upload-expires", new Date(context.get("link").expiresAt).toUTCString());

/** A header with a number of bytes. Throws AppError(request_not_valid). */
function numberOf(context: TusContext, name: string): number {
  const text = context.req.header(name) ?? "";
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new AppError("request_not_valid", `The header \`${name}\` must be a number of bytes`);
}

/** The file's name in `Upload-Metadata`: pairs of a key and Base64, separated by commas. */
function nameOf(context: TusContext): string {
  for (const pair of context.req.header("upload-metadata")?.split(",") ?? []) {
    const [key, encoded = ""] = pair.trim().split(" ");
    if (key !== "filename" && key !== "name") continue;
    let name: string;
    try {
      const bytes = Uint8Array.from(atob(encoded), (char) => char.charCodeAt(0));
      name = new TextDecoder("utf-8", { fatal: true, ignoreBOM: false }).decode(bytes).slice(0, 255);
    } catch {
      throw new AppError("request_not_valid", "The header `Upload-Metadata` must have the file's name in Base64");
    }
    if (name.trim() === "") continue;
    const parsed = UploadName.safeParse(name);
    if (parsed.success) return parsed.data;
    const rule = parsed.error.issues[0]?.message;
    throw new AppError("request_not_valid", `The file's name in the header \`Upload-Metadata\` ${rule}`);
  }
  return "upload";
}
