// Names of a stream's files within a lease (protocol/uploads.ts), and their objects.
import type { LeaseId } from "#shared/ids.ts";
import { joinPath } from "#shared/job/object-name.ts";
import { entryFilesOf } from "#shared/job/output-files.ts";
import type { HttpStreamOutput } from "#shared/job/output-spec.ts";
import { isStreamFolder, MAX_STREAM_FILE_CHARS } from "#shared/job/stream-files.ts";

/** True if a file has a fixed name. All other files are in folders that only a single lease may write to. */
export const isEntryFile = (stream: HttpStreamOutput, name: string): boolean =>
  entryFilesOf(stream).some(({ file }) => file === name);

/** True if a lease may write a file of this name. */
export function mayWrite(stream: HttpStreamOutput, name: string, lease: LeaseId): boolean {
  if (isEntryFile(stream, name)) return true;
  const [packageName, folder = "", ...rest] = name.split("/");
  const inPackage = packageFolder(stream, packageName) !== null && isStreamFolder(folder, lease);
  const isShort = [folder, ...rest].join("/").length <= MAX_STREAM_FILE_CHARS;
  return inPackage && isShort && rest.length >= 1 && rest.length <= 3 && rest.every((part) => PLAIN_PART.test(part));
}

/** Only names that no storage or server decodes, resolves or hides. */
const PLAIN_PART = /^[A-Za-z0-9_-][A-Za-z0-9._-]*$/;

/** The object of a file, below the storage's own path. Throws when the output has no such package. */
export function streamObject(stream: HttpStreamOutput, name: string): string {
  const [packageName, ...rest] = name.split("/");
  const folder = packageFolder(stream, packageName);
  if (folder === null) throw new Error(`The output ${stream.key} has no file ${name}`);
  return joinPath(folder, rest.join("/"));
}

function packageFolder({ hls, dash }: HttpStreamOutput, packageName: string | undefined): string | null {
  if (packageName === "hls") return hls?.path ?? null;
  return packageName === "dash" ? (dash?.path ?? null) : null;
}
