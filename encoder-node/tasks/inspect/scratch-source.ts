// Copies a source to the scratch bucket, in pieces, for the nodes that encode its chunks.
import { stat } from "node:fs/promises";
import type { RangedSource } from "#shared/protocol/scratch.ts";
import { mapLimitedOrAbort } from "../../async/in-parallel.ts";
import { rangeContent } from "../../upload/content.ts";
import { putScratch, scratchName } from "../../workspace/scratch.ts";
import type { TaskDeps } from "../../workspace/task-deps.ts";

/** Far below the limit of one PUT (5 GiB with S3), so that a lost connection costs little. */
const PIECE_BYTES = 512 * 1024 * 1024;
/** Pieces that are sent at a time. Each piece is signed just before it is sent, because signatures expire soon. */
const PARALLEL = 4;

/** Reports progress of the stage `transferring`. Throws as `putScratch` does. */
export async function scratchSource(path: string, deps: TaskDeps, pieceBytes = PIECE_BYTES): Promise<RangedSource> {
  const { size } = await stat(path);
  const count = Math.ceil(size / pieceBytes);
  const sent = Array.from({ length: count }, () => 0);
  const pieces = sent.map((_, at) => ({
    name: scratchName(deps.assignment.lease, `source-${String(at + 1).padStart(5, "0")}`),
    sizeBytes: Math.min(pieceBytes, size - at * pieceBytes),
  }));
  deps.progress("transferring", 0);
  await mapLimitedOrAbort(pieces, PARALLEL, deps.signal, async ({ name, sizeBytes }, at, signal) => {
    const content = rangeContent(path, at * pieceBytes, sizeBytes);
    await putScratch([{ name, content }], { ...deps, signal }, (bytes) => {
      sent[at] = bytes;
      deps.progress("transferring", sent.reduce((sum, each) => sum + each, 0) / size);
    });
  });
  return { from: "scratch", pieces };
}
