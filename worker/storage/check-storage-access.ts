// Checks that a storage accepts files, before the job encodes anything for it. The request stores nothing.
import { AppError, type Failure, failureOf } from "#shared/errors.ts";
import { StorageRejection } from "#shared/network/storage-failure.ts";
import type { FileToStore, ObjectStore } from "./object-store.ts";
import { NoStorageResponse } from "./storage-errors.ts";

export type StorageAccess =
  /** The storage accepts files. The caller aborts the multipart upload that the check started. */
  | { kind: "accepted"; uploadId: string | null }
  /**
   * The storage rejects all files: only another `storage` helps, or the region of the bucket, if the storage names it.
   */
  | { kind: "rejected"; failure: Failure; bucketRegion: string | null }
  /** The storage's server does not respond, perhaps because it restarts. */
  | { kind: "unreachable"; failure: Failure }
  /** A temporary failure, or a response that proves nothing. Only the uploads will show more. */
  | { kind: "unclear" };

/** Checks a storage with a file of the job. Never rejects because of the storage. */
export async function checkStorageAccess(store: ObjectStore, file: FileToStore): Promise<StorageAccess> {
  try {
    return { kind: "accepted", uploadId: await store.check(file) };
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const failure = failureOf(error);
    if (error instanceof StorageRejection && isCertain(error)) {
      return { kind: "rejected", failure, bucketRegion: error.bucketRegion };
    }
    return error instanceof NoStorageResponse && error.reason !== "timeout"
      ? { kind: "unreachable", failure }
      : { kind: "unclear" };
  }
}

/** Codes that do not depend on the object. Some services reject this check with other codes, but accept uploads. */
const CERTAIN: ReadonlySet<string | null> = new Set([
  "InvalidAccessKeyId",
  "SignatureDoesNotMatch",
  "AuthenticationFailed",
  "AccessDenied",
  "AccountProblem",
  "AllAccessDisabled",
  "NotSignedUp",
  "NoSuchBucket",
  "InvalidBucketName",
  "ContainerNotFound",
  "AccessControlListNotSupported",
  "InvalidStorageClass",
]);

const isCertain = ({ code, isTransient, serviceCode }: StorageRejection): boolean =>
  !isTransient && code !== "storage_unreachable" && (code === "storage_region_not_valid" || CERTAIN.has(serviceCode));
