// Keeps uploads of source files for a limited time. Removes expired uploads, and uploads that their clients delete.
import * as z from "zod";
import { AppError } from "#shared/errors.ts";
import { messageOf } from "#shared/log.ts";
import { changeUnused, deleteUpload, expiredUploads, holdUpload, isHeld, type UploadRow } from "../../db/uploads.ts";
import { log } from "../../log.ts";
import type { StorageEnv } from "../open-store.ts";
import { openUploadStore, UPLOAD_STORES } from "./open-upload-store.ts";

export type UploadsEnv = StorageEnv & { readonly DB: D1Database };

/** An upload is kept this long after its last write, and after the creation of the last job that reads it. */
export const KEEP_UPLOADS_MS = 24 * 60 * 60_000;
/** A job holds its upload before its own row is stored. For this long, a job without a row counts as unfinished. */
const CREATION_MS = 10 * 60_000;
/** The sweeper tries again after this time to remove an upload. */
const RETRY_MS = 10 * 60_000;
/** Keeps an upload for a new job. Throws AppError(input_not_valid) when it was removed meanwhile. */
export async function keepForJob(db: D1Database, id: string, jobId: string): Promise<void> {
  if (await holdUpload(db, { id, jobId, expiresAt: Date.now() + KEEP_UPLOADS_MS })) return;
  throw new AppError("input_not_valid", "`input.upload`: the upload was removed");
}

/** Uploads that a sweep removes, at most. */
const MAX_REMOVED = 100;

export const storeNameOf = ({ store }: Pick<UploadRow, "store">) => z.enum(UPLOAD_STORES).parse(store);

/**
 * Removes an upload. Returns false when an unfinished job reads it. Throws AppError(storage_*): the sweeper then
 * removes the upload later.
 */
export async function removeUpload(env: UploadsEnv, row: UploadRow, now: number): Promise<boolean> {
  // The status is set first: a job that is restarted later cannot hold a partly removed upload.
  const isRecent = row.expiresAt > now + KEEP_UPLOADS_MS - CREATION_MS;
  if (row.status !== "removing" && (await isHeld(env.DB, row, isRecent))) return false;
  if (!(await changeUnused(env.DB, row, { status: "removing", expiresAt: now + RETRY_MS }))) return false;
  await openUploadStore(storeNameOf(row), env).remove(row);
  await deleteUpload(env.DB, row.id);
  return true;
}

/** Removes expired uploads. Uploads that a job reads are kept for another day. */
export async function removeExpiredUploads(env: UploadsEnv, now: number): Promise<void> {
  for (const row of await expiredUploads(env.DB, now, MAX_REMOVED)) {
    try {
      if (await removeUpload(env, row, now)) continue;
      await changeUnused(env.DB, row, { expiresAt: now + KEEP_UPLOADS_MS });
    } catch (error) {
      log.error("upload not removed", { upload: row.id, error: messageOf(error) });
    }
  }
}
