// What tests of uploads share: a film on disk, a storage that keeps what it takes, or does not, and an upload between them.
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
import type { UploadPart } from "#shared/protocol/protocol.ts";
import { guardedAgent } from "../source/fetch/address-guard.ts";
import { fileContent } from "../upload/content.ts";
import { storageAddressRefusal } from "../upload/storage-failure.ts";
import { type Upload, uploadContent } from "../upload/upload.ts";

export const FILM = Buffer.from(Uint8Array.from({ length: 6_000_001 }, (_, i) => (i * 2_654_435_761) >>> 11));

const folder = mkdtempSync(join(tmpdir(), "copra-upload-"));
export const filmPath = join(folder, "out put.mp4");
writeFileSync(filmPath, FILM);

export const loopback = guardedAgent({ allow: "loopback", refuse: storageAddressRefusal });
const servers: Server[] = [];

export function closeStorages(): void {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
}

/** Removes the film, and ends all connections. */
export async function endUploads(): Promise<void> {
  closeStorages();
  await loopback.destroy();
  await rm(folder, { recursive: true, force: true });
}

export const md5 = (bytes: Uint8Array): string => `"${createHash("md5").update(bytes).digest("hex")}"`;

export type Received = { url: string; method: string; headers: IncomingHttpHeaders; body: Buffer };
export type Refuse = (request: IncomingMessage, response: ServerResponse, tries: number) => boolean;

/**
 * A storage on loopback that keeps what it takes; `refuse` may answer in its place, and is told how often it was asked.
 * Answers nothing until `together` requests are open at the same time, once.
 */
export async function storage(refuse: Refuse = () => false, together = 1) {
  const taken: Received[] = [];
  const tries = new Map<string, number>();
  let [open, mostOpen] = [0, 0];
  const gathered = Promise.withResolvers<void>();
  const server = createServer(async (request, response) => {
    const url = request.url ?? "";
    tries.set(url, (tries.get(url) ?? 0) + 1);
    if (refuse(request, response, tries.get(url) ?? 0)) return;
    mostOpen = Math.max(mostOpen, ++open);
    if (open >= together) gathered.resolve();
    await gathered.promise;
    const body = Buffer.concat(await request.toArray().catch(() => []));
    taken.push({ url, method: request.method ?? "", headers: request.headers, body });
    open--;
    response.setHeader("etag", md5(body)).end();
  });
  servers.push(server);
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { origin, taken, tries, mostOpen: () => mostOpen };
}

/** Parts of `partBytes` each that cover `sizeBytes`. */
export function partsOf(origin: string, partBytes: number, sizeBytes = FILM.length): UploadPart[] {
  return Array.from({ length: Math.max(1, Math.ceil(sizeBytes / partBytes)) }, (_, i) => ({
    url: `${origin}/bucket/out.mp4?partNumber=${i + 1}&X-Amz-Signature=secret`,
    headers: { "Content-Type": "video/mp4", "x-amz-acl": "private" },
    offset: i * partBytes,
    sizeBytes: Math.min(partBytes, sizeBytes - i * partBytes),
  }));
}

export const upload = async (parts: UploadPart[], options: Partial<Upload> = {}) =>
  uploadContent({
    content: await fileContent(filmPath),
    ticket: { parts },
    renew: async () => ({ parts }),
    agent: loopback,
    signal: new AbortController().signal,
    patience: { retries: 4, backoff: { firstMs: 5, maxMs: 5 } },
    ...options,
  });
