// Opens the storage of clients' source files: the Worker's own bucket, or the scratch bucket if the Worker has none.
import { AppError } from "#shared/errors.ts";
import { settingsOf } from "../../settings.ts";
import type { StorageEnv } from "../open-store.ts";
import { bucketUploads } from "./bucket-uploads.ts";
import { scratchUploads } from "./scratch-uploads.ts";
import type { UploadStore } from "./upload-store.ts";

/** The storages that can hold an upload. */
export const UPLOAD_STORES = ["bucket", "scratch"] as const;
export type UploadStoreName = (typeof UPLOAD_STORES)[number];

/** The storage for new uploads. Throws AppError(uploads_not_available). */
export function storeForNew(env: StorageEnv): UploadStoreName {
  if (env.STORAGE) return "bucket";
  if (settingsOf(env).scratch) return "scratch";
  throw new AppError(
    "uploads_not_available",
    "This server takes no uploads: its operator must bind an R2 bucket to the Worker as STORAGE, or set a scratch bucket",
  );
}

/** The storage that holds an upload. Throws AppError(storage_unreachable) when the operator removed it. */
export function openUploadStore(name: UploadStoreName, env: StorageEnv): UploadStore {
  const { scratch } = settingsOf(env);
  if (name === "bucket" && env.STORAGE) return bucketUploads(env.STORAGE);
  if (name === "scratch" && scratch) return scratchUploads(scratch);
  throw new AppError("storage_unreachable", "The storage of uploads is no longer available: its operator removed it");
}
