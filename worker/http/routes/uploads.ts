// /v2/uploads: files of clients, in parts, that jobs read as their sources.
import { type Context, Hono } from "hono";
import { PART_BYTES, type Upload, UploadBody, type UploadList, type UploadSummary } from "#shared/api/uploads.ts";
import { AppError } from "#shared/errors.ts";
import { randomBytes } from "../../crypto/bytes.ts";
import {
  completeUpload,
  countUploads,
  findUpload,
  insertUpload,
  listUploads,
  partsOf,
  recordPart,
  type Uploaded,
  type UploadRow,
} from "../../db/uploads.ts";
import { settingsOf } from "../../settings.ts";
import { openUploadStore, storeForNew } from "../../storage/source-uploads/open-upload-store.ts";
import { KEEP_UPLOADS_MS, removeUpload, storeNameOf } from "../../storage/source-uploads/remove-uploads.ts";
import { newUploadId } from "../../storage/source-uploads/upload-id.ts";
import { uploadUrl } from "../../storage/source-url.ts";
import { type ClientEnv, clientAuth } from "../auth/auth.ts";
import { readBody } from "../body/read-body.ts";
import { cursorOf } from "../query/list-query.ts";
import { parseUploadQuery } from "../query/upload-query.ts";
import { jsonResponse } from "../responses/json-response.ts";
import { missingParts, partAt, stateError, storePart } from "../upload-parts.ts";

/** Maximum number of an account's uploads that are not yet removed. */
const MAX_UPLOADS = 1000;
/** Long enough to watch a source beside its outputs. */
const READABLE_SECONDS = 6 * 60 * 60;

export const uploads = new Hono<ClientEnv>({ strict: false })
  .use(clientAuth)
  .post("/", create)
  .get("/", async (context) => {
    const { limit, after } = parseUploadQuery(context.req.query());
    const wanted = { after, limit: limit + 1, now: Date.now() };
    const rows = await listUploads(context.env.DB, context.get("account").id, wanted);
    const page = rows.slice(0, limit);
    const last = rows.length > limit ? page.at(-1) : undefined;
    const list: UploadList = { uploads: page.map(viewSummary), next_cursor: last ? cursorOf(last) : null };
    return jsonResponse(context, list);
  })
  .get("/:id", async (context) => {
    const upload = await ownUpload(context);
    const view = await viewOf(context, upload);
    return jsonResponse(
      context,
      upload.status === "completed" ? { ...view, url: await readUrl(context, upload) } : view,
    );
  })
  .put("/:id/parts/:number", async (context) => {
    const upload = await ownUpload(context);
    requireOpen(upload);
    const part = partAt(context.req.param("number"), upload);
    const store = openUploadStore(storeNameOf(upload), context.env);
    const etag = await storePart(store, upload, part, context.req.raw);
    const stored = { uploadId: upload.id, ...part, etag };
    if (!(await recordPart(context.env.DB, stored, Date.now() + KEEP_UPLOADS_MS))) {
      throw new AppError("upload_state_conflict", "The upload was completed or removed meanwhile");
    }
    return jsonResponse(context, { number: part.number, size: part.sizeBytes, etag });
  })
  .post("/:id/complete", complete)
  .delete("/:id", async (context) => {
    const upload = await ownUpload(context);
    const view = await viewOf(context, upload);
    if (await removeUpload(context.env, upload, Date.now())) return jsonResponse(context, view);
    throw new AppError(
      "upload_state_conflict",
      "A job that has not ended reads the upload, or a part was just written",
    );
  });

async function create(context: Context<ClientEnv>): Promise<Response> {
  const { env } = context;
  const accountId = context.get("account").id;
  const { name, size } = await readBody(context.req, UploadBody, "request_not_valid");
  const store = storeForNew(env);
  const limits: Uploaded = { count: MAX_UPLOADS, bytes: settingsOf(env).maxUploadedBytes };
  const uploaded = await countUploads(env.DB, accountId);
  if (uploaded.count >= limits.count || uploaded.bytes + size > limits.bytes) throw beyond(limits);
  const id = newUploadId(randomBytes);
  const multipartId = await openUploadStore(store, env)
    .begin(id)
    .catch((error: unknown) => {
      throw stateError(error, id);
    });
  const createdAt = Date.now();
  const row: UploadRow = {
    id,
    accountId,
    name,
    sizeBytes: size,
    partBytes: PART_BYTES,
    status: "open",
    store,
    multipartId,
    createdAt,
    expiresAt: createdAt + KEEP_UPLOADS_MS,
    jobs: "[]",
  };
  if (!(await insertUpload(env.DB, row, limits))) {
    await openUploadStore(store, env).remove(row);
    throw beyond(limits);
  }
  return jsonResponse(context, { ...viewSummary(row), parts: [] } satisfies Upload, 201);
}

const beyond = ({ count, bytes }: Uploaded): AppError =>
  new AppError(
    "too_many_uploads",
    `The account may have ${count} uploads, of ${bytes} bytes together: delete some, or wait until they are removed`,
  );

async function complete(context: Context<ClientEnv, "/:id/complete">): Promise<Response> {
  const { env } = context;
  const upload = await ownUpload(context);
  if (upload.status === "completed") return jsonResponse(context, await viewOf(context, upload));
  const parts = await partsOf(env.DB, upload.id);
  const missing = missingParts(parts, upload);
  if (missing !== null) throw new AppError("upload_state_conflict", `Parts are not stored: ${missing}`);
  const etags = parts.map(({ etag }) => etag);
  try {
    await openUploadStore(storeNameOf(upload), env).complete(upload, upload.sizeBytes, etags);
  } catch (error) {
    throw stateError(error, upload.id);
  }
  const expiresAt = Date.now() + KEEP_UPLOADS_MS;
  await completeUpload(env.DB, upload.id, expiresAt);
  return jsonResponse(context, await viewOf(context, { ...upload, status: "completed", expiresAt }));
}

function requireOpen({ status }: UploadRow): void {
  if (status !== "open") throw new AppError("upload_state_conflict", "The upload is completed");
}

/** The upload of the path. Throws AppError(upload_not_found). */
async function ownUpload(context: Context<ClientEnv, "/:id">): Promise<UploadRow> {
  const { DB } = context.env;
  const found = await findUpload(DB, context.get("account").id, context.req.param("id"), Date.now());
  if (!found) throw new AppError("upload_not_found", "The account has no upload with this id, or it was removed");
  return found;
}

/** A URL at which its holder can read the file. */
async function readUrl(context: Context<ClientEnv>, upload: UploadRow): Promise<string> {
  const settings = settingsOf(context.env);
  const origin = settings.publicUrl ?? new URL(context.req.url).origin;
  return uploadUrl({ id: upload.id, store: storeNameOf(upload), origin }, settings, READABLE_SECONDS);
}

async function viewOf(context: Context<ClientEnv>, upload: UploadRow): Promise<Upload> {
  const parts = await partsOf(context.env.DB, upload.id);
  const views = parts.map(({ number, sizeBytes, etag }) => ({ number, size: sizeBytes, etag }));
  return { ...viewSummary(upload), parts: views };
}

const viewSummary = ({ id, name, sizeBytes, partBytes, status, createdAt, expiresAt }: UploadRow): UploadSummary => ({
  id,
  name,
  size: sizeBytes,
  part_size: partBytes,
  status: status === "completed" ? "completed" : "open",
  created_at: new Date(createdAt).toISOString(),
  expires_at: new Date(expiresAt).toISOString(),
});
