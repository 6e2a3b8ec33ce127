// Names of objects in a storage: paths with a counter, and their content types.
import type { OutputSpec } from "./output-spec.ts";

/** A counter in a path: `%02d`, `%.2d`, `%05d`, `%1d` or `%d`. */
const COUNTER = /%(?:0|\.)?(\d?)d/;

/** The counter placeholder of a path, or null when it has none. */
export const counterOf = (path: string): string | null => COUNTER.exec(path)?.[0] ?? null;

/** The path of file number `ordinal` (from 1): the counter filled in, zero-padded to its width. */
export function objectName(path: string, ordinal: number): string {
  return path.replace(COUNTER, (_, width: string) => String(ordinal).padStart(Number(width || 1), "0"));
}

/** Joins a storage's own path and an object name with single slashes and none in front. */
export function joinPath(folder: string, name: string): string {
  return [...folder.split("/"), ...name.split("/")].filter((part) => part !== "").join("/");
}

const CONTENT_TYPES: Record<OutputSpec["container"], string> = { mp4: "video/mp4", jpg: "image/jpeg" };

export const contentTypeOf = (output: OutputSpec): string =>
  output.type === "video" && !output.video ? "audio/mp4" : CONTENT_TYPES[output.container];
