// The bytes of a source that have arrived, in a file on disk, and the disk space for the rest.
import { type FileHandle, open } from "node:fs/promises";
import { dirname } from "node:path";
import { AppError } from "#shared/errors.ts";
import type { ByteRange } from "#shared/network/http-headers.ts";
import { bytesIn, endOfRun, withRange } from "./byte-ranges.ts";
import { type DiskShare, diskFailure, SourceDisk, writeAt } from "./source-disk.ts";

export type StoreOptions = {
  /** The file to create. It occupies only the disk space of the bytes that have arrived. */
  readonly path: string;
  /** The most bytes of a source that this node stores. */
  readonly maxBytes: number;
  /** The source's share of a disk that several sources use. */
  readonly disk?: DiskShare | undefined;
};

/** Bytes between two checks of the disk space: other processes write to the disk too. */
const DISK_CHECK_BYTES = 16 * 1024 * 1024;

/** Errors are AppError: `node_failed` (the disk fails), `node_busy` (the disk is too small), `input_too_large`. */
export class SourceStore {
  readonly #file: FileHandle;
  readonly #maxBytes: number;
  readonly #disk: DiskShare;
  #present: readonly ByteRange[] = [];
  #uncheckedBytes = 0;

  private constructor({ path, maxBytes, disk = new SourceDisk().open(dirname(path)) }: StoreOptions, file: FileHandle) {
    this.#maxBytes = maxBytes;
    this.#disk = disk;
    this.#file = file;
  }

  static async open(options: StoreOptions): Promise<SourceStore> {
    return new SourceStore(options, await open(options.path, "w+", 0o600).catch(diskFailure));
  }

  /** The ranges that have arrived, in ascending order. */
  get ranges(): readonly ByteRange[] {
    return this.#present;
  }

  get bytes(): number {
    return bytesIn(this.#present);
  }

  /** First missing byte from `position` on. */
  endOfRun(position: number): number {
    return endOfRun(this.#present, position);
  }

  setLength(bytes: number): Promise<void> {
    return this.#file.truncate(bytes).catch(diskFailure);
  }

  async clear(): Promise<void> {
    this.#present = [];
    await this.setLength(0);
  }

  checkSize(bytes: number): void {
    if (bytes <= this.#maxBytes) return;
    throw new AppError(
      "input_too_large",
      `The input is larger than ${this.#maxBytes} bytes, the maximum of this node.`,
    );
  }

  /** Reserves the disk space of bytes that are still to come. */
  reserve(bytes: number): Promise<void> {
    this.#uncheckedBytes = 0;
    return this.#disk.reserve(bytes);
  }

  endReservation(): void {
    this.#disk.endReservation();
  }

  /** A range is present only after its bytes are written. `missingBytes`: the bytes that are still to come. */
  async write(bytes: Buffer, position: number, missingBytes: () => number): Promise<void> {
    const present = (): readonly ByteRange[] =>
      withRange(this.#present, { start: position, end: position + bytes.length - 1 });
    this.checkSize(bytesIn(present()));
    this.#uncheckedBytes += bytes.length;
    if (this.#uncheckedBytes >= DISK_CHECK_BYTES) await this.reserve(missingBytes());
    await writeAt(this.#file, bytes, position);
    this.#present = present();
  }

  async read(into: Buffer, position: number): Promise<number> {
    return (await this.#file.read(into, 0, into.length, position).catch(diskFailure)).bytesRead;
  }

  close(): Promise<void> {
    return this.#file.close();
  }
}
