// The addresses of a bucket's objects, for requests and for people.
import { joinPath } from "#shared/object-name.ts";
import type { S3Bucket } from "#shared/request/storage-spec.ts";

/** The address of an object: what clients are shown and what requests are signed for. */
export const objectUrl = (bucket: S3Bucket, folder: string, objectName: string): string =>
  `${bucketUrl(bucket)}/${joinPath(folder, objectName).split("/").map(encodeSegment).join("/")}`;

function bucketUrl({ endpoint, bucket, addressing }: S3Bucket): string {
  return addressing === "path" ? `${endpoint}/${bucket}` : endpoint.replace("://", `://${bucket}.`);
}

/** Percent-encodes all but RFC 3986's unreserved characters, as the signature's canonical path demands. */
const encodeSegment = (segment: string): string =>
  encodeURIComponent(segment).replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);
