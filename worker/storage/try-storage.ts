// Whether a storage takes files, asked before anything is encoded for it: by a request that leaves nothing behind.
import { AppError, type Failure } from "#shared/errors.ts";
import { StorageRefusal } from "#shared/network/storage-failure.ts";
import type { FileToStore, ObjectStore } from "./object-store.ts";
import { StorageSilence } from "./storage-unreachable.ts";

export type StorageTrial =
  /** It takes files. An upload that was begun for the trial is to be aborted. */
  | { kind: "good"; uploadId: string | null }
  /** It will not take them, whoever asks: nothing but another `storage` helps. */
  | { kind: "refused"; failure: Failure }
  /** Nobody answers at its address, which may be a restart. */
  | { kind: "silent"; failure: Failure }
  /** A passing failure, or an answer that proves nothing: the uploads themselves will show. */
  | { kind: "unclear" };

/** Tries a storage with a file of the job. Never rejects because of the storage. */
export async function tryStorage(store: ObjectStore, file: FileToStore): Promise<StorageTrial> {
  try {
    return { kind: "good", uploadId: await store.tryOut(file) };
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const failure = { code: error.code, message: error.message };
    if (error instanceof StorageRefusal && isCertain(error)) return { kind: "refused", failure };
    return error instanceof StorageSilence && error.why !== "timeout"
      ? { kind: "silent", failure }
      : { kind: "unclear" };
  }
}

/** Codes that do not depend on what is stored how: other services answer a trial with refusals that uploads do not meet. */
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

const isCertain = ({ code, passing, said }: StorageRefusal): boolean =>
  !passing && code !== "storage_unreachable" && (code === "storage_region_not_valid" || CERTAIN.has(said));
