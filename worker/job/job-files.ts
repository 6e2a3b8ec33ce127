// The files of a job's outputs: how they are named within a grant, and which objects they become.
import { assertNever } from "#shared/errors.ts";
import { contentTypeOf, objectName } from "#shared/object-name.ts";
import type { OutputSpec } from "#shared/output-spec.ts";
import type { FileToStore } from "../storage/object-store.ts";
import type { JobState } from "./job-state.ts";

/** A file of an output: its ordinal counts from 1. */
export type FileName = { output: number; ordinal: number };

/** Names a file within a grant: the key of its upload. */
export const uploadKey = ({ output, ordinal }: FileName): string => `${output}/${ordinal}`;

/** The file that `uploadKey` named. */
export function fileOfKey(key: string): FileName {
  const [output = -1, ordinal = 1] = key.split("/").map(Number);
  return { output, ordinal };
}

/** The object that a file is, below the storage's own path. */
export function objectOf(state: JobState, file: FileName): string {
  const spec = state.spec.outputs[file.output];
  if (!spec) throw new Error(`No output ${file.output}`);
  return objectName(spec.path, file.ordinal);
}

/** What the storage must know of a file. */
export function fileToStore(state: JobState, file: FileName & { sizeBytes: number }): FileToStore {
  const spec = state.spec.outputs[file.output];
  if (!spec) throw new Error(`No output ${file.output}`);
  return { objectName: objectOf(state, file), contentType: contentTypeOf(spec), sizeBytes: file.sizeBytes };
}

/** How many files an output consists of. */
export function fileCount(output: OutputSpec): number {
  switch (output.type) {
    case "video":
      return 1;
    case "image":
      return output.number;
    default:
      return assertNever(output);
  }
}
