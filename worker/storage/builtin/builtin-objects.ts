// The objects of the service's own storage: their keys in the bucket and their URLs.
import { isJobId, type JobId } from "#shared/ids.ts";
import { MAX_NAME_BYTES, nameBytes } from "#shared/job/object-name.ts";
import { isCleanPath } from "#shared/request/clean-path.ts";
import { encodePath } from "../encode-path.ts";

/** An object of a job. `path` is not percent-encoded, and has no empty segments and no leading slash. */
export type BuiltinObject = { readonly jobId: JobId; readonly path: string };

/** Objects are served for this long, and removed this long after a job's end. */
export const BUILTIN_RETENTION_MS = 24 * 60 * 60 * 1000;

/** The prefix of all keys of a job's objects. */
export const prefixOf = (jobId: JobId): string => `${jobId}/`;
export const keyOf = ({ jobId, path }: BuiltinObject): string => prefixOf(jobId) + path;

/** True if R2 allows a key of this length. R2 and S3 have the same limit (R2 limits). */
export const hasRoomFor = (object: BuiltinObject): boolean => nameBytes(keyOf(object)) <= MAX_NAME_BYTES;

const ROOT = "/storage/";

/** The path of an object's URL. */
export const pathnameOf = ({ jobId, path }: BuiltinObject): string => `${ROOT}${jobId}/${encodePath(path)}`;

/** The object at the path of a URL; null when the path is not valid. */
export function objectAt(pathname: string): BuiltinObject | null {
  const [jobId = "", ...encoded] = pathname.startsWith(ROOT) ? pathname.slice(ROOT.length).split("/") : [];
  const segments = encoded.map(decode);
  const path = segments.join("/");
  // An encoded slash would give an object two URLs.
  const plain = segments.length > 0 && segments.every((name) => name && !name.includes("/")) && isCleanPath(path);
  return isJobId(jobId) && plain && hasRoomFor({ jobId, path }) ? { jobId, path } : null;
}

/** Returns an empty text when the segment cannot be decoded. */
function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return "";
  }
}
