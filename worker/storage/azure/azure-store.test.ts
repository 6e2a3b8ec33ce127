import { env } from "cloudflare:workers";
import { describe, expect, inject, it } from "vitest";
import type { JobId } from "#shared/ids.ts";
import type { UploadPart } from "#shared/protocol/uploads.ts";
import type { AccessKeys, StorageOf } from "#shared/request/storage/storage-spec.ts";
import type { ObjectStore } from "../object-store.ts";
import { openStore, publicUrlOf } from "../open-store.ts";
import { isUploadGone } from "../storage-errors.ts";
import { blobSas } from "./azure-sas.ts";

const { endpoint, account, container, key } = inject("azure");
const id = "AAAAAAAAAAAAAA" as JobId;
const KEYS: AccessKeys = { accessKeyId: account, secretAccessKey: key };
const STORAGE: StorageOf<"azure"> = { kind: "azure", endpoint, account, container, path: "v", cacheControl: null };
const MIB = 2 ** 20;

const open = (changes: Partial<typeof STORAGE> = {}, keys = KEYS): ObjectStore =>
  openStore({ id, storage: { ...STORAGE, ...changes } }, keys, env);
const file = (objectName: string, sizeBytes: number, cacheControl: string | null = null) => ({
  objectName,
  sizeBytes,
  cacheControl,
  contentType: "video/mp4",
  output: { key: "mp4", type: "video" as const },
});
const get = (objectName: string) => fetch(publicUrlOf({ id, storage: STORAGE }, objectName));

/** Uploads a part as a node does. */
const put = ({ url, headers, sizeBytes }: UploadPart, fill = 1) =>
  fetch(url, { method: "PUT", headers, body: new Uint8Array(sizeBytes).fill(fill) });

describe("a container of Azure", () => {
  it.each(["a.mp4", "x/ä b+c(1)'&=%.mp4"])("stores a small file with one signed PUT: %s", async (name) => {
    const store = open({ cacheControl: "max-age=60" });
    const small = file(name, 1000);
    expect(await store.begin(small)).toBeNull();
    const parts = await store.sign(small, null);
    expect(parts).toMatchObject([{ offset: 0, sizeBytes: 1000 }]);
    expect(parts[0]?.url).not.toContain(encodeURIComponent(key));
    expect((await put(parts[0] as UploadPart)).status).toBe(201);
    const stored = await get(name);
    const [type, caching] = ["content-type", "cache-control"].map((header) => stored.headers.get(header));
    expect([stored.status, type, caching]).toEqual([200, "video/mp4", "max-age=60"]);
    expect(new Uint8Array(await stored.arrayBuffer())).toEqual(new Uint8Array(1000).fill(1));
  });

  it("stores a large file in blocks, and can commit the blocks repeatedly", async () => {
    const store = open({ cacheControl: "max-age=60" });
    const large = file("large.mp4", 20 * MIB);
    const uploadId = await store.begin(large);
    if (uploadId === null) throw new Error("No upload");
    const parts = await store.sign(large, uploadId);
    for (const [index, part] of parts.entries()) expect((await put(part, index)).status).toBe(201);
    expect((await get("large.mp4")).status).toBe(404);
    await store.complete(large, uploadId, ["", ""]);
    await store.complete(large, uploadId, ["", ""]);
    const stored = await get("large.mp4");
    const [type, caching] = ["content-type", "cache-control"].map((header) => stored.headers.get(header));
    expect([stored.status, type, caching]).toEqual([200, "video/mp4", "max-age=60"]);
    const bytes = new Uint8Array(await stored.arrayBuffer());
    expect([bytes.length, bytes[16 * MIB - 1], bytes[16 * MIB]]).toEqual([20 * MIB, 0, 1]);
  });

  it("stores parts of a file before the file is complete", async () => {
    const store = open();
    const uploadId = await store.begin(file("early.mp4", 0), true);
    for (const [number, size, sizeBytes] of [
      [2, 0, 5 * MIB],
      [3, 11 * MIB, MIB],
      [1, 11 * MIB, 5 * MIB],
    ] as const) {
      const places = [{ number, offset: (number - 1) * 5 * MIB, sizeBytes }];
      const [part] = await store.sign(file("early.mp4", size), uploadId, undefined, places);
      expect((await put(part as UploadPart, number)).status).toBe(201);
    }
    await store.complete(file("early.mp4", 11 * MIB), uploadId ?? "", ["", "", ""]);
    const bytes = new Uint8Array(await (await get("early.mp4")).arrayBuffer());
    expect([bytes.length, bytes[0], bytes[5 * MIB], bytes[10 * MIB]]).toEqual([11 * MIB, 1, 2, 3]);
  });

  it.each([
    [null, "public, max-age=60"],
    ["no-cache", "no-cache"],
  ])("stores a file of any size with a single PUT, with the right Cache-Control: %s", async (cacheControl, caching) => {
    const [part, ...others] = await open({ cacheControl }).sign(
      file("00001.m4s", 40 * MIB, "public, max-age=60"),
      null,
    );
    expect(others).toEqual([]);
    expect((await put(part as UploadPart)).status).toBe(201);
    const { headers } = await get("00001.m4s");
    expect([headers.get("content-length"), headers.get("cache-control")]).toEqual([String(40 * MIB), caching]);
  });

  it("limits a signed URL to its blob and its lifetime", async () => {
    const [part] = await open().sign(file("own.mp4", 10), null);
    if (!part) throw new Error("No part");
    await put(part);
    expect((await fetch(part.url, { method: "DELETE" })).status).toBe(403);
    expect((await put({ ...part, url: part.url.replace("own.mp4", "other.mp4") })).status).toBe(403);
    const expired = { blob: "v/own.mp4", permissions: "w", expiresAt: Date.now() - 1000 } as const;
    const late = `${endpoint}/${container}/v/own.mp4?${await blobSas(STORAGE, expired, key)}`;
    expect((await put({ ...part, url: late })).status).toBe(403);
  });

  const rows: [string, ObjectStore, string][] = [
    ["a wrong key", open({}, { ...KEYS, secretAccessKey: btoa("wrong") }), "storage_denied"],
    ["no such container", open({ container: "elsewhere" }), "storage_bucket_not_found"],
    ["nobody there", open({ endpoint: "http://127.0.0.1:9/x" }), "storage_unreachable"],
    ["no such blocks", open(), "storage_unreachable"],
  ];
  it.each(rows)("fails with the reason when it cannot commit: %s", async (what, store, code) => {
    const failure: unknown = await store.complete(file("none.mp4", 20 * MIB), "u", ["", ""]).catch((error) => error);
    expect(failure).toMatchObject({ name: "AppError", code });
    expect(isUploadGone(failure)).toBe(what === "no such blocks");
    expect(String(failure)).not.toMatch(/sig=|d3Jvbmc/);
  });
});
