// /v2/uploads: files of clients, in parts, that jobs read as their sources.

import type { Context } from "hono";
import { type Upload, UploadBody, type UploadList } from "#shared/api/uploads.ts";
import { AppError } from "#shared/errors.ts";
import { findUpload, insertUpload, listUploads, type UploadRow } from "../../db/uploads.ts";
import { publicOrigin, settingsOf } from "../../settings.ts";
import { openUploadStore, storeForNew } from "../../storage/source-uploads/open-upload-store.ts";
import { removeUpload, storeNameOf } from "../../storage/source-uploads/remove-uploads.ts";
import { uploadUrl } from "../../storage/source-url.ts";
import type { ClientEnv } from "../auth/auth.ts";
import { readBody } from "../body/read-body.ts";
import { mount } from "../operation/mount.ts";
import { readPage, UploadListParameters } from "../query/upload-query.ts";
import { jsonResponse } from "../responses/json-response.ts";
import { beyond, requireRoom } from "./upload-limits.ts";
import { completeParts, partAt, startUpload, takePart, viewSummary, viewUpload } from "./upload-parts.ts";
import { UPLOAD_OPERATIONS } from "./uploads.operations.ts";

/** Long enough to watch a source beside its outputs. */
const READABLE_SECONDS = 6 * 60 * 60;

export const uploads = mount(UPLOAD_OPERATIONS, {
  createUpload: create,
  listUploads: async (context) => {
    const { id } = context.get("account");
    const { page, next_cursor } = await readPage(UploadListParameters, context.req.query(), (wanted) =>
      listUploads(context.env.DB, id, wanted),
    );
    return jsonResponse(context, { uploads: page.map(viewSummary), next_cursor } satisfies UploadList);
  },
  getUpload: async (context) => {
    const upload = await ownUpload(context);
    const view = await viewUpload(context.env, upload);
    return jsonResponse(
      context,
      upload.status === "completed" ? { ...view, url: await readUrl(context, upload) } : view,
    );
  },
  putUploadPart: async (context) => {
    const upload = await ownUpload(context);
    const part = partAt(context.req.param("number"), upload);
    return jsonResponse(context, await takePart(context.env, upload, part, context.req.raw));
  },
  completeUpload: complete,
  deleteUpload: async (context) => {
    const upload = await ownUpload(context);
    const view = await viewUpload(context.env, upload);
    if (await removeUpload(context.env, upload, Date.now())) return jsonResponse(context, view);
    throw new AppError(
      "upload_state_conflict",
      "A job that has not ended reads the upload, or a part was just written",
    );
  },
});

async function create(context: Context<ClientEnv>): Promise<Response> {
  const { env } = context;
  const accountId = context.get("account").id;
  const { name, size } = await readBody(context.req, UploadBody, "request_not_valid");
  const store = storeForNew(env);
  const limits = await requireRoom(env, accountId, size);
  const row = await startUpload(env, { accountId, name, size }, store);
  if (!(await insertUpload(env.DB, row, limits))) {
    await openUploadStore(store, env).remove(row);
    throw beyond(limits);
  }
  return jsonResponse(context, { ...viewSummary(row), parts: [] } satisfies Upload, 201);
}

async function complete(context: Context<ClientEnv, "/:id/complete">): Promise<Response> {
  const completed = await completeParts(context.env, await ownUpload(context));
  return jsonResponse(context, await viewUpload(context.env, completed));
}

/** The upload of the path. Throws AppError(upload_not_found). */
async function ownUpload(context: Context<ClientEnv, "/:id">): Promise<UploadRow> {
  const { DB } = context.env;
  const upload = await findUpload(DB, context.get("account").id, context.req.param("id"), Date.now());
  if (!upload) throw new AppError("upload_not_found", "The account has no upload with this id, or it was removed");
  return upload;
}

/** A URL at which its holder can read the file. */
async function readUrl(context: Context<ClientEnv>, upload: UploadRow): Promise<string> {
  const settings = settingsOf(context.env);
  const origin = publicOrigin(context.env, context.req.url);
  return uploadUrl({ ...upload, store: storeNameOf(upload), origin }, settings, READABLE_SECONDS);
}
