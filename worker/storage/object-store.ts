// The operations that a job needs from the client's storage. Nodes upload with signed requests; the Worker does the
// rest.
import type { LeaseId } from "#shared/ids.ts";
import type { OutputType } from "#shared/job/output-status.ts";
import type { UploadPart } from "#shared/protocol/uploads.ts";
import type { PartPlace } from "./upload-limits.ts";

/** A file that becomes an object below the storage's own path. */
export type FileToStore = {
  readonly objectName: string;
  readonly contentType: string;
  /** The Cache-Control header, unless the client sets a header for its storage; null: none. */
  readonly cacheControl: string | null;
  /** Another version follows soon: `cacheControl` applies even if the client sets a header. */
  readonly isGrowing?: boolean;
  readonly sizeBytes: number;
  /** The output that the file belongs to. */
  readonly output: { readonly key: string; readonly type: OutputType };
};

/** The holder of the permission to store a file: a lease, while it is current and the output has not ended. */
export type UploadHolder = { readonly lease: LeaseId; readonly output: number };

/** Time limit for the response to a storage check, in ms. Encoding waits for the check. */
export const CHECK_LIMIT_MS = 10_000;

export interface ObjectStore {
  /**
   * Checks that such a file could be stored, without storing anything. Returns the id of the multipart upload that the
   * check had to start, or null. Throws AppError(storage_*).
   */
  check(file: FileToStore): Promise<string | null>;
  /** Sizes in bytes of the parts of a file, in order, after the start of its upload. */
  partSizes(sizeBytes: number): number[];
  /**
   * Starts an upload and returns its id, or null when a single request stores the file. `isEarly`: the size of the file
   * is not known yet, and the file is stored in parts if the storage has parts. Throws AppError(storage_*).
   */
  begin(file: FileToStore, isEarly?: boolean): Promise<string | null>;
  /**
   * Signed requests for all parts of an upload. Without an id, a single request stores the whole file, whatever its
   * size. In the service's own storage the requests are valid as long as the lease of `holder`, and nothing is stored
   * without it. Other storages cannot check that. `places`: only these parts, of an upload that started early. Throws
   * AppError(storage_denied) for a file that is too large for one request.
   */
  sign(
    file: FileToStore,
    uploadId: string | null,
    holder?: UploadHolder,
    places?: readonly PartPlace[],
  ): Promise<UploadPart[]>;
  /**
   * Completes a multipart upload. `etags` are the storage's ETags. A repeated call changes nothing. Throws
   * AppError(storage_*).
   */
  complete(file: FileToStore, uploadId: string, etags: readonly string[]): Promise<void>;
  /** Aborts a multipart upload. Does nothing if it no longer exists. Throws AppError(storage_*). */
  abort(objectName: string, uploadId: string): Promise<void>;
}

export type StorageBinding = {
  /** The bucket of the service's own storage (`"service": "coconut"`); optional. */
  STORAGE?: R2Bucket;
};
