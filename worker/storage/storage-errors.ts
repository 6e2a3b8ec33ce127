// Errors of storages that are not responses of a storage (network/storage-failure.ts has those).
import { AppError } from "#shared/errors.ts";
import { messageOf } from "#shared/log.ts";
import { type AllowPrivate, checkReachableUrl } from "#shared/network/address-policy.ts";
import { type ConnectionFailure, type StoragePlace, storageUnreachable } from "#shared/network/storage-connection.ts";
import { StorageRejection } from "#shared/network/storage-failure.ts";
import { FailedConnection } from "../http-client/fetch-within.ts";

/**
 * Checks a client's storage URL before each use: the job may be older than the operator's current setting. Throws
 * AppError(storage_address_not_allowed).
 */
export function requireAllowed(url: string, allow: AllowPrivate): void {
  const checked = checkReachableUrl(url, allow);
  if (checked.ok) return;
  throw new AppError("storage_address_not_allowed", `The URL of the storage is not allowed: ${checked.error}`);
}

/** `storage_unreachable`: a request of the Worker got no response. */
export class NoStorageResponse extends AppError {
  readonly reason: ConnectionFailure;

  constructor(url: string, cause: unknown, place: StoragePlace = "bucket") {
    const reason = reasonOf(cause);
    super("storage_unreachable", storageUnreachable(url, reason, place).message, { cause });
    this.reason = reason;
  }
}

/**
 * Outside Cloudflare, workerd reveals little. `Network connection lost.` means that a connection was refused or broke.
 * `internal error` may mean the same, a host name that cannot be resolved, or a certificate that is not valid.
 */
function reasonOf(error: unknown): ConnectionFailure {
  if (error instanceof FailedConnection) return error.reason;
  return messageOf(error).startsWith("Network connection lost") ? "refused" : "no connection";
}

/** The multipart upload does not exist, in a storage without an error code for this case. */
export class UploadGone extends AppError {
  constructor(message: string, options?: { cause?: unknown }) {
    super("storage_unreachable", message, options);
  }
}

/** The storage has lost a part of the multipart upload, or has another version of the part. */
export class PartLost extends AppError {
  constructor(message: string, options?: { cause?: unknown }) {
    super("storage_unreachable", message, options);
  }
}

/** The error codes of S3 and Azure for an upload that does not exist. */
const GONE: ReadonlySet<string | null> = new Set(["NoSuchUpload", "InvalidBlockList"]);

/** True if an upload does not exist: it was completed, aborted, or never started. */
export const isUploadGone = (error: unknown): boolean =>
  error instanceof UploadGone || (error instanceof StorageRejection && GONE.has(error.serviceCode));

/** True if an upload can never be completed: it does not exist, or the storage has lost a part of it. */
export const isUploadLost = (error: unknown): boolean =>
  isUploadGone(error) ||
  error instanceof PartLost ||
  (error instanceof StorageRejection && error.serviceCode === "InvalidPart");
