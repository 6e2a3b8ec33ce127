// Names of objects have a length that every storage takes.
import { joinPath, MAX_NAME_BYTES, nameBytes, objectName } from "../../job/object-name.ts";
import type { OutputSpec } from "../../job/output-spec.ts";
import { MAX_STREAM_FILE_CHARS } from "../../job/stream-files.ts";
import { type Parsed, refuse } from "../parse-section.ts";
import type { RequestedStorage } from "../storage/storage-spec.ts";
import { writtenBy } from "./output-objects.ts";

/** Files that an output of unknown length counts to. */
const MAX_ORDINAL = 9_999_999;
/** The longest that a stream's own file can have behind the folder of its package. */
const STREAM_FILE = `/${"x".repeat(MAX_STREAM_FILE_CHARS)}`;
/** In the service's own storage a job's id stands in front of all its names, with a slash. */
const JOB_FOLDER_BYTES = 15;

/** Refuses outputs whose names would be too long in the storage. */
export function checkNameLengths(outputs: OutputSpec[], storage: RequestedStorage): Parsed<OutputSpec[]> {
  const folder = storage.kind === "http" ? "" : storage.path;
  const most = MAX_NAME_BYTES - (storage.kind === "builtin" ? JOB_FOLDER_BYTES : 0);
  for (const output of outputs) {
    const longest = Math.max(...longestNames(output).map((name) => nameBytes(joinPath(folder, name))));
    if (longest > most) {
      const rule = `together with \`storage.path\` its names have up to ${longest} bytes, and at most ${most} are possible`;
      return refuse("output_param_not_valid", `The \`path\` of the output \`${output.key}\` is too long: ${rule}`);
    }
  }
  return { ok: true, value: outputs };
}

function longestNames(output: OutputSpec): string[] {
  const folders = output.type === "httpstream" ? [output.hls, output.dash].flatMap((one) => one?.path ?? []) : [];
  return [
    ...writtenBy(output).map(({ path, count }) => objectName(path, Math.min(count, MAX_ORDINAL))),
    ...folders.map((path) => path + STREAM_FILE),
  ];
}
