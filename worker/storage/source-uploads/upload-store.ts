// The operations that a storage must support for uploads of clients' source files.

/** A multipart upload of a file. The caller makes `id`, which is part of the object's key. */
export type OpenUpload = { readonly id: string; readonly multipartId: string };

/** All methods throw AppError(storage_*), and UploadGone when the multipart upload no longer exists. */
export interface UploadStore {
  /** Starts a multipart upload and returns its id. */
  begin(id: string): Promise<string>;
  /** Stores a part of exactly this size, and returns its ETag. Replaces the part of an earlier call. */
  putPart(upload: OpenUpload, part: { number: number; sizeBytes: number }, body: ReadableStream): Promise<string>;
  /** Completes the upload. `etags` are in the order of the parts. A repeated call changes nothing. */
  complete(upload: OpenUpload, sizeBytes: number, etags: readonly string[]): Promise<void>;
  /** Removes all stored data of the upload. Succeeds if nothing is stored. */
  remove(upload: OpenUpload): Promise<void>;
}
