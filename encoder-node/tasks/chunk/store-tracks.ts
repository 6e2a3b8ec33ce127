// Stores the tracks that a task of a chunked job encoded in the scratch bucket.
import { basename } from "node:path";
import type { ScratchTrack } from "#shared/protocol/scratch.ts";
import { putScratch, scratchName } from "../../task/scratch.ts";
import type { TaskDeps } from "../../task/task-deps.ts";
import { fileContent } from "../../upload/content.ts";

/** A file with a track, or one chunk of it. */
export type EncodedTrack = {
  readonly output: number;
  readonly track: string;
  readonly path: string;
  /** Null for anything but video. */
  readonly frames: number | null;
};

/** Files keep their names, below the lease's folder. Reports progress of the stage `uploading`. */
export async function storeTracks(tracks: readonly EncodedTrack[], deps: TaskDeps): Promise<ScratchTrack[]> {
  const { lease } = deps.assignment;
  const files = await Promise.all(
    tracks.map(async ({ path }) => ({ name: scratchName(lease, basename(path)), content: await fileContent(path) })),
  );
  const totalBytes = files.reduce((sum, { content }) => sum + content.sizeBytes, 0);
  deps.progress("uploading", 0);
  await putScratch(files, deps, (bytes) => deps.progress("uploading", bytes / Math.max(1, totalBytes)));
  return tracks.flatMap(({ output, track, frames }, at) => {
    const file = files[at];
    return file ? [{ output, track, name: file.name, sizeBytes: file.content.sizeBytes, frames }] : [];
  });
}
