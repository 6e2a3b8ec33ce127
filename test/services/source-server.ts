// Serves a folder's files on the loopback interface, with ranges, and can misbehave on demand.
import { statSync } from "node:fs";
import type { IncomingHttpHeaders } from "node:http";
import { basename, join } from "node:path";
import { serveLoopback } from "../../local/demo/loopback-server.ts";
import { sendFile } from "../../local/demo/send-file.ts";

export type SourceRequest = { readonly method: string; readonly path: string; readonly headers: IncomingHttpHeaders };

export type SourceServer = {
  readonly origin: string;
  /** The address of a file in the folder, by its name or path. */
  urlOf(file: string): string;
  readonly requests: readonly SourceRequest[];
  /** Answers the next `times` requests with `status` and nothing else. */
  failNext(times: number, status?: number): void;
  /** Delays every answer from now on. */
  delay(ms: number): void;
  close(): Promise<void>;
};

/** Serves `<folder>/<name>` as `/<name>`; answers 404 for missing files. */
export async function startSourceServer(folder: string): Promise<SourceServer> {
  const requests: SourceRequest[] = [];
  const failing = { times: 0, status: 503 };
  let delayMs = 0;
  const server = await serveLoopback((request, response) => {
    const { method = "", url = "/", headers } = request;
    requests.push({ method, path: url, headers });
    const refused = failing.times > 0;
    if (refused) failing.times -= 1;
    setTimeout(() => {
      const path = join(folder, basename(decodeURIComponent(new URL(url, "http://127.0.0.1").pathname)));
      if (refused) response.writeHead(failing.status).end();
      else if (!statSync(path, { throwIfNoEntry: false })?.isFile()) response.writeHead(404).end();
      else sendFile(request, response, path).catch(() => response.destroy());
    }, delayMs);
  });
  return {
    origin: server.origin,
    urlOf: (file) => `${server.origin}/${encodeURIComponent(basename(file))}`,
    requests,
    failNext(times, status = 503) {
      failing.times = times;
      failing.status = status;
    },
    delay(ms) {
      delayMs = ms;
    },
    close: server.close,
  };
}
