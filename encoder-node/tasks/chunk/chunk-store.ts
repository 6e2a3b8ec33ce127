// Brings what a task of a chunked film made to the scratch bucket.
import { basename } from "node:path";
import type { ScratchTrack } from "#shared/protocol/chunking.ts";
import { putScratch, scratchName } from "../../task/scratch.ts";
import type { TaskDeps } from "../../task/task-deps.ts";
import { fileContent } from "../../upload/content.ts";
import type { MadeTrack } from "./chunk-check.ts";

/** Files keep their names, below the grant's folder. Tells the stage `uploading`. */
export async function storeTracks(tracks: readonly MadeTrack[], deps: TaskDeps): Promise<ScratchTrack[]> {
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
