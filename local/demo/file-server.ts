// Serves a file on the loopback interface at a URL that nobody can guess.
import { randomBytes } from "node:crypto";
import { basename } from "node:path";
import { randomText } from "#shared/ids.ts";
import { type LoopbackServer, serveLoopback } from "./loopback-server.ts";
import { sendFile } from "./send-file.ts";

export type FileServer = { readonly url: string; close: LoopbackServer["close"] };

/** Serves the file until the server is closed. */
export async function serveFile(path: string): Promise<FileServer> {
  const urlPath = `/${randomText(28, randomBytes)}/${encodeURIComponent(basename(path))}`;
  const server = await serveLoopback((request, response) => {
    if (request.url !== urlPath) response.writeHead(404).end();
    else sendFile(request, response, path).catch(() => response.destroy());
  });
  return { url: server.origin + urlPath, close: server.close };
}
