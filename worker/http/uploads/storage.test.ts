import { env, exports } from "cloudflare:workers";
import { afterEach, describe, expect, it, vi } from "vitest";
import { leaseId, newJobId } from "#shared/ids.ts";
import type { UploadPart } from "#shared/protocol/uploads.ts";
import { randomBytes } from "../../crypto/bytes.ts";
import { parseSealingKeys } from "../../crypto/sealed-secret.ts";
import { jobOf } from "../../rpc/job.ts";
import { settingsOf } from "../../settings.ts";
import { signPut, verifyPut } from "../../storage/builtin/builtin-signature.ts";
import type { FileToStore } from "../../storage/object-store.ts";
import { openStore, publicUrlOf } from "../../storage/open-store.ts";
import { resolveStorage } from "../../storage/resolve-storage.ts";
import { isUploadGone } from "../../storage/storage-errors.ts";
import type { PartPlace } from "../../storage/upload-limits.ts";
import { failedWith, newSpec } from "../../testing/jobs.ts";
import { claimFrom, claimOne, inspectSource } from "../../testing/turns.ts";
import { app } from "../app.ts";

const origin = "https://copra.test";
const MIB = 2 ** 20;
const keys = settingsOf(env).sealingKeys;

const fetchWorker = (url: string, init?: RequestInit) => exports.default.fetch(new Request(url, init));
const file = (objectName: string, sizeBytes: number, cacheControl: string | null = null) => ({
  objectName,
  sizeBytes,
  cacheControl,
  contentType: "video/mp4",
  output: { key: "mp4", type: "video" as const },
});
const put = ({ url, sizeBytes }: UploadPart, fill = 1, length = sizeBytes) =>
  fetchWorker(url, { method: "PUT", body: new Uint8Array(length).fill(fill) });

const BUILTIN = { storage: { service: "coconut", path: "/v" }, outputs: { "mp4:240p": { path: "a.mp4" } } };

/** Creates a job with a lease to store its output, and its folder in the service's own storage. */
async function folder() {
  const job = await newSpec(BUILTIN);
  const stub = jobOf(env, job.id);
  await stub.create(job);
  await inspectSource(stub);
  const encode = await claimOne(stub, "encode", "node");
  const { lease, token } = encode;
  const opened = openStore(job, null, env);
  const sign = (stored: FileToStore, uploadId: string | null, places?: readonly PartPlace[]) =>
    opened.sign(stored, uploadId, { lease, output: 0 }, places);
  const store = { ...opened, sign };
  const urlOf = (objectName: string) => publicUrlOf(job, objectName);
  /** Stores an object with the bytes 0, 1, 2 and so on. */
  const keep = async (objectName: string, sizeBytes: number) => {
    const [part] = await store.sign(file(objectName, sizeBytes), null);
    const body = Uint8Array.from({ length: sizeBytes }, (_, index) => index);
    const response = await fetchWorker(part?.url ?? "", { method: "PUT", body });
    expect(response.status).toBe(200);
    return urlOf(objectName);
  };
  return { ...job, stub, lease, token, store, urlOf, keep };
}

const NOTHING = {
  kind: "encode" as const,
  outputs: [{ status: "failed" as const, output: 0, failure: { code: "storage_denied" as const, message: "m" } }],
};

afterEach(() => {
  vi.useRealTimers();
});

describe("uploads to the built-in storage", () => {
  it("stores a file, which anyone can read for a day", async () => {
    const { keep, store } = await folder();
    expect(await store.begin(file("a.mp4", 300))).toBeNull();
    const url = await keep("x/ä b+c(1)'&=%.mp4", 300);
    const read = await fetchWorker(url, { headers: { origin: "https://player.example.com" } });
    expect(read.status).toBe(200);
    expect(Object.fromEntries(read.headers)).toMatchObject({
      "accept-ranges": "bytes",
      "access-control-allow-origin": "*",
      "content-length": "300",
      "content-security-policy": "sandbox",
      "content-type": "video/mp4",
      "x-content-type-options": "nosniff",
      etag: expect.stringMatching(/^"\w+"$/),
    });
    expect(new Uint8Array(await read.arrayBuffer())).toEqual(Uint8Array.from({ length: 300 }, (_, index) => index));
    const head = await fetchWorker(url, { method: "HEAD" });
    expect([head.status, head.headers.get("content-length"), head.headers.get("etag"), await head.text()]).toEqual([
      200,
      "300",
      read.headers.get("etag"),
      "",
    ]);
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 24 * 60 * 60 * 1000 });
    const late = await fetchWorker(url);
    expect([late.status, await late.json()]).toMatchObject([404, { error_code: "object_not_found" }]);
  });

  it("stores a file in a single request, with its cache headers", async () => {
    const { store, urlOf } = await folder();
    const [part, ...others] = await store.sign(file("00001.m4s", 40 * MIB, "public, max-age=60"), null);
    expect([others, (await put(part as UploadPart)).status]).toEqual([[], 200]);
    const read = (headers: Record<string, string>) => fetchWorker(urlOf("00001.m4s"), { headers });
    const etag = (await read({ range: "bytes=0-1" })).headers.get("etag") ?? "";
    const rows: [Record<string, string>, number, string | null][] = [
      [{ range: "bytes=0-1" }, 206, "public, max-age=60"],
      [{ "if-none-match": etag }, 304, "public, max-age=60"],
      [{ "if-match": '"other"' }, 412, "no-store"],
      [{ range: `bytes=${40 * MIB}-` }, 416, "no-store"],
    ];
    for (const [headers, status, caching] of rows) {
      const response = await read(headers);
      expect([response.status, response.headers.get("cache-control")]).toEqual([status, caching]);
    }
    await expect(store.sign(file("00002.m4s", 91 * MIB), null)).rejects.toMatchObject({ code: "storage_denied" });
  });

  it("stores an empty file", async () => {
    const read = await fetchWorker(await (await folder()).keep("empty.vtt", 0));
    expect([read.status, (await read.arrayBuffer()).byteLength]).toEqual([200, 0]);
  });

  it("stores a large file in parts, and completes it repeatedly", async () => {
    const { store, urlOf } = await folder();
    const large = file("large.mp4", 20 * MIB);
    const uploadId = await store.begin(large);
    if (uploadId === null) throw new Error("No upload");
    const parts = await store.sign(large, uploadId);
    expect(parts.map(({ sizeBytes }) => sizeBytes)).toEqual([16 * MIB, 4 * MIB]);
    const etags: string[] = [];
    for (const [index, part] of parts.entries()) etags.push((await put(part, index)).headers.get("etag") ?? "");
    expect((await fetchWorker(urlOf("large.mp4"))).status).toBe(404);
    await store.complete(large, uploadId, etags);
    await store.complete(large, uploadId, etags);
    await store.abort("large.mp4", uploadId);
    const read = await fetchWorker(urlOf("large.mp4"), { headers: { range: `bytes=${16 * MIB - 1}-${16 * MIB}` } });
    expect([read.status, read.headers.get("content-type"), [...new Uint8Array(await read.arrayBuffer())]]).toEqual([
      206,
      "video/mp4",
      [0, 1],
    ]);
    const failure: unknown = await store.complete(file("large.mp4", 21 * MIB), uploadId, etags).catch((error) => error);
    expect(isUploadGone(failure)).toBe(true);
  });

  it("stores parts of a file that is still being written", async () => {
    const { store, urlOf } = await folder();
    const uploadId = (await store.begin(file("early.mp4", 0), true)) ?? "";
    const send = async (number: number, size: number, sizeBytes: number): Promise<string> => {
      const places = [{ number, offset: (number - 1) * 5 * MIB, sizeBytes }];
      const [part] = await store.sign(file("early.mp4", size), uploadId, places);
      return (await put(part as UploadPart, number)).headers.get("etag") ?? "";
    };
    const second = await send(2, 0, 5 * MIB);
    const etags = [await send(1, 11 * MIB, 5 * MIB), second, await send(3, 11 * MIB, MIB)];
    await store.complete(file("early.mp4", 11 * MIB), uploadId, etags);
    const read = await fetchWorker(urlOf("early.mp4"), { headers: { range: `bytes=${5 * MIB - 1}-${5 * MIB}` } });
    expect([...new Uint8Array(await read.arrayBuffer())]).toEqual([1, 2]);
  });

  it("rejects parts of a canceled upload", async () => {
    const { store } = await folder();
    const large = file("large.mp4", 20 * MIB);
    const uploadId = (await store.begin(large)) ?? "";
    const [part] = await store.sign(large, uploadId);
    await store.abort("large.mp4", uploadId);
    await store.abort("large.mp4", uploadId);
    const response = await put(part as UploadPart);
    expect([response.status, await response.json()]).toMatchObject([409, { error_code: "upload_gone" }]);
  });

  it("splits a file of any size into parts within the Worker's request limit", async () => {
    const sizes = (await folder()).store.partSizes(100 * 2 ** 30);
    expect([Math.max(...sizes), new Set(sizes.slice(0, -1)).size]).toEqual([90 * MIB, 1]);
  });

  const changes: [string, (url: string) => string][] = [
    ["no signature", (url) => url.replace(/&signature=.*/, "")],
    ["another signature", (url) => url.replace(/.{4}$/, "0000")],
    ["another path", (url) => url.replace("a.mp4", "b.mp4")],
    ["another job", (url) => url.replace(/storage\/.{14}/, `storage/${newJobId(randomBytes)}`)],
    ["another size", (url) => url.replace("size=10", "size=11")],
    ["another type", (url) => url.replace("video%2Fmp4", "text%2Fhtml")],
    ["another expiry", (url) => url.replace(/expires=\d/, "expires=9")],
    ["an upload id", (url) => url.replace("&signature", "&upload=u&part=1&signature")],
    ["something behind", (url) => `${url}&part=1`],
    ["a path upwards", (url) => url.replace("v/a.mp4", "v%2F..%2Fa.mp4")],
  ];
  it.each(changes)("rejects an upload to a URL with %s", async (_, change) => {
    const { store, urlOf } = await folder();
    const [part] = await store.sign(file("a.mp4", 10), null);
    const response = await put({ ...(part as UploadPart), url: change(part?.url ?? "") });
    expect([response.status, await response.json()]).toMatchObject([403, { error_code: "upload_not_allowed" }]);
    expect((await fetchWorker(urlOf("a.mp4"))).status).toBe(404);
  });

  it("rejects an upload with another length, or without a length", async () => {
    const { store, urlOf } = await folder();
    const [part] = await store.sign(file("a.mp4", 10), null);
    if (!part) throw new Error("No part");
    const { readable, writable } = new TransformStream();
    const responses = [put(part, 1, 9), put(part, 1, 11), fetchWorker(part.url, { method: "PUT", body: readable })];
    await writable.close();
    for (const response of await Promise.all(responses)) {
      expect([response.status, await response.json()]).toMatchObject([403, { error_code: "upload_not_allowed" }]);
    }
    expect((await fetchWorker(urlOf("a.mp4"))).status).toBe(404);
  });

  it.each<[string, (job: Awaited<ReturnType<typeof folder>>) => Promise<unknown>]>([
    ["the job was cancelled", ({ stub }) => stub.cancel()],
    ["its output has ended", ({ stub, lease, token }) => stub.complete(lease, { token, result: NOTHING })],
    [
      "another node has the task",
      async ({ stub, lease, token }) => {
        await stub.fail(lease, { token, failure: { code: "node_lost", message: "m" } });
        const [other] = await vi.waitFor(() =>
          claimFrom(stub, { nodeId: "other", session: "session", slotClass: "encode", max: 1 }),
        );
        expect(other?.lease).not.toBe(lease);
      },
    ],
  ])("rejects uploads once %s, and keeps the stored objects", async (_, end) => {
    const job = await folder();
    const url = await job.keep("a.mp4", 10);
    const [part] = await job.store.sign(file("a.mp4", 10), null);
    await end(job);
    const response = await put(part as UploadPart, 9);
    expect([response.status, await response.json()]).toMatchObject([403, { error_code: "upload_not_allowed" }]);
    const stored = await fetchWorker(url);
    expect(new Uint8Array(await stored.arrayBuffer())[9]).toBe(9);
  });

  it("rejects an upload after its URL expires, or without its key", async () => {
    const object = { jobId: (await folder()).id, path: "a.mp4" };
    const upload = {
      object,
      sizeBytes: 1,
      contentType: "video/mp4",
      cacheControl: null,
      part: { uploadId: "u&=/+", number: 3 },
      expiresAt: 9,
      holder: { lease: leaseId(object.jobId, "encode", 2), output: 3 },
    };
    const url = new URL(origin + (await signPut(upload, keys)));
    expect(await verifyPut(url, keys, 8)).toEqual(upload);
    expect(await verifyPut(url, keys, 9)).toBeNull();
    const fresh = parseSealingKeys(`n1:${btoa("n".repeat(32))}`);
    expect(await verifyPut(url, [...fresh, ...keys], 8)).toEqual(upload);
    expect(await verifyPut(url, fresh, 8)).toBeNull();
  });
});

describe("built-in storage", () => {
  const resolve = (changes: object) =>
    resolveStorage(
      { kind: "builtin", path: "" },
      { env: { ...env, ...changes }, origin, keys: null, account: { id: "a" } },
    );

  it("uses the URL of the operator, or the URL of the request", async () => {
    expect(await resolve({})).toMatchObject({ origin });
    expect(await resolve({ PUBLIC_URL: "https://media.example.com/" })).toMatchObject({
      origin: "https://media.example.com",
    });
  });

  it("rejects the built-in storage without a bucket binding", async () => {
    await expect(resolve({ STORAGE: undefined })).rejects.toMatchObject({
      code: "storage_service_not_valid",
      message: expect.stringContaining("R2 bucket"),
    });
  });
});

describe("reading from the built-in storage", () => {
  const rows: [Record<string, string>, number, string | null, number[] | null][] = [
    [{ range: "bytes=0-1" }, 206, "bytes 0-1/10", [0, 1]],
    [{ range: "bytes=7-" }, 206, "bytes 7-9/10", [7, 8, 9]],
    [{ range: "bytes=-2" }, 206, "bytes 8-9/10", [8, 9]],
    [{ range: "bytes=9-99" }, 206, "bytes 9-9/10", [9]],
    [{ range: "bytes=10-" }, 416, "bytes */10", null],
    [{ range: "bytes=3-1" }, 200, null, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]],
    [{ "if-none-match": "*" }, 304, null, []],
    [{ "if-match": '"other"' }, 412, null, null],
  ];
  it.each(rows)("a request with %j returns %i", async (headers, status, contentRange, bytes) => {
    const read = await fetchWorker(await (await folder()).keep("a.bin", 10), { headers });
    expect([read.status, read.headers.get("content-range")]).toEqual([status, contentRange]);
    if (bytes) expect([...new Uint8Array(await read.arrayBuffer())]).toEqual(bytes);
    else expect(await read.json()).toMatchObject({ status: "error" });
  });

  it("serves no bytes of an object that replaces the described object", async () => {
    const url = await (await folder()).keep("a.bin", 10);
    const { STORAGE: bucket } = env;
    if (!bucket) throw new Error("The tests have no bucket");
    const replacedBetween = {
      head: (key: string) => bucket.head(key),
      get: async (key: string, options: R2GetOptions) => {
        await bucket.put(key, new Uint8Array(10).fill(255));
        return await bucket.get(key, options);
      },
    } as R2Bucket;
    const read = await app.request(url, { headers: { range: "bytes=2-4" } }, { ...env, STORAGE: replacedBetween });
    expect([read.status, await read.json()]).toMatchObject([503, { error_code: "service_unavailable" }]);
    expect(read.headers.get("cache-control")).not.toMatch(/max-age=[1-9]/);
  });

  it("finds nothing outside the folder of a job", async () => {
    const { id, keep } = await folder();
    await keep("a.mp4", 1);
    for (const path of [
      `${id}/v/b.mp4`,
      `${id}/v%2Fa.mp4`,
      `${id}//v/a.mp4`,
      `${id}/v/a.mp4/`,
      `${id}/x/..%2fv/a.mp4`,
      `${id}/v/%zz`,
      `${newJobId(randomBytes)}/..%2f${id}/v/a.mp4`,
      `x/${id}/v/a.mp4`,
      `${id}/${"ü".repeat(510)}`,
    ]) {
      const response = await fetchWorker(`${origin}/storage/${path}`);
      const answer = { status: response.status, body: await response.json() };
      expect(answer, path).toMatchObject(failedWith(404, "object_not_found"));
    }
  });

  it("allows players of any site to read, but not to write", async () => {
    const url = (await folder()).urlOf("a.mp4");
    const query = {
      origin: "https://player.example.com",
      "access-control-request-method": "GET",
      "access-control-request-headers": "range",
    };
    const preflight = await fetchWorker(url, { method: "OPTIONS", headers: query });
    expect(preflight.status).toBe(204);
    expect(Object.fromEntries(preflight.headers)).toMatchObject({
      "access-control-allow-origin": "*",
      "access-control-allow-methods": "GET,HEAD",
      "access-control-allow-headers": "range",
    });
    for (const method of ["POST", "DELETE", "PATCH"]) expect((await fetchWorker(url, { method })).status).toBe(405);
  });

  it("finds nothing without a bucket binding", async () => {
    const url = await (await folder()).keep("a.mp4", 1);
    const { STORAGE: _, ...without } = env;
    expect((await app.request(url, {}, without)).status).toBe(404);
  });
});
