// Puts what was received of a source onto this node's disk.
import type { FileHandle } from "node:fs/promises";
import { AppError } from "#shared/errors.ts";
import { messageOf } from "#shared/log.ts";
import { limiter } from "../../async/in-parallel.ts";
import { DISK_RESERVE_BYTES } from "../../ffmpeg/limits.ts";
import { freeBytes } from "../../ffmpeg/machine.ts";

/** How many bytes a folder's disk has to give. */
export type Room = (folder: string) => Promise<number>;

/** A full disk would end the encodes that run (ffmpeg/run-command.ts), so what they and reports need is left alone. */
const roomFor: Room = async (folder) => (await freeBytes(folder)) - DISK_RESERVE_BYTES;

/** What one source may still take of the disk. */
export interface DiskShare {
  /**
   * Reserves so many bytes that are still to come, in place of what it had reserved. Throws AppError `node_busy` when there is
   * no room for them beside what other sources have or reserve, and `node_failed` when there is none without others.
   */
  need(bytes: number): Promise<void>;
  /** Nothing more comes; what is there stays. */
  settle(): void;
  /** The source is gone from the disk. */
  close(): void;
}

/** The disk that all sources of a node are on: what was announced of one is not given to the next. */
export class SourceDisk {
  readonly #room: Room;
  readonly #reserved = new Map<DiskShare, number>();
  readonly #oneByOne = limiter(1);

  constructor(room: Room = roomFor) {
    this.#room = room;
  }

  open(folder: string): DiskShare {
    const share: DiskShare = {
      need: (bytes) => this.#oneByOne(() => this.#reserve(share, folder, bytes)),
      settle: () => {
        if (this.#reserved.has(share)) this.#reserved.set(share, 0);
      },
      close: () => {
        this.#reserved.delete(share);
      },
    };
    this.#reserved.set(share, 0);
    return share;
  }

  async #reserve(share: DiskShare, folder: string, bytes: number): Promise<void> {
    this.#reserved.set(share, 0);
    const ofOthers = [...this.#reserved.values()].reduce((sum, each) => sum + each, 0);
    if ((await this.#room(folder)) - ofOthers < bytes) throw this.#reserved.size > 1 ? busy() : noRoom();
    this.#reserved.set(share, bytes);
  }
}

const busy = (): AppError =>
  new AppError("node_busy", "The node's disk has no room for the input beside the others that it works on.");
const noRoom = (): AppError =>
  new AppError("node_failed", "The node's disk has no room for the input; give it a larger one, or free some.");

/** Throws AppError `node_failed` when the folder's disk has not so much room; other nodes may have. */
export async function checkRoom(folder: string, neededBytes: number, room: Room = roomFor): Promise<void> {
  if ((await room(folder)) >= neededBytes) return;
  throw noRoom();
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
