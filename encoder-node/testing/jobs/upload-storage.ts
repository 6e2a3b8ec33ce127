// Support for upload tests: a clip on disk, a storage on loopback, and an upload from one to the other.
import { createHash } from "node:crypto";
import { mkdtempSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll } from "vitest";
import type { UploadPart } from "#shared/protocol/uploads.ts";
import { storageAgent } from "../../network/storage-agent.ts";
import { fileContent } from "../../upload/content.ts";
import { type TransferDeps, type Upload, uploadContent } from "../../upload/upload.ts";
import { silentLog } from "../silent-log.ts";

export const CLIP = Buffer.from(Uint8Array.from({ length: 6_000_001 }, (_, i) => (i * 2_654_435_761) >>> 11));

/** The clip of `useUploads`. */
export let clipPath: string;

/** Gives the tests of a file the clip on disk, and closes the storages of each. */
export function useUploads(): void {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "copra-upload-"));
    clipPath = join(folder, "out put.mp4");
    writeFileSync(clipPath, CLIP);
  });
  afterEach(closeStorages);
  afterAll(() => rm(folder, { recursive: true, force: true }));
}

export const loopback = storageAgent("loopback");
const servers: Server[] = [];

export function closeStorages(): void {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
}

export const md5 = (bytes: Uint8Array): string => `"${createHash("md5").update(bytes).digest("hex")}"`;

export type Received = { url: string; method: string; headers: IncomingHttpHeaders; body: Buffer };
/** True when it handles the request. */
export type Respond = (request: IncomingMessage, response: ServerResponse, attempt: number) => boolean;

/**
 * A storage on loopback that stores the bodies of its requests. `respond` may respond in its place; `attempt` is the
 * number of requests for this URL. With `together`, responses wait until that many requests are open at the same time,
 * once.
 */
export async function storage(respond: Respond = () => false, together = 1) {
  const received: Received[] = [];
  const tries = new Map<string, number>();
  let [open, mostOpen] = [0, 0];
  const gathered = Promise.withResolvers<void>();
  const server = createServer(async (request, response) => {
    const url = request.url ?? "";
    tries.set(url, (tries.get(url) ?? 0) + 1);
    if (respond(request, response, tries.get(url) ?? 0)) return;
    mostOpen = Math.max(mostOpen, ++open);
    if (open >= together) gathered.resolve();
    await gathered.promise;
    const body = Buffer.concat(await request.toArray().catch(() => []));
    received.push({ url, method: request.method ?? "", headers: request.headers, body });
    open--;
    response.setHeader("etag", md5(body)).end();
  });
  servers.push(server);
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { origin, received, tries, mostOpen: () => mostOpen };
}

/** Parts of `partBytes` each that cover `sizeBytes`. */
export function partsOf(origin: string, partBytes: number, sizeBytes = CLIP.length): UploadPart[] {
  return Array.from({ length: Math.max(1, Math.ceil(sizeBytes / partBytes)) }, (_, i) => ({
    url: `${origin}/bucket/out.mp4?partNumber=${i + 1}&X-Amz-Signature=secret`,
    headers: { "Content-Type": "video/mp4", "x-amz-acl": "private" },
    offset: i * partBytes,
    sizeBytes: Math.min(partBytes, sizeBytes - i * partBytes),
  }));
}

export const upload = async (parts: UploadPart[], options: Partial<Upload & TransferDeps> = {}) =>
  uploadContent(
    {
      content: await fileContent(clipPath),
      ticket: { parts },
      renew: async () => ({ parts }),
      retryPolicy: { retries: 4, backoff: { firstMs: 5, maxMs: 5 } },
      ...options,
    },
    { storages: loopback, signal: new AbortController().signal, log: silentLog, ...options },
  );
