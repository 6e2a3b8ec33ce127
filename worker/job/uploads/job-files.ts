// The files of a job's outputs: their names within a lease, and their objects.
import { assertNever } from "#shared/errors.ts";
import type { LeaseId } from "#shared/ids.ts";
import { contentTypeOf, objectName } from "#shared/job/object-name.ts";
import { playlistsOf } from "#shared/job/output-files.ts";
import { type ImageOutput, type OutputSpec, typeOf } from "#shared/job/output-spec.ts";
import type { FileName } from "#shared/protocol/uploads.ts";
import type { FileToStore } from "../../storage/object-store.ts";
import type { JobState, OutputState } from "../state/job-state.ts";
import type { NamedFile } from "../state/task-state.ts";
import { isEntryFile, mayWrite, streamObject } from "./stream-names.ts";

/** The number of images, which is known after the inspection of the source. */
type ImageCount = Pick<OutputState, "images"> | undefined;

/** The object of a file, below the storage's own path. The last file of an image output may be its WebVTT file. */
export function objectOf(state: JobState, { output, file }: NamedFile): string {
  const spec = specOf(state, output);
  switch (spec.type) {
    case "video":
    case "text":
      return objectName(spec.path, Number(file));
    case "image":
      return spec.vtt && file === imageFileCount(spec, state.outputs[output])
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
  if (!spec) throw new Error(`The job has no output ${output}`);
  return spec;
}

/** True if a lease may store a file of this name for the output. */
export function isFileOf(state: JobState, { output, file }: NamedFile, lease: LeaseId): boolean {
  const spec = specOf(state, output);
  switch (spec.type) {
    case "video":
    case "text":
      return file === 1;
    case "image":
      return typeof file === "number" && file <= imageFileCount(spec, state.outputs[output]);
    case "httpstream":
      return typeof file === "string" && mayWrite(spec, file, lease);
    default:
      return assertNever(spec);
  }
}

/**
 * True if the upload of a file is recorded, to compare it with the node's report and to complete a multipart upload. A
 * stream has thousands of files; its playlists, which are stored last, name them. Only the files of a stream with fixed
 * names are recorded.
 */
export const isRecorded = (spec: OutputSpec, file: FileName): boolean =>
  spec.type !== "httpstream" || isEntryFile(spec, String(file));

/** The files that an output needs to be done, in the order in which clients see them. */
export function requiredFiles(spec: OutputSpec, output: ImageCount): FileName[] {
  switch (spec.type) {
    case "video":
    case "text":
      return [1];
    case "image":
      return Array.from({ length: imageFileCount(spec, output) }, (_, at) => at + 1);
    case "httpstream":
      return playlistsOf(spec).map(({ file }) => file);
    default:
      return assertNever(spec);
  }
}

/** Number of files of an image output, including its WebVTT file. Throws if no task can make the output. */
function imageFileCount({ key, vtt }: ImageOutput, output: ImageCount): number {
  if (!output?.images) throw new Error(`The number of images of the output ${key} is not known`);
  return output.images.files + (vtt ? 1 : 0);
}

/** A file in the form that the storage needs. */
export function fileToStore(state: JobState, file: NamedFile & { sizeBytes: number; growing?: boolean }): FileToStore {
  const spec = specOf(state, file.output);
  const object = objectOf(state, file);
  return {
    objectName: object,
    contentType: contentTypeOf(spec, object),
    ...(isGrowing(spec, file) ? GROWING : { cacheControl: cacheControlOf(spec, file.file) }),
    sizeBytes: file.sizeBytes,
    output: { key: spec.key, type: typeOf(spec) },
  };
}

/** Caches ask for a new version each time (RFC 9111 §5.2.2.4). */
const GROWING = { cacheControl: "no-cache", isGrowing: true } as const;

/** True if a file is a version of a playlist that later versions replace. */
export const isGrowing = (spec: OutputSpec, { growing = false }: { growing?: boolean }): boolean =>
  growing && spec.type === "httpstream" && spec.livePlaylist;

/** The files of a stream with fixed names may be replaced; all others never change. */
function cacheControlOf(spec: OutputSpec, file: FileName): string | null {
  if (spec.type !== "httpstream") return null;
  return isEntryFile(spec, String(file)) ? "public, max-age=60" : "public, max-age=31536000, immutable";
}
