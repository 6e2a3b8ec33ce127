// Uploads of source files in the Worker's own R2 bucket.
import { callBucket } from "../builtin/builtin-store.ts";
import { UploadGone } from "../storage-errors.ts";
import type { OpenUpload, UploadStore } from "./upload-store.ts";

/** The key of an upload's object. Jobs have no objects there, because ids of jobs have 14 characters. */
export const uploadKey = (id: string): string => `uploads/${id}`;

const resumed = (bucket: R2Bucket, { id, multipartId }: OpenUpload): R2MultipartUpload =>
  bucket.resumeMultipartUpload(uploadKey(id), multipartId);

export function bucketUploads(bucket: R2Bucket): UploadStore {
  return {
    begin: async (id) => (await callBucket(() => bucket.createMultipartUpload(uploadKey(id)))).uploadId,
    putPart: async (upload, { number }, body) =>
      (await callBucket(() => resumed(bucket, upload).uploadPart(number, body))).etag,
    complete: async (upload, sizeBytes, etags) => {
      const parts = etags.map((etag, at) => ({ partNumber: at + 1, etag }));
      try {
        await callBucket(() => resumed(bucket, upload).complete(parts));
      } catch (error) {
        const isComplete = async () => (await callBucket(() => bucket.head(uploadKey(upload.id))))?.size === sizeBytes;
        if (!(error instanceof UploadGone) || !(await isComplete())) throw error;
      }
    },
    remove: async (upload) => {
      try {
        await callBucket(() => resumed(bucket, upload).abort());
      } catch (error) {
        if (!(error instanceof UploadGone)) throw error;
      }
      await callBucket(() => bucket.delete(uploadKey(upload.id)));
    },
  };
}
