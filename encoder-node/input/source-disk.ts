// Puts what was received of a source onto this node's disk.
import type { FileHandle } from "node:fs/promises";
import { AppError } from "#shared/errors.ts";
import { messageOf } from "#shared/log.ts";
import { DISK_RESERVE_BYTES } from "../ffmpeg/limits.ts";
import { freeBytes } from "../ffmpeg/machine.ts";

/** How many bytes a folder's disk has to give. */
export type Room = (folder: string) => Promise<number>;

/** A full disk would end the encodes that run (ffmpeg/run-command.ts), so what they and reports need is left alone. */
const roomFor: Room = async (folder) => (await freeBytes(folder)) - DISK_RESERVE_BYTES;

/** Throws AppError `node_failed` when the folder's disk has not so much room; other nodes may have. */
export async function checkRoom(folder: string, neededBytes: number, room: Room = roomFor): Promise<void> {
  if ((await room(folder)) >= neededBytes) return;
  throw new AppError("node_failed", "The node's disk has no room for the input; give it a larger one, or free some.");
}

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
