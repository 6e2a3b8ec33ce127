// Sources of uploads from files of Node. Only this entry point needs Node.
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { basename } from "node:path";
import { Readable } from "node:stream";
import type { SlicedSource } from "./calls/uploads.ts";

/**
 * A file that is read while it is sent, a few kilobytes at a time. Node's `openAsBlob` returns wrong sizes for files of
 * 4 GiB and more (Node 20 and 24, November 2026).
 */
export async function fileSource(path: string): Promise<SlicedSource & { readonly name: string }> {
  const { size } = await stat(path);
  return {
    name: basename(path),
    size,
    slice: (start, end) => ({
      size: end - start,
      stream: () => Readable.toWeb(createReadStream(path, { start, end: end - 1 })) as ReadableStream<Uint8Array>,
    }),
  };
}
