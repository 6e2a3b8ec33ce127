// What a storage must do for uploads of clients' source files.

/** A multipart upload of one file; the caller makes `id`, which is part of the object's key. */
export type OpenUpload = { readonly id: string; readonly multipartId: string };

/** All methods throw AppError(storage_*); UploadGone where the multipart upload no longer exists. */
export interface UploadStore {
  /** Begins a multipart upload and returns its id. */
  begin(id: string): Promise<string>;
  /** Stores a part of exactly this size, and returns its ETag. The part of an earlier call is replaced. */
  putPart(upload: OpenUpload, part: { number: number; sizeBytes: number }, body: ReadableStream): Promise<string>;
  /** Completes the upload; `etags` in the order of the parts. A repeated call changes nothing. */
  complete(upload: OpenUpload, sizeBytes: number, etags: readonly string[]): Promise<void>;
  /** Removes all that is stored of the upload; nothing may be. */
  remove(upload: OpenUpload): Promise<void>;
}
