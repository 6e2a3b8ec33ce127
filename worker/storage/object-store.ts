// The operations that a job needs of the client's storage. Nodes upload by signed requests; the rest happens in the
// Worker.
import type { LeaseId } from "#shared/ids.ts";
import type { OutputType } from "#shared/job/output-status.ts";
import type { UploadPart } from "#shared/protocol/uploads.ts";
import type { PartPlace } from "./upload-limits.ts";

/** A file that becomes an object below the storage's own path. */
export type FileToStore = {
  readonly objectName: string;
  readonly contentType: string;
  /** The Cache-Control header, unless the client sets one for its storage; null: none. */
  readonly cacheControl: string | null;
  /** Another version follows soon: `cacheControl` counts whatever the client sets. */
  readonly isGrowing?: boolean;
  readonly sizeBytes: number;
  /** The output that the file belongs to. */
  readonly output: { readonly key: string; readonly type: OutputType };
};

/** Who may store a file: a lease, while it is current and the output has not ended. */
export type UploadHolder = { readonly lease: LeaseId; readonly output: number };

/** How long a storage may take to respond to a storage check: encoding waits for it. */
export const CHECK_LIMIT_MS = 10_000;

export interface ObjectStore {
  /**
   * Checks whether such a file could be stored, without storing anything. Returns the id of the multipart upload that
   * the check had to begin, or null. Throws AppError(storage_*).
   */
  check(file: FileToStore): Promise<string | null>;
  /** Sizes in bytes of the parts of a file, in order, once its upload has begun. */
  partSizes(sizeBytes: number): number[];
  /**
   * Begins an upload and returns its id, or null when a single request stores the file. `isEarly`: the size of the file
   * is not known, and it is stored in parts if the storage has any. Throws AppError(storage_*).
   */
  begin(file: FileToStore, isEarly?: boolean): Promise<string | null>;
  /**
   * Signed requests for all parts of an upload; without an id one request that stores the whole file, whatever its
   * size. In the service's own storage they are valid as long as the lease of `holder`, and nothing is stored without
   * it; other storages cannot check that. `places`: only these parts, of an upload that was begun early. Throws
   * AppError(storage_denied) for a file that is too large for one request.
   */
  sign(
    file: FileToStore,
    uploadId: string | null,
    holder?: UploadHolder,
    places?: readonly PartPlace[],
  ): Promise<UploadPart[]>;
  /**
   * Completes a multipart upload; `etags` as the storage returned them. A repeated call changes nothing. Throws
   * AppError(storage_*).
   */
  complete(file: FileToStore, uploadId: string, etags: readonly string[]): Promise<void>;
  /** Aborts a multipart upload; does nothing if it no longer exists. Throws AppError(storage_*). */
  abort(objectName: string, uploadId: string): Promise<void>;
}

export type StorageBinding = {
  /** The bucket of the service's own storage (`"service": "coconut"`); optional. */
  STORAGE?: R2Bucket;
};
