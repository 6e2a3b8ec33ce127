// Stores the encoded tracks of a chunked job's task in the scratch bucket.
import { basename } from "node:path";
import type { ScratchTrack } from "#shared/protocol/scratch.ts";
import { fileContent } from "../../upload/content.ts";
import { presignedOf, putScratch, scratchName } from "../../workspace/scratch.ts";
import type { TaskDeps } from "../../workspace/task-deps.ts";

/** A file with a whole track, or with a chunk of a track. */
export type EncodedTrack = {
  readonly output: number;
  readonly track: string;
  readonly path: string;
  /** Null for tracks that are not video. */
  readonly frames: number | null;
};

/**
 * Files get the names that were signed with the assignment. Further files keep their own names, below the lease's
 * folder. Reports progress of the stage `uploading`.
 */
export async function storeTracks(tracks: readonly EncodedTrack[], deps: TaskDeps): Promise<ScratchTrack[]> {
  const { lease } = deps.assignment;
  const names = presignedOf(deps.assignment)?.puts ?? [];
  const areNamed = names.length >= tracks.length;
  const files = await Promise.all(
    tracks.map(async ({ path }, at) => {
      const name = (areNamed ? names[at]?.name : undefined) ?? scratchName(lease, basename(path));
      return { name, content: await fileContent(path) };
    }),
  );
  const totalBytes = files.reduce((sum, { content }) => sum + content.sizeBytes, 0);
  deps.progress("uploading", 0);
  const onBytes = (bytes: number): void => deps.progress("uploading", bytes / Math.max(1, totalBytes));
  await deps.trace.step("upload", () => putScratch(files, deps, onBytes), { "copra.bytes": totalBytes });
  return tracks.flatMap(({ output, track, frames }, at) => {
    const file = files[at];
    return file ? [{ output, track, name: file.name, sizeBytes: file.content.sizeBytes, frames }] : [];
  });
}
