// Objects that outputs write in the storage, and overlaps of two outputs.
import { assertNever } from "../../errors.ts";
import { counterOf, objectName } from "../../job/object-name.ts";
import { entryFilesOf, imageFileCount, playlistsOf } from "../../job/output-files.ts";
import type { HttpStreamOutput, OutputSpec } from "../../job/output-spec.ts";

/** Objects that an output writes: the path with the counter replaced by 1 to `count`, which may be infinite. */
export type WrittenObjects = { readonly path: string; readonly count: number };

export function writtenBy(output: OutputSpec): WrittenObjects[] {
  switch (output.type) {
    case "video":
    case "text":
      return [{ path: output.path, count: 1 }];
    case "image":
      return [
        { path: output.path, count: imageFileCount(output) ?? Number.POSITIVE_INFINITY },
        ...(output.vtt ? [{ path: output.vtt.path, count: 1 }] : []),
      ];
    case "httpstream":
      return [...playlistsOf(output).map(({ path }) => path), ...seekFiles(output)].map((path) => ({ path, count: 1 }));
    default:
      return assertNever(output);
  }
}

/** Returns the WebVTT files of a stream's thumbnails and chapters. Packages in the same folder share a file. */
function seekFiles(output: HttpStreamOutput): string[] {
  const paths = entryFilesOf(output).map(({ path }) => path);
  return [...new Set(paths.slice(playlistsOf(output).length))];
}

/** Returns an object that both would write, or a pattern of such objects; null if there is none. */
export function commonObject(one: WrittenObjects, other: WrittenObjects): string | null {
  const [few, many] = one.count <= other.count ? [one, other] : [other, one];
  if (few.count === Number.POSITIVE_INFINITY) return mayOverlap(few.path, many.path) ? few.path : null;
  for (let ordinal = 1; ordinal <= few.count; ordinal++) {
    const object = objectName(few.path, ordinal);
    if (writes(many, object)) return object;
  }
  return null;
}

/** True if the objects include this object. */
export function writes({ path, count }: WrittenObjects, object: string): boolean {
  const { before, after } = aroundCounter(path);
  const digits = object.slice(before.length, object.length - after.length);
  const ordinal = /^\d+$/.test(digits) ? Number(digits) : 1;
  return ordinal >= 1 && ordinal <= count && objectName(path, ordinal) === object;
}

/** True if two infinite counters can produce the same name: their paths differ only in digits. */
function mayOverlap(one: string, other: string): boolean {
  const [a, b] = [aroundCounter(one), aroundCounter(other)];
  const reversed = (text: string): string => [...text].reverse().join("");
  return differsByDigits(a.before, b.before) && differsByDigits(reversed(a.after), reversed(b.after));
}

function differsByDigits(one: string, other: string): boolean {
  const [short, long] = one.length <= other.length ? [one, other] : [other, one];
  return long.startsWith(short) && /^\d*$/.test(long.slice(short.length));
}

function aroundCounter(path: string): { before: string; after: string } {
  const counter = counterOf(path);
  if (!counter) return { before: path, after: "" };
  const at = path.indexOf(counter);
  return { before: path.slice(0, at), after: path.slice(at + counter.length) };
}
