// The files of a job's outputs: how they are named within a grant, and which objects they become.
import { assertNever } from "#shared/errors.ts";
import type { LeaseId } from "#shared/ids.ts";
import { contentTypeOf, objectName } from "#shared/job/object-name.ts";
import { playlistsOf } from "#shared/job/output-files.ts";
import type { ImageOutput, OutputSpec } from "#shared/job/output-spec.ts";
import type { MediaProbe } from "#shared/media/media-probe.ts";
import { imageFiles } from "#shared/plan/thumbnails/image-files.ts";
import type { FileName } from "#shared/protocol/protocol.ts";
import type { FileToStore } from "../../storage/object-store.ts";
import type { JobState } from "../state/job-state.ts";
import { isEntryFile, mayWrite, streamObject } from "./stream-names.ts";

/** A file of an output of a job. */
export type NamedFile = { output: number; file: FileName };

/** Names a file within a grant: the key of its upload. */
export const uploadKey = ({ output, file }: NamedFile): string => `${output}/${file}`;

/** The file that `uploadKey` named. */
export function fileOfKey(key: string): NamedFile {
  const slash = key.indexOf("/");
  const name = key.slice(slash + 1);
  return { output: Number(key.slice(0, slash)), file: /^\d+$/.test(name) ? Number(name) : name };
}

/** The object that a file is, below the storage's own path; the last of an image output may be its WebVTT file. */
export function objectOf(state: JobState, { output, file }: NamedFile): string {
  const spec = specOf(state, output);
  switch (spec.type) {
    case "video":
      return objectName(spec.path, Number(file));
    case "image":
      return spec.vtt && file === pictureFileCount(spec, state.input.probe)
        ? spec.vtt.path
        : objectName(spec.path, Number(file));
    case "httpstream":
      return streamObject(spec, String(file));
    default:
      return assertNever(spec);
  }
}

function specOf(state: JobState, output: number): OutputSpec {
  const spec = state.spec.outputs[output];
  if (!spec) throw new Error(`No output ${output}`);
  return spec;
}

/** Whether a grant may store a file of this name as one of an output's, made of this source. */
export function isFileOf(spec: OutputSpec, file: FileName, probe: MediaProbe | null, lease: LeaseId): boolean {
  switch (spec.type) {
    case "video":
      return file === 1;
    case "image":
      return typeof file === "number" && file <= pictureFileCount(spec, probe);
    case "httpstream":
      return typeof file === "string" && mayWrite(spec, file, lease);
    default:
      return assertNever(spec);
  }
}

/**
 * Whether the upload of a file goes on record, to be compared with the node's report and, if it has parts, to be
 * completed. A stream has thousands of files, whose playlists are stored last and tell what there is: of it only the
 * files at fixed addresses are recorded.
 */
export const isRecorded = (spec: OutputSpec, file: FileName): boolean =>
  spec.type !== "httpstream" || isEntryFile(spec, String(file));

/** The files that an output made of this source is not done without, in the order in which clients see them. */
export function neededFiles(spec: OutputSpec, probe: MediaProbe | null): FileName[] {
  switch (spec.type) {
    case "video":
      return [1];
    case "image":
      return Array.from({ length: pictureFileCount(spec, probe) }, (_, at) => at + 1);
    case "httpstream":
      return playlistsOf(spec).map(({ file }) => file);
    default:
      return assertNever(spec);
  }
}

/** How many files an output of pictures consists of, its WebVTT file included. */
function pictureFileCount(output: ImageOutput, probe: MediaProbe | null): number {
  const files = imageFiles(output, probe);
  // No task makes such an output: the planner refuses it.
  if (!files) throw new Error(`The files of the output ${output.key} are not known`);
  return files.images + (output.vtt ? 1 : 0);
}

/** What the storage must know of a file. */
export function fileToStore(state: JobState, file: NamedFile & { sizeBytes: number }): FileToStore {
  const spec = specOf(state, file.output);
  const object = objectOf(state, file);
  return {
    objectName: object,
    contentType: contentTypeOf(spec, object),
    cacheControl: cacheControlOf(spec, file.file),
    sizeBytes: file.sizeBytes,
    output: { key: spec.key, type: spec.type },
  };
}

/** Of a stream the files at fixed addresses may be replaced, while all others never change. */
function cacheControlOf(spec: OutputSpec, file: FileName): string | null {
  if (spec.type !== "httpstream") return null;
  return isEntryFile(spec, String(file)) ? "public, max-age=60" : "public, max-age=31536000, immutable";
}
