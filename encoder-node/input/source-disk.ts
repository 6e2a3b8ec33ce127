// Puts what was received of a source onto this node's disk.
import type { FileHandle } from "node:fs/promises";
import { AppError } from "#shared/errors.ts";
import { messageOf } from "#shared/log.ts";

/** Writes all of it. Throws AppError `node_failed` when the disk does not take it. */
export async function writeAt(file: FileHandle, chunk: Buffer, position: number): Promise<void> {
  let written = 0;
  while (written < chunk.length) {
    const piece = file.write(chunk, written, chunk.length - written, position + written);
    written += (await piece.catch(diskFailure)).bytesWritten;
  }
}

/** Throws AppError `node_failed`, without the paths that the system's own words may hold. */
export function diskFailure(error: unknown): never {
  const code = error instanceof Error && "code" in error ? String(error.code) : messageOf(error);
  throw new AppError("node_failed", `The node cannot write the input to its disk (${code}).`, { cause: error });
}
