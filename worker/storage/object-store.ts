// What a job wants of the client's storage, whichever it is: nodes upload by signed requests, the rest happens here.
import { AppError, assertNever } from "#shared/errors.ts";
import type { UploadPart } from "#shared/protocol.ts";
import type { AccessKeys, StorageSpec } from "#shared/request/storage-spec.ts";
import { s3Store } from "./s3-store.ts";
import { objectUrl } from "./s3-target.ts";

/** A file that is to become an object below the storage's own path. */
export type FileToStore = {
  readonly objectName: string;
  readonly contentType: string;
  readonly sizeBytes: number;
};

export interface ObjectStore {
  /** Sizes in bytes of the parts that a file goes up in, in order. */
  partSizes(sizeBytes: number): number[];
  /** Begins an upload and answers its id, or null when its only part stores it. Throws AppError(storage_*). */
  begin(file: FileToStore): Promise<string | null>;
  /** Signed requests for all parts of an upload. */
  sign(file: FileToStore, uploadId: string | null): Promise<UploadPart[]>;
  /** Makes an object of the parts; `etags` as the storage answered them. Twice is fine. Throws AppError(storage_*). */
  complete(file: FileToStore, uploadId: string, etags: readonly string[]): Promise<void>;
  /** Forgets an upload that was begun; one that is gone already is fine. Throws AppError(storage_*). */
  abort(objectName: string, uploadId: string): Promise<void>;
}

/** Opens a job's storage. `keys` is null where none are needed. */
export function openStore(storage: StorageSpec, keys: AccessKeys | null): ObjectStore {
  switch (storage.kind) {
    case "s3":
      if (!keys) throw new AppError("internal_error", "A bucket needs its keys");
      return s3Store(storage, keys);
    case "azure":
    case "builtin":
    case "http":
      throw new AppError("internal_error", `Nothing is stored in ${storage.kind} yet`);
    default:
      return assertNever(storage);
  }
}

/** The address of an object as clients are shown it. */
export function publicUrlOf(storage: StorageSpec, objectName: string): string {
  switch (storage.kind) {
    case "s3":
      return objectUrl(storage, storage.path, objectName);
    case "azure":
    case "builtin":
    case "http":
      throw new AppError("internal_error", `Nothing is stored in ${storage.kind} yet`);
    default:
      return assertNever(storage);
  }
}
