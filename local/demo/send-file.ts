// Responds to a request with a file or one byte range of it (RFC 9110, section 14).
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { extname } from "node:path";
import { pipeline } from "node:stream/promises";
import { parseRange } from "#shared/network/http-headers.ts";

const TYPES: Readonly<Record<string, string>> = {
  ".mp4": "video/mp4",
  ".mov": "video/quicktime",
  ".mkv": "video/x-matroska",
  ".webm": "video/webm",
  ".ts": "video/mp2t",
  ".m4a": "audio/mp4",
  ".jpg": "image/jpeg",
  ".png": "image/png",
};

/**
 * Serves GET and HEAD, and responds 405 to other methods. Rejects if the file cannot be read, but not if the client
 * leaves.
 */
export async function sendFile(request: IncomingMessage, response: ServerResponse, path: string): Promise<void> {
  if (request.method !== "GET" && request.method !== "HEAD") {
    response.writeHead(405, { allow: "GET, HEAD" }).end();
    return;
  }
  const { size, mtimeMs } = await stat(path);
  const headers = {
    "accept-ranges": "bytes",
    "content-type": TYPES[extname(path).toLowerCase()] ?? "application/octet-stream",
    etag: `"${size.toString(36)}-${Math.trunc(mtimeMs).toString(36)}"`,
  };
  const range = parseRange(request.headers.range, size);
  if (range === "beyond") {
    response.writeHead(416, { "content-range": `bytes */${size}` }).end();
    return;
  }
  const { start, end } = range ?? { start: 0, end: size - 1 };
  const partial = range ? { "content-range": `bytes ${start}-${end}/${size}` } : {};
  response.writeHead(range ? 206 : 200, { ...headers, ...partial, "content-length": end - start + 1 });
  if (request.method === "HEAD" || end < start) {
    response.end();
    return;
  }
  await pipeline(createReadStream(path, { start, end }), response).catch(() => response.destroy());
}
