// Where the objects of the service's own storage lie: in the bucket, and in the world.
import { isJobId, type JobId } from "#shared/ids.ts";
import { MAX_NAME_BYTES, nameBytes } from "#shared/job/object-name.ts";
import { isCleanPath } from "#shared/request/clean-path.ts";
import { encodePath } from "../encode-path.ts";

/** One object of one job. `path` is not percent-encoded, and has neither empty parts nor a slash in front. */
export type BuiltinObject = { readonly jobId: JobId; readonly path: string };

/** How long objects are served, and when a job that has ended loses them. */
export const BUILTIN_RETENTION_MS = 24 * 60 * 60 * 1000;

/** What all keys of a job's objects begin with. */
export const prefixOf = (jobId: JobId): string => `${jobId}/`;
export const keyOf = ({ jobId, path }: BuiltinObject): string => prefixOf(jobId) + path;

/** Whether the bucket can hold an object of this name: R2's limit on keys is that of S3 (R2 limits). */
export const hasRoomFor = (object: BuiltinObject): boolean => nameBytes(keyOf(object)) <= MAX_NAME_BYTES;

const ROOT = "/storage/";

/** The path of an object's address. */
export const pathnameOf = ({ jobId, path }: BuiltinObject): string => `${ROOT}${jobId}/${encodePath(path)}`;

/** The object that an address's path names; null when it names none that could be. */
export function objectAt(pathname: string): BuiltinObject | null {
  const [jobId = "", ...encoded] = pathname.startsWith(ROOT) ? pathname.slice(ROOT.length).split("/") : [];
  const parts = encoded.map(decode);
  const path = parts.join("/");
  // A slash that was encoded would make two addresses of one object.
  const plain = parts.length > 0 && parts.every((part) => part && !part.includes("/")) && isCleanPath(path);
  return isJobId(jobId) && plain && hasRoomFor({ jobId, path }) ? { jobId, path } : null;
}

/** Empty when it cannot be decoded. */
function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return "";
  }
}
