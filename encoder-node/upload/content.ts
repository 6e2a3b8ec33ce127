// The content of an upload: bytes in memory, a file, or a byte range of a file, optionally encrypted.
import { createCipheriv } from "node:crypto";
import { lstat } from "node:fs/promises";
import { AppError } from "#shared/errors.ts";
import { openFile } from "../run-files/open-file.ts";

export type Content = {
  readonly sizeBytes: number;
  /** Reads `sizeBytes` bytes from `offset`. Each call reads them again, because a request may be retried. */
  read(offset: number, sizeBytes: number): AsyncIterable<Uint8Array>;
};

const READ_BYTES = 256 * 1024;

export function bytesContent(bytes: Uint8Array): Content {
  return {
    sizeBytes: bytes.length,
    async *read(offset, sizeBytes) {
      if (sizeBytes > 0) yield bytes.subarray(offset, offset + sizeBytes);
    },
  };
}

/** A finished file. Throws AppError `node_failed` when it does not exist. */
export async function fileContent(path: string): Promise<Content> {
  const stats = await lstat(path).catch((error: unknown) => {
    throw new AppError("node_failed", "A finished file does not exist.", { cause: error });
  });
  if (!stats.isFile()) throw unreadable(new Error("It is no file"));
  return rangeContent(path, 0, stats.size);
}

/**
 * A byte range of a file; the file may still grow after it. Reading throws AppError `node_failed` when the file is
 * shorter.
 */
export function rangeContent(path: string, start: number, sizeBytes: number): Content {
  return { sizeBytes, read: (offset, length) => readRange(path, start + offset, length) };
}

/** Bytes in memory, followed by `rest`. */
export const headedContent = (head: Buffer, rest: Content): Content => ({
  sizeBytes: head.length + rest.sizeBytes,
  async *read(offset, sizeBytes) {
    const before = head.subarray(offset, offset + sizeBytes);
    if (before.length > 0) yield before;
    if (before.length < sizeBytes) yield* rest.read(Math.max(0, offset - head.length), sizeBytes - before.length);
  },
});

async function* readRange(path: string, start: number, sizeBytes: number): AsyncGenerator<Buffer> {
  if (sizeBytes === 0) return;
  const handle = await openFile(path).catch((error: unknown) => {
    throw unreadable(error);
  });
  const file = handle.createReadStream({ start, end: start + sizeBytes - 1, highWaterMark: READ_BYTES });
  // Errors of the consumer also pass through the loop below; they are not errors of the disk.
  let diskError: unknown = null;
  file.once("error", (error) => {
    diskError = error;
  });
  let missing = sizeBytes;
  try {
    for await (const chunk of file as AsyncIterable<Buffer>) {
      missing -= chunk.length;
      yield chunk;
    }
  } catch (error) {
    throw diskError === null ? error : unreadable(diskError);
  }
  if (missing > 0) throw unreadable(new Error(`${missing} bytes are missing`));
}

const unreadable = (cause: unknown): AppError =>
  new AppError("node_failed", "The node cannot read a finished file from its disk.", { cause });

const BLOCK_BYTES = 16;

/** AES-128-CBC with PKCS #7 padding, which adds 1 to 16 bytes (RFC 8216 §4.3.2.4, RFC 5652 §6.3). */
export function encryptedContent(plain: Content, key: Uint8Array, iv: Uint8Array): Content {
  return {
    sizeBytes: (Math.floor(plain.sizeBytes / BLOCK_BYTES) + 1) * BLOCK_BYTES,
    // Each block depends on the block before it, so a range needs all bytes before it.
    read: (offset, sizeBytes) => slice(encrypt(plain, key, iv), offset, sizeBytes),
  };
}

async function* encrypt(plain: Content, key: Uint8Array, iv: Uint8Array): AsyncGenerator<Uint8Array> {
  const cipher = createCipheriv("aes-128-cbc", key, iv);
  for await (const chunk of plain.read(0, plain.sizeBytes)) yield cipher.update(chunk);
  yield cipher.final();
}

async function* slice(
  chunks: AsyncIterable<Uint8Array>,
  offset: number,
  sizeBytes: number,
): AsyncGenerator<Uint8Array> {
  let at = 0;
  for await (const chunk of chunks) {
    const selected = chunk.subarray(Math.max(0, offset - at), Math.max(0, offset + sizeBytes - at));
    at += chunk.length;
    if (selected.length > 0) yield selected;
    if (at >= offset + sizeBytes) return;
  }
}
