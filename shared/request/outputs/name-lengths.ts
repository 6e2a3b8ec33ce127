// Checks that names of objects are not longer than storages allow.

import { joinPath, MAX_NAME_BYTES, nameBytes, objectName } from "../../job/object-name.ts";
import type { OutputSpec } from "../../job/output-spec.ts";
import { MAX_STREAM_FILE_CHARS } from "../../job/stream-files.ts";
import { ok, type Result } from "../../result.ts";
import { invalid } from "../parse-section.ts";
import type { RequestedStorage } from "../storage/storage-spec.ts";
import { writtenBy } from "./output-objects.ts";

/** Maximum file number of an output of unknown length. */
const MAX_ORDINAL = 9_999_999;
/** Longest name of a stream's file below the folder of its package. */
const STREAM_FILE = `/${"x".repeat(MAX_STREAM_FILE_CHARS)}`;
/** In the built-in storage, the job's id and a slash precede all names. */
const JOB_FOLDER_BYTES = 15;

/** Rejects outputs whose names would be too long in the storage. */
export function checkNameLengths(outputs: OutputSpec[], storage: RequestedStorage): Result<OutputSpec[]> {
  const folder = storage.kind === "http" ? "" : storage.path;
  const most = MAX_NAME_BYTES - (storage.kind === "builtin" ? JOB_FOLDER_BYTES : 0);
  for (const output of outputs) {
    const longest = Math.max(...longestNames(output).map((name) => nameBytes(joinPath(folder, name))));
    if (longest > most) {
      const rule = `with \`storage.path\`, its names have up to ${longest} bytes; at most ${most} are allowed`;
      return invalid("output_param_not_valid", `The \`path\` of the output \`${output.key}\` is too long: ${rule}`);
    }
  }
  return ok(outputs);
}

function longestNames(output: OutputSpec): string[] {
  const folders = output.type === "httpstream" ? [output.hls, output.dash].flatMap((stream) => stream?.path ?? []) : [];
  return [
    ...writtenBy(output).map(({ path, count }) => objectName(path, Math.min(count, MAX_ORDINAL))),
    ...folders.map((path) => path + STREAM_FILE),
  ];
}
