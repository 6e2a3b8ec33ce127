// Names of objects in a storage: paths with a counter, and content types.
import { assertNever } from "../errors.ts";
import { IMAGE_CONTAINER_TRAITS, TEXT_MEDIA_TYPES, TRACK_CONTAINER_TRAITS } from "../format/containers.ts";
import type { OutputSpec } from "./output-spec.ts";

/**
 * Maximum bytes of a name in UTF-8: the limit of S3, the lowest of all storages (User Guide, Naming Amazon S3 objects).
 */
export const MAX_NAME_BYTES = 1024;
/** Returns the length of a name in UTF-8 bytes. */
export const nameBytes = (name: string): number => new TextEncoder().encode(name).length;

/** A counter in a path: `%02d`, `%.2d`, `%05d`, `%1d` or `%d`. */
const COUNTER = /%(?:0|\.)?(\d?)d/;

/** Returns the counter placeholder of a path; null if there is none. */
export const counterOf = (path: string): string | null => COUNTER.exec(path)?.[0] ?? null;

/**
 * Returns the path of file number `ordinal` (from 1). The number replaces the counter, padded with zeros to its width.
 */
export function objectName(path: string, ordinal: number): string {
  return path.replace(COUNTER, (_, width: string) => String(ordinal).padStart(Number(width || 1), "0"));
}

/** Joins the path of a storage and the name of an object with single slashes, without a leading slash. */
export function joinPath(folder: string, name: string): string {
  return [...folder.split("/"), ...name.split("/")].filter((part) => part !== "").join("/");
}

/** Content types of the files of a package, by extension (RFC 8216 §4, ISO 23009-1 annex C, WebVTT §1.5). */
const PACKAGE_FILES: ReadonlyMap<string, string> = new Map([
  ["m3u8", "application/vnd.apple.mpegurl"],
  ["mpd", "application/dash+xml"],
  ["ts", "video/mp2t"],
  ["m4s", "video/iso.segment"],
  ["mp4", "video/mp4"],
  ["m4a", "audio/mp4"],
  ["aac", "audio/aac"],
  ["vtt", "text/vtt"],
  ["jpg", "image/jpeg"],
]);

/** Returns the content type of an object of this output. */
export function contentTypeOf(output: OutputSpec, object: string): string {
  switch (output.type) {
    case "video":
      return TRACK_CONTAINER_TRAITS[output.container].mediaTypes[output.video ? 0 : 1];
    case "image":
      return object === output.vtt?.path ? "text/vtt" : IMAGE_CONTAINER_TRAITS[output.container].mediaType;
    case "text":
      return TEXT_MEDIA_TYPES[output.container];
    case "httpstream":
      return PACKAGE_FILES.get(object.split(".").at(-1)?.toLowerCase() ?? "") ?? "application/octet-stream";
    default:
      return assertNever(output);
  }
}
