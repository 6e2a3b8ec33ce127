// The files of a job's outputs: how they are named within a grant, and which objects they become.
import { assertNever } from "#shared/errors.ts";
import type { MediaProbe } from "#shared/media-probe.ts";
import { contentTypeOf, objectName } from "#shared/object-name.ts";
import type { OutputSpec } from "#shared/output-spec.ts";
import { imageFiles } from "#shared/plan/image-files.ts";
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

/** The object that a file is, below the storage's own path; the last of an image output may be its WebVTT file. */
export function objectOf(state: JobState, file: FileName): string {
  const spec = specOf(state, file);
  switch (spec.type) {
    case "video":
      return objectName(spec.path, file.ordinal);
    case "image":
      return spec.vtt && file.ordinal === fileCount(spec, state.input.probe)
        ? spec.vtt.path
        : objectName(spec.path, file.ordinal);
    case "httpstream":
      throw unplanned(spec);
    default:
      return assertNever(spec);
  }
}

function specOf(state: JobState, { output }: FileName): OutputSpec {
  const spec = state.spec.outputs[output];
  if (!spec) throw new Error(`No output ${output}`);
  return spec;
}

/** What the storage must know of a file. */
export function fileToStore(state: JobState, file: FileName & { sizeBytes: number }): FileToStore {
  const object = objectOf(state, file);
  return { objectName: object, contentType: contentTypeOf(specOf(state, file), object), sizeBytes: file.sizeBytes };
}

/** How many files an output consists of when it is made of this source, a WebVTT file included. */
export function fileCount(output: OutputSpec, probe: MediaProbe | null): number {
  switch (output.type) {
    case "video":
      return 1;
    case "image": {
      const files = imageFiles(output, probe);
      if (!files) throw unplanned(output);
      return files.images + (output.vtt ? 1 : 0);
    }
    case "httpstream":
      throw unplanned(output);
    default:
      return assertNever(output);
  }
}

/** No task makes such an output: what it consists of depends on its source, and the planner refuses it. */
const unplanned = ({ key }: OutputSpec): Error => new Error(`The files of the output ${key} are not known`);
