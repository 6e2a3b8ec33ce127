// The file of an upload link: starts, completes and removes its upload.
import { AppError } from "#shared/errors.ts";
import type { Env } from "../../bindings.ts";
import { changeLink, findLink, startLinkUpload, type UploadLinkRow } from "../../db/upload-links.ts";
import type { UploadRow } from "../../db/uploads.ts";
import { openUploadStore, storeForNew } from "../../storage/source-uploads/open-upload-store.ts";
import { removeUpload } from "../../storage/source-uploads/remove-uploads.ts";
import { completeParts, startUpload } from "../uploads/upload-parts.ts";
import { LATER_MS, settleLink } from "./link-end.ts";
import { isOver, uploadOf } from "./link-view.ts";

/** The link's upload outlives the link by this time, so that the sweeper ends the link first. */
const MARGIN_MS = 60 * 60_000;

/** Throws AppError(upload_link_ended) unless the link waits for its file, receives it or has it. */
export function requireLive(link: UploadLinkRow): void {
  if (link.status === "completed" || ((link.status === "waiting" || link.status === "uploading") && !isOver(link))) {
    return;
  }
  throw new AppError(
    "upload_link_ended",
    `The upload link ${link.status === "revoked" ? "was revoked" : "has expired"}`,
  );
}

/** The link's upload. Throws AppError(upload_link_ended | upload_not_found). */
export async function fileOf(env: Env, link: UploadLinkRow): Promise<UploadRow> {
  requireLive(link);
  const upload = await uploadOf(env, link);
  if (!upload) throw new AppError("upload_not_found", "The upload link has no upload yet, or it was removed");
  return upload;
}

type NewFile = { readonly name: string; readonly size: number };

/**
 * Starts the link's upload. A repeated request gets the same upload. Throws AppError(upload_link_ended |
 * body_too_large | upload_state_conflict | service_unavailable).
 */
export async function startFile(
  env: Env,
  link: UploadLinkRow,
  { name: given, size }: NewFile,
): Promise<{ upload: UploadRow; isNew: boolean }> {
  requireLive(link);
  const name = link.name ?? given;
  const upload = await uploadOf(env, link);
  if (upload?.name === name && upload.sizeBytes === size) return { upload, isNew: false };
  if (upload || link.status === "completed") throw used();
  if (size > link.maxBytes) {
    throw new AppError("body_too_large", `The file has ${size} bytes; the upload link accepts ${link.maxBytes}`);
  }
  // The upload was removed, but the link did not note it.
  if (link.status === "uploading") await changeLink(env.DB, link, WITHOUT_FILE);
  const store = storeForNew(env);
  const started = await startUpload(env, { accountId: link.accountId, name, size }, store);
  const row = { ...started, expiresAt: Math.max(started.expiresAt, link.expiresAt + MARGIN_MS) };
  if (await startLinkUpload(env.DB, link.id, row)) return { upload: row, isNew: true };
  // Another request was faster.
  await openUploadStore(store, env).remove(row);
  const current = await findLink(env.DB, link.id);
  if (current?.status !== "uploading") throw used();
  return await startFile(env, current, { name: given, size });
}

const WITHOUT_FILE = { status: "waiting", uploadId: null } as const;
const used = (): AppError =>
  new AppError("upload_state_conflict", "The upload link is for one file, and has another file already");

/**
 * Completes the upload and ends the link. A repeated call changes nothing. Throws AppError(upload_link_ended |
 * upload_state_conflict | service_unavailable).
 */
export async function completeFile(env: Env, link: UploadLinkRow, upload: UploadRow): Promise<UploadRow> {
  if (link.status === "completed") return upload;
  // If this request is interrupted, the sweeper completes the upload.
  await changeLink(env.DB, link, { checkAt: Date.now() + LATER_MS });
  const completed = await completeParts(env, upload);
  const now = Date.now();
  const ended = { status: "completed", endedAt: now, checkAt: now + LATER_MS } as const;
  if (await changeLink(env.DB, link, ended)) await settleLink(env, { ...link, ...ended }, now);
  else requireLive((await findLink(env.DB, link.id)) ?? { ...link, status: "revoked" });
  return completed;
}

/** Removes the unfinished upload. The link then waits for a file again. Throws AppError(upload_state_conflict). */
export async function removeFile(env: Env, link: UploadLinkRow, upload: UploadRow): Promise<void> {
  if (upload.status === "completed" || !(await removeUpload(env, upload, Date.now()))) {
    throw new AppError("upload_state_conflict", "The upload is complete, or a part was just written");
  }
  await changeLink(env.DB, link, { ...WITHOUT_FILE, checkAt: link.expiresAt });
}
