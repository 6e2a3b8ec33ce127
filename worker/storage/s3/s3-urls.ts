// The URLs of a bucket's objects.
import { joinPath } from "#shared/job/object-name.ts";
import type { S3Bucket, StorageOf } from "#shared/request/storage/storage-spec.ts";
import { encodePath } from "../encode-path.ts";

/** The URL of the object with this key. */
export const keyUrl = (bucket: S3Bucket, key: string): string => `${bucketUrl(bucket)}/${encodePath(key)}`;

/** The URL of an output's object, for requests. */
export const objectUrl = (bucket: S3Bucket, folder: string, objectName: string): string =>
  keyUrl(bucket, joinPath(folder, objectName));

/** The URL of an output's object as clients see it. */
export function shownUrl(storage: StorageOf<"s3">, objectName: string): string {
  const url = objectUrl(storage, storage.path, objectName);
  return storage.secure ? url : url.replace(/^https:/, "http:");
}

function bucketUrl({ endpoint, bucket, addressing }: S3Bucket): string {
  return addressing === "path" ? `${endpoint}/${bucket}` : endpoint.replace("://", `://${bucket}.`);
}
