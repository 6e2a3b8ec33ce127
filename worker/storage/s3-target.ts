// Where an S3 bucket lives: the addresses of its objects, for requests and for people.

import { assertNever } from "#shared/errors.ts";
import { joinPath } from "#shared/object-name.ts";
import type { StorageSpec } from "#shared/request/storage-section.ts";

/** Scheme and host of the service, and the bucket's place in it. */
export type S3Target = { bucketUrl: string; region: string };

export function s3Target(storage: StorageSpec): S3Target {
  switch (storage.service) {
    case "s3": {
      // A dot in the bucket's name would not match the wildcard certificate of virtual-hosted addresses.
      const host = `s3.${storage.region}.amazonaws.com`;
      const bucketUrl = storage.bucket.includes(".")
        ? `https://${host}/${storage.bucket}`
        : `https://${storage.bucket}.${host}`;
      return { bucketUrl, region: storage.region };
    }
    case "s3other": {
      const endpoint = new URL(storage.endpoint);
      const base = endpoint.pathname.replace(/\/+$/, "");
      const bucketUrl = storage.forcePathStyle
        ? `${endpoint.origin}${base}/${storage.bucket}`
        : `${endpoint.protocol}//${storage.bucket}.${endpoint.host}${base}`;
      return { bucketUrl, region: storage.region };
    }
    default:
      return assertNever(storage);
  }
}

/** The address of an object: what clients are shown and what requests are signed for. */
export function objectUrl(storage: StorageSpec, objectName: string): string {
  return `${s3Target(storage).bucketUrl}/${joinPath(storage.path, objectName).split("/").map(encodeSegment).join("/")}`;
}

/** Percent-encodes all but RFC 3986's unreserved characters, as the signature's canonical path demands. */
const encodeSegment = (segment: string): string =>
  encodeURIComponent(segment).replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);
