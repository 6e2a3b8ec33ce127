// Joins the chunks of a track: the header of the first chunk, and the fragments of all chunks in time order.

import type { FileHandle } from "node:fs/promises";
import { AppError } from "#shared/errors.ts";
import { messageOf } from "#shared/log.ts";
import type { TrackKind } from "#shared/plan/source/source-tracks.ts";
import { bodyAt, readerOf } from "../../mp4/boxes.ts";
import { createFile, openFile } from "../../run-files/open-file.ts";
import { type ChunkFacts, chunkFacts, readChunkFile } from "../chunk/chunk-file.ts";

export interface JoinedTrack {
  /**
   * Appends the next chunk and returns its facts. The chunk may be removed afterwards. Make only a single call at a
   * time. Throws AppError `encoding_failed` when the chunk does not continue the track, and `node_failed` for errors of
   * the disk.
   */
  append(chunk: string): Promise<ChunkFacts>;
  close(): Promise<void>;
}

/** Sandboxed runs have a separate user; the folder keeps all other users out. */
const READABLE_BY_ALL = 0o644;

/** Creates the file at `path`. The file only grows, so readers can follow it while chunks are appended. */
export async function openJoinedTrack(path: string, kind: TrackKind): Promise<JoinedTrack> {
  const file = await createFile(path, READABLE_BY_ALL);
  let init: Buffer | null = null;
  let lastStart = Number.NEGATIVE_INFINITY;
  let fragments = 0;

  const take = async (from: FileHandle): Promise<ChunkFacts> => {
    const chunk = await readChunkFile(from, kind);
    const read = readerOf(from);
    const ownInit = await read(0, chunk.head.initBytes);
    if (init && !init.equals(ownInit)) throw new Error("its header differs from the first chunk's header");
    if (!init) await file.appendFile(ownInit);
    init ??= ownInit;
    for (const { start, offset, moofBytes, sizeBytes } of chunk.fragments) {
      if (start <= lastStart) throw new Error("it starts before the previous chunk ends");
      lastStart = start;
      fragments += 1;
      await file.appendFile(numbered(await read(offset, moofBytes), fragments));
      await appendRange(from, { offset: offset + moofBytes, sizeBytes: sizeBytes - moofBytes }, file);
    }
    return chunkFacts(chunk);
  };

  return {
    async append(path) {
      const chunk = await openFile(path);
      try {
        return await take(chunk);
      } catch (error) {
        const code = isDiskError(error) ? "node_failed" : "encoding_failed";
        throw new AppError(code, `A chunk cannot be joined: ${messageOf(error)}`, { cause: error });
      } finally {
        await chunk.close();
      }
    },
    close: () => file.close(),
  };
}

const isDiskError = (error: unknown): boolean => error instanceof Error && "errno" in error;

/** Fragments are numbered from 1 in the order of their file (`mfhd`, ISO/IEC 14496-12 §8.8.5). */
function numbered(moof: Buffer, number: number): Buffer {
  bodyAt(moof, "moof/mfhd").writeUInt32BE(number, 4);
  return moof;
}

const COPY_BYTES = 1024 * 1024;

async function appendRange(
  from: FileHandle,
  { offset, sizeBytes }: { readonly offset: number; readonly sizeBytes: number },
  to: FileHandle,
): Promise<void> {
  const bytes = Buffer.allocUnsafe(Math.min(COPY_BYTES, sizeBytes));
  for (let at = 0; at < sizeBytes; ) {
    const { bytesRead } = await from.read(bytes, 0, Math.min(bytes.length, sizeBytes - at), offset + at);
    if (bytesRead === 0) throw new Error("it is truncated");
    await to.appendFile(bytes.subarray(0, bytesRead));
    at += bytesRead;
  }
}
