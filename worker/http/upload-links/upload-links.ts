// /v2/upload-links: links with which browsers upload one file each, for the programs that create them.

import type { Context } from "hono";
import { UploadLinkBody, type UploadLinkList } from "#shared/api/upload-links.ts";
import { AppError } from "#shared/errors.ts";
import { parseNotification } from "#shared/request/notification-section.ts";
import { MAX_TEMPLATE_BYTES } from "#shared/template/template-body.ts";
import { randomBytes } from "../../crypto/bytes.ts";
import { changeLink, findLink, insertLink, listLinks, type UploadLinkRow } from "../../db/upload-links.ts";
import { publicOrigin, settingsOf } from "../../settings.ts";
import { resolveStorage } from "../../storage/resolve-storage.ts";
import { storeForNew } from "../../storage/source-uploads/open-upload-store.ts";
import { removeUpload } from "../../storage/source-uploads/remove-uploads.ts";
import { newUploadId } from "../../storage/source-uploads/upload-id.ts";
import type { ClientEnv } from "../auth/auth.ts";
import { requireJobScope, requireScope } from "../auth/scopes.ts";
import { readBody } from "../body/read-body.ts";
import { parseRequest } from "../jobs/create/create-job.ts";
import { creatorOf } from "../jobs/create/new-job.ts";
import { mount } from "../operation/mount.ts";
import { readPage, UploadListParameters } from "../query/upload-query.ts";
import { jsonResponse } from "../responses/json-response.ts";
import { beyond, requireRoom } from "../uploads/upload-limits.ts";
import { deletedAt, jobBody, sealLink } from "./link-end.ts";
import { uploadOf, viewData, viewLink } from "./link-view.ts";
import { UPLOAD_LINK_OPERATIONS } from "./upload-links.operations.ts";

/** The period of LINK_RATE in wrangler.toml. */
const RATE_SECONDS = 60;

export const uploadLinks = mount(UPLOAD_LINK_OPERATIONS, {
  createUploadLink: create,
  listUploadLinks: async (context) => {
    const { id } = context.get("account");
    const { page, next_cursor } = await readPage(UploadListParameters, context.req.query(), (wanted) =>
      listLinks(context.env.DB, id, wanted),
    );
    const upload_links = page.map(({ upload, ...link }) => viewData(link, upload));
    return jsonResponse(context, { upload_links, next_cursor } satisfies UploadLinkList);
  },
  getUploadLink: async (context) => jsonResponse(context, await viewLink(context.env, await ownLink(context))),
  revokeUploadLink: async (context) => {
    const { env } = context;
    const link = await ownLink(context);
    if (link.status === "completed") {
      throw new AppError("upload_state_conflict", "The file is complete: delete its upload, not the link");
    }
    const now = Date.now();
    const revoked = { status: "revoked", endedAt: now, isAnnounced: true, sealed: null } as const;
    if (link.endedAt !== null) return jsonResponse(context, await viewLink(env, link));
    const ended = { ...link, ...revoked };
    if (!(await changeLink(env.DB, link, { ...revoked, checkAt: deletedAt(ended, env) }))) {
      throw new AppError("upload_state_conflict", "The upload link has just changed; read it again");
    }
    const upload = await uploadOf(env, link);
    if (upload) await removeUpload(env, upload, now);
    return jsonResponse(context, await viewLink(env, ended));
  },
});

async function create(context: Context<ClientEnv>): Promise<Response> {
  const { env } = context;
  const { id: accountId } = context.get("account");
  const body = await readBody(context.req, UploadLinkBody, "request_not_valid", MAX_TEMPLATE_BYTES);
  const scopes = context.get("scopes");
  if (body.job) requireJobScope(scopes, { ...body.job, ...(body.tags ? { tags: body.tags } : {}) });
  if (body.notification) requireScope(scopes, "jobs:create");
  storeForNew(env);
  if (!(await env.LINK_RATE.limit({ key: accountId })).success) {
    throw new AppError("rate_limited", `Too many new upload links of this account; try again in ${RATE_SECONDS} s`, {
      retryAfterSeconds: RATE_SECONDS,
    });
  }
  const id = newUploadId(randomBytes);
  const secrets = { job: body.job ?? null, webhook: receiverOf(context, body.notification) };
  const limits = await requireRoom(env, accountId, body.max_size);
  const createdAt = Date.now();
  const { keyId, expiresAt: keyEnd } = context.get("key");
  const expiresAt = Math.min(createdAt + body.expires_s * 1000, keyEnd ?? Number.POSITIVE_INFINITY);
  const row: UploadLinkRow = {
    id,
    accountId,
    status: "waiting",
    name: body.name ?? null,
    tags: body.tags && Object.keys(body.tags).length > 0 ? JSON.stringify(body.tags) : null,
    maxBytes: body.max_size,
    origins: JSON.stringify(body.origins),
    origin: publicOrigin(env, context.req.url),
    sealed: await sealLink(id, secrets, env),
    uploadId: null,
    jobId: null,
    jobError: null,
    createdAt,
    expiresAt,
    endedAt: null,
    isAnnounced: false,
    checkAt: expiresAt,
    keyId,
    refusedOrigin: null,
  };
  if (body.job) await requireValidJob(context, row, body.job);
  if (!(await insertLink(env.DB, row, limits))) throw beyond(limits);
  return jsonResponse(context, await viewLink(env, row), 201);
}

/** Checks the job as if its file were complete. The link's id stands for the upload. Throws AppError. */
async function requireValidJob(
  context: Context<ClientEnv>,
  link: UploadLinkRow,
  job: Readonly<Record<string, unknown>>,
): Promise<void> {
  if ("input" in job)
    throw new AppError("input_not_valid", "`job` must have no `input`: the file of the link is its input");
  const creator = creatorOf(context);
  const request = await parseRequest(creator, jobBody(link, job, link.id)).catch((error: unknown) => {
    throw error instanceof AppError ? new AppError(error.code, `\`job\`: ${error.message}`) : error;
  });
  await resolveStorage(request.storage, { ...creator, keys: request.secrets.storage });
}

/** The URL of the receiver with its secrets; null: none. Throws AppError(notification_not_valid). */
function receiverOf({ env }: Context<ClientEnv>, notification: unknown): string | null {
  if (notification === undefined) return null;
  const parsed = parseNotification(notification, settingsOf(env).allowPrivate);
  if (!parsed.ok) throw AppError.from(parsed.error);
  if (parsed.value.notification.type === "http" && "url" in parsed.value.secret) return parsed.value.secret.url;
  throw new AppError("notification_not_valid", "`notification.type` of an upload link must be http");
}

/** The link of the path. Throws AppError(upload_link_not_found). */
async function ownLink(context: Context<ClientEnv, "/:id">): Promise<UploadLinkRow> {
  const link = await findLink(context.env.DB, context.req.param("id"));
  if (link?.accountId === context.get("account").id) return link;
  throw new AppError("upload_link_not_found", "The account has no upload link with this id, or it was removed");
}
