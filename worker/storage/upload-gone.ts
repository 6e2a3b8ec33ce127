// An upload that its storage no longer knows: to complete it again is no use, but another attempt may succeed.
import { AppError } from "#shared/errors.ts";
import { StorageRefusal } from "#shared/network/storage-failure.ts";

/** Of a storage that has no words of its own for it. */
export class UploadGone extends AppError {
  constructor(message: string, options?: { cause?: unknown }) {
    super("storage_unreachable", message, options);
  }
}

/** What S3 and Azure say of it. */
const GONE: ReadonlySet<string | null> = new Set(["NoSuchUpload", "InvalidBlockList"]);

/** Whether the storage no longer knows an upload: it was completed, aborted, or never begun. */
export const isUploadGone = (error: unknown): boolean =>
  error instanceof UploadGone || (error instanceof StorageRefusal && GONE.has(error.said));

/** Whether it is no use to complete an upload again: it is gone, or the storage has lost a part of it. */
export const isUploadLost = (error: unknown): boolean =>
  isUploadGone(error) || (error instanceof StorageRefusal && error.said === "InvalidPart");
