// All ways in which a client's URL makes a node open a connection, in a common form for tests of the address guard.
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AppError } from "#shared/errors.ts";
import type { OutputSpec } from "#shared/job/output-spec.ts";
import type { AllowPrivate } from "#shared/network/address-policy.ts";
import type { UploadForm } from "#shared/protocol/uploads.ts";
import { specOf } from "#shared/testing/output-specs.ts";
import { locateFfmpeg } from "../../ffmpeg/discover/locate.ts";
import { storageAgent } from "../../network/storage-agent.ts";
import { fetchWatermarks } from "../../prepare/fetch-extra.ts";
import { fetchSubtitles } from "../../prepare/fetch-subtitles.ts";
import { fetchSource } from "../../source/fetch/fetch-source.ts";
import { SourceFetcher } from "../../source/fetch/source-fetcher.ts";
import { SourceFile } from "../../source/fetch/source-file.ts";
import { bytesContent } from "../../upload/content.ts";
import { putPart } from "../../upload/put-part.ts";
import { silentLog } from "../silent-log.ts";

const { ffprobe } = await locateFfmpeg(process.env);
const { signal } = new AbortController();
const timeouts = { stallMs: 30_000, backoff: { firstMs: 1, maxMs: 1 } };

/** Requests a URL, and returns the message of the failure, if it failed. */
type Client = (url: string, allow: AllowPrivate, folder: string) => Promise<string | null>;

async function upload(url: string, allow: AllowPrivate, form?: UploadForm): Promise<null> {
  const agent = storageAgent(allow);
  const part = { url, headers: {}, offset: 0, sizeBytes: 1, ...(form ? { form } : {}) };
  const content = bytesContent(Buffer.from("x"));
  const request = { content, part, agent, signal, log: silentLog, onProgress: () => undefined };
  try {
    await putPart(request, { retries: 0, backoff: timeouts.backoff });
    return null;
  } finally {
    await agent.destroy();
  }
}

/** Clients that read, and follow redirects, by name. */
export const READERS: Readonly<Record<string, Client>> = {
  source: async (url, allow, folder) => {
    await fetchSource({ url, destination: join(folder, "source"), allow, maxBytes: 1e6, signal, timeouts });
    return null;
  },
  "question whether a host supports ranges": async (url, allow, folder) => {
    const source = { pieces: [{ url, sizeBytes: null }], allow, timeouts };
    const file = await SourceFile.open({ ...source, path: join(folder, "ranges"), maxBytes: 1e6 });
    await file.askForRanges(signal).finally(() => file.close());
    return null;
  },
  "range of a source": async (url, allow) => {
    const source = new SourceFetcher({ pieces: [{ url, sizeBytes: 9 }], allow, timeouts });
    const write = async (): Promise<void> => undefined;
    await source.fetch({ start: 0, end: 8 }, { write }, signal).finally(() => source.close());
    return null;
  },
  watermark: async (url, allow, folder) => {
    const spec = { ...specOf({ format: "mp4" }, 0), watermark: { url } } as OutputSpec;
    const { failed } = await fetchWatermarks([spec], folder, { ffprobe, allowPrivate: allow, signal });
    return failed.map(({ failure: { code, message } }) => `${code}: ${message}`)[0] ?? null;
  },
  subtitles: async (url, allow, folder) => {
    const subtitles = [{ source: { url }, language: "en", name: "English", shiftMs: 0 }];
    const fetched = await fetchSubtitles(subtitles, { parent: folder, name: "0" }, { allowPrivate: allow, signal });
    return fetched.ok ? null : `${fetched.error.code}: ${fetched.error.message}`;
  },
};

/** Clients that write: to signed URLs, and to upload forms. */
export const WRITERS: Readonly<Record<string, Client>> = {
  upload: (url, allow) => upload(url, allow),
  "upload form": (url, allow) =>
    upload(url, allow, { name: "file", fileName: "a", contentType: "text/plain", fields: [] }),
};

/** The failure of a client, whether it throws or returns it; null when it succeeds. */
export const outcome = (client: Client, url: string, allow: AllowPrivate, folder: string): Promise<string | null> =>
  client(url, allow, folder).catch((error: unknown) => {
    if (error instanceof AppError) return `${error.code}: ${error.message}`;
    throw error;
  });

/** Matches the failure of every client for an address that is not allowed. */
export const REFUSED =
  /^(?:(?:input|storage)_address_not_allowed|node_failed: The storage's host `[^`]*` is not a public address\.|(?:watermark|subtitle)_failed: The (?:watermark|subtitles `English`) from the host `[^`]*` cannot be used: the address is not public\.$)/;

/**
 * A server at every address of this machine that counts requests, and redirects from `/<status>/<location in
 * base64url>`; also an empty folder.
 */
export async function startTrap() {
  const folder = await mkdtemp(join(tmpdir(), "copra-trap-"));
  const trap = { requests: 0, port: 0, folder };
  const server = createServer((request, response) => {
    trap.requests++;
    const [, status, location] = /^\/(\d+)\/([\w-]+)$/.exec(request.url ?? "") ?? [];
    request.resume().once("end", () => {
      if (!status || !location) return response.end("something");
      response.writeHead(Number(status), { location: Buffer.from(location, "base64url").toString() }).end();
    });
  });
  // The request for a tunnel through a proxy.
  server.on("connect", (_, socket) => {
    trap.requests++;
    socket.end("HTTP/1.1 502 Bad Gateway\r\n\r\n");
  });
  await new Promise<void>((listening) => server.listen(0, listening));
  trap.port = (server.address() as AddressInfo).port;
  const close = async (): Promise<void> => {
    server.closeAllConnections();
    server.close();
    await rm(folder, { recursive: true, force: true });
  };
  const redirect = (status: number, location: string): string =>
    `http://127.0.0.1:${trap.port}/${status}/${Buffer.from(location).toString("base64url")}`;
  return Object.assign(trap, { close, redirect });
}
