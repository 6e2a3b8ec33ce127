// Writes sources to this node's disk, and reserves the space that they need.
import type { FileHandle } from "node:fs/promises";
import { AppError } from "#shared/errors.ts";
import { messageOf } from "#shared/log.ts";
import { Limiter } from "../../async/in-parallel.ts";
import { DISK_RESERVE_BYTES } from "../../ffmpeg/limits.ts";
import { freeBytes } from "../../ffmpeg/run-command.ts";

/** Returns how many bytes the disk of a folder has for sources. */
export type FreeSpace = (folder: string) => Promise<number>;

/** All but a reserve for encodes and reports: a full disk would stop running encodes (ffmpeg/run-command.ts). */
const usableBytes: FreeSpace = async (folder) => (await freeBytes(folder)) - DISK_RESERVE_BYTES;

/** The disk space of a source. */
export interface DiskShare {
  /**
   * Reserves `bytes` that are still to be written, in place of the earlier reservation. Throws AppError `node_busy`
   * when the disk has too little space: another node may have more, or other work may end.
   */
  reserve(bytes: number): Promise<void>;
  /** Ends the reservation. Written bytes stay. */
  endReservation(): void;
  /** The source is removed from the disk. */
  close(): void;
}

/** The disk for all sources of a node. A source cannot use space that another source has reserved. */
export class SourceDisk {
  readonly #freeSpace: FreeSpace;
  readonly #reserved = new Map<DiskShare, number>();
  readonly #queue = new Limiter(1);

  constructor(freeSpace: FreeSpace = usableBytes) {
    this.#freeSpace = freeSpace;
  }

  open(folder: string): DiskShare {
    const share: DiskShare = {
      reserve: (bytes) => this.#queue.run(() => this.#reserve(share, folder, bytes)),
      endReservation: () => {
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
    const free = (await this.#freeSpace(folder)) - ofOthers;
    if (free < bytes) throw diskTooSmall(bytes, free);
    this.#reserved.set(share, bytes);
  }
}

const megabytes = (bytes: number): string => `${Math.max(0, Math.ceil(bytes / 1e6))} MB`;

/** Another node may have enough, or this node when other work has ended. */
const diskTooSmall = (needed: number, free: number): AppError =>
  new AppError(
    "node_busy",
    `The node has too little disk space for the input: it needs ${megabytes(needed)}, and ${megabytes(free)} are free`,
  );

/** Writes the whole chunk. Throws AppError `node_failed` when the disk cannot store it. */
export async function writeAt(file: FileHandle, chunk: Buffer, position: number): Promise<void> {
  let written = 0;
  while (written < chunk.length) {
    const result = file.write(chunk, written, chunk.length - written, position + written);
    written += (await result.catch(diskFailure)).bytesWritten;
  }
}

/** Throws AppError `node_failed`, without the paths that the system's message may contain. */
export function diskFailure(error: unknown): never {
  const code = error instanceof Error && "code" in error ? String(error.code) : messageOf(error);
  throw new AppError("node_failed", `The node cannot write the input to its disk (${code}).`, { cause: error });
}
