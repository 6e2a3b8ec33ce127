import { link, readdir, readFile } from "node:fs/promises";
import { get, type IncomingMessage } from "node:http";
import { join } from "node:path";
import { Readable } from "node:stream";
import { AwsClient } from "aws4fetch";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createLogger } from "#shared/log.ts";
import { fileFolder } from "../../test/fixtures.ts";
import { type S3Server, startS3 } from "./s3-app.ts";

const silent = createLogger({ write: () => {}, now: Date.now, level: "error" });
const credentials = { accessKeyId: "COPRATEST", secretAccessKey: "right" };
const clientWith = (keys: typeof credentials): AwsClient =>
  new AwsClient({ ...keys, service: "s3", region: "us-east-1", retries: 0 });
const client = clientWith(credentials);

const directory = fileFolder();
let server: S3Server;
let base: string;

const start = async (): Promise<void> => {
  server = await startS3({ port: 0, directory, bucket: "copra", privateBuckets: ["hidden"], credentials }, silent);
  base = `http://127.0.0.1:${server.port}/copra`;
};

beforeAll(async () => {
  await start();
});
afterAll(async () => {
  await server.close();
});

const presign = async (path: string, headers: Record<string, string>, with_ = client): Promise<string> => {
  const url = new URL(base + path);
  url.searchParams.set("X-Amz-Expires", "600");
  const signed = await with_.sign(url.href, { method: "PUT", headers, aws: { signQuery: true, allHeaders: true } });
  return signed.url;
};
const codeOf = async (answer: Response): Promise<string> =>
  `${answer.status} ${/<Code>(\w+)/.exec(await answer.text())?.[1]}`;
const begin = async (name: string): Promise<string> => {
  const xml = await (await client.fetch(`${base}/${name}?uploads=`, { method: "POST" })).text();
  return /<UploadId>(.*?)</.exec(xml)?.[1] ?? "";
};
const putPart = async (name: string, uploadId: string, part: number, body: string): Promise<Response> =>
  fetch(await presign(`/${name}?partNumber=${part}&uploadId=${uploadId}`, {}), { method: "PUT", body });
const complete = async (name: string, uploadId: string, etags: (string | null)[]): Promise<Response> => {
  const parts = etags.map((tag, index) => `<Part><PartNumber>${index + 1}</PartNumber><ETag>${tag}</ETag></Part>`);
  const body = `<CompleteMultipartUpload>${parts.join("")}</CompleteMultipartUpload>`;
  return client.fetch(`${base}/${name}?uploadId=${uploadId}`, { method: "POST", body });
};

it("rejects an upload that would fill the disk, and still serves its objects", async () => {
  // The process has only this account, and the credentials are the same.
  const full = await startS3({ port: 0, directory, bucket: "copra", credentials, minFreeBytes: 2 ** 60 }, silent);
  try {
    await fetch(await presign("/before.txt", {}), { method: "PUT", body: "kept" });
    const there = (path: string): string => path.replace(`:${server.port}/`, `:${full.port}/`);
    const put = await client.fetch(there(`${base}/full.txt`), { method: "PUT", body: "abc" });
    expect(await codeOf(put)).toBe("507 InsufficientStorage");
    const started = await client.fetch(there(`${base}/full.txt?uploads=`), { method: "POST" });
    expect(await codeOf(started)).toBe("507 InsufficientStorage");
    expect(await (await fetch(there(`${base}/before.txt`))).text()).toBe("kept");
    expect((await fetch(`${base}/full.txt`)).status).toBe(404);
  } finally {
    await full.close();
  }
});

describe("signatures", () => {
  it("accepts a presigned PUT with its signed headers, and serves the object to anyone, also in ranges", async () => {
    const headers = { "content-type": "video/mp4" };
    const put = await fetch(await presign("/a%20b/%C3%BC%2B1.mp4", headers), {
      method: "PUT",
      headers,
      body: "0123456789",
    });
    expect([put.status, put.headers.get("etag")]).toEqual([200, '"781e5e245d69b566979b86e28d23f2c7"']);
    const got = await fetch(`${base}/a%20b/%C3%BC%2B1.mp4`);
    expect([got.headers.get("content-type"), await got.text()]).toEqual(["video/mp4", "0123456789"]);
    const range = await fetch(`${base}/a%20b/%C3%BC%2B1.mp4`, { headers: { range: "bytes=2-4" } });
    expect([range.status, await range.text()]).toEqual([206, "234"]);
    const beyond = await fetch(`${base}/a%20b/%C3%BC%2B1.mp4`, { headers: { range: "bytes=10-" } });
    expect(beyond.status).toBe(416);
  });

  it("rejects a wrong secret, a wrong key, a header unlike the signed header, and s3rver's own key pair", async () => {
    const put = async (url: string, headers = {}): Promise<string> =>
      codeOf(await fetch(url, { method: "PUT", headers, body: "x" }));
    const wrongSecret = clientWith({ ...credentials, secretAccessKey: "wrong" });
    expect(await put(await presign("/x", {}, wrongSecret))).toBe("403 SignatureDoesNotMatch");
    expect(await codeOf(await wrongSecret.fetch(`${base}/x`, { method: "PUT", body: "x" }))).toBe(
      "403 SignatureDoesNotMatch",
    );
    expect(await put((await presign("/x", {})).replace("/x?", "/y?"))).toBe("403 SignatureDoesNotMatch");
    const signedHeader = await presign("/x", { "content-type": "video/mp4" });
    expect(await put(signedHeader, { "content-type": "text/html" })).toBe("403 SignatureDoesNotMatch");
    const shipped = clientWith({ accessKeyId: "S3RVER", secretAccessKey: "S3RVER" });
    expect(await put(await presign("/x", {}, shipped))).toBe("403 InvalidAccessKeyId");
  });

  it("lets pages of any origin read objects, also in ranges", async () => {
    await fetch(await presign("/segment.m4s", {}), { method: "PUT", body: "0123456789" });
    const origin = "http://player.test";
    const headers = { origin, "access-control-request-method": "GET", "access-control-request-headers": "range" };
    const preflight = await fetch(`${base}/segment.m4s`, { method: "OPTIONS", headers });
    expect([preflight.status, preflight.headers.get("access-control-allow-origin")]).toEqual([200, "*"]);
    const got = await fetch(`${base}/segment.m4s`, { headers: { origin, range: "bytes=2-4" } });
    expect([got.headers.get("access-control-allow-origin"), await got.text()]).toEqual(["*", "234"]);
  });

  it("requires a signature to read a private bucket", async () => {
    const url = `${base.replace(/copra$/, "hidden")}/a`;
    expect((await client.fetch(url, { method: "PUT", body: "x" })).status).toBe(200);
    expect(await (await client.fetch(url)).text()).toBe("x");
    expect(await codeOf(await fetch(url))).toBe("403 AccessDenied");
  });

  it.each([
    ...[
      ...[
        "/copra/..%2fhidden%2fa",
        "/copra/../hidden/a",
        "/copra/%2e%2E/hidden/a",
        "/copra/b/.%2f..%2f..%2fhidden%2fa",
      ],
      ...["/copra/%252e%252e%252fhidden/a", "/copra/..%5chidden%5ca", "/copra/..\\hidden\\a#", "/copra/a%00"],
      ...["/copra/..%2fhidden%2fa%", "http://elsewhere.test/copra/../hidden/a"],
    ].map((path) => [path, "s3.test"] as const),
    // s3rver takes the bucket from such hosts.
    ["/copra/a", "hidden.s3.amazonaws.com"] as const,
    ["/copra/a", "hidden.s3-website-us-east-1.amazonaws.com"] as const,
  ])("keeps a private bucket closed to requests for %j at %s", async (path, host) => {
    for (const name of ["a", "copra/a"]) {
      const hidden = `${base.replace(/copra$/, "hidden")}/${name}`;
      expect((await client.fetch(hidden, { method: "PUT", body: "private" })).status).toBe(200);
    }
    const options = { port: server.port, path, headers: { host }, agent: false };
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      get(options, resolve).on("error", reject);
    });
    expect(await new Response(Readable.toWeb(response) as ReadableStream).text()).not.toContain("private");
    expect([400, 404]).toContain(response.statusCode);
  });

  it("copies objects for the account, but not by a presigned URL, and not from outside a bucket", async () => {
    const hidden = `${base.replace(/copra$/, "hidden")}/source`;
    await client.fetch(hidden, { method: "PUT", body: "private" });
    const copy = { "x-amz-copy-source": "/hidden/source" };
    expect(await codeOf(await fetch(await presign("/copy", {}), { method: "PUT", headers: copy }))).toBe(
      "403 AccessDenied",
    );
    expect((await client.fetch(`${base}/copy`, { method: "PUT", headers: copy })).status).toBe(200);
    for (const source of ["/copra/../hidden/source", "/copra/%2e%2e/hidden/source"]) {
      const headers = { "x-amz-copy-source": source };
      expect(await codeOf(await client.fetch(`${base}/copy`, { method: "PUT", headers }))).toBe("400 InvalidURI");
    }
  });

  it("rejects writes, deletions and lists without a signature", async () => {
    const responses = await Promise.all([
      fetch(`${base}/x`, { method: "PUT", body: "x" }),
      fetch(`${base}/x`, { method: "DELETE" }),
      fetch(base),
      fetch(`${base}/`),
    ]);
    expect(await Promise.all(responses.map(codeOf))).toEqual(Array(4).fill("403 AccessDenied"));
  });
});

describe("multipart uploads", () => {
  it("keeps multipart uploads over a restart of the server, and deletes them after their completion", async () => {
    const uploadId = await begin("big");
    const first = await putPart("big", uploadId, 1, "first ");
    await server.close();
    await start();
    const second = await putPart("big", uploadId, 2, "second");
    const etags = [first.headers.get("etag"), second.headers.get("etag")];
    expect((await complete("big", uploadId, etags)).status).toBe(200);
    expect(await (await fetch(`${base}/big`)).text()).toBe("first second");
    expect(await codeOf(await complete("big", uploadId, etags))).toBe("404 NoSuchUpload");
  });

  it("aborts a multipart upload with a signature, and accepts no part afterwards", async () => {
    const uploadId = await begin("never");
    expect((await putPart("never", uploadId, 1, "x")).status).toBe(200);
    const url = `${base}/never?uploadId=${uploadId}`;
    const stranger = clientWith({ ...credentials, secretAccessKey: "wrong" });
    expect((await stranger.fetch(url, { method: "DELETE" })).status).toBe(403);
    expect((await client.fetch(url, { method: "DELETE" })).status).toBe(204);
    expect(await codeOf(await client.fetch(url, { method: "DELETE" }))).toBe("404 NoSuchUpload");
    expect(await codeOf(await putPart("never", uploadId, 1, "x"))).toBe("404 NoSuchUpload");
    expect((await fetch(`${base}/never`)).status).toBe(404);
  });
});

it("serves a single version of an object while it is replaced", async () => {
  const versions = ["short", "x".repeat(20_000)];
  const read: string[] = [];
  let isOver = false;
  const reading = async (): Promise<void> => {
    while (!isOver) {
      const got = await fetch(`${base}/live.m3u8`);
      const text = await got.text();
      if (!versions.includes(text)) read.push(`${got.status} ${text.length} of ${got.headers.get("content-length")}`);
    }
  };
  const url = await presign("/live.m3u8", {});
  expect((await fetch(url, { method: "PUT", body: "short" })).status).toBe(200);
  const readers = Array.from({ length: 4 }, reading);
  for (let at = 0; at < 100; at++) await fetch(url, { method: "PUT", body: versions[at % 2] ?? "" });
  isOver = true;
  await Promise.all(readers);
  expect(read).toEqual([]);
});

it("serves a version that was written in the same second as the browser's version", async () => {
  const url = await presign("/again.m3u8", {});
  await fetch(url, { method: "PUT", body: "earlier" });
  const etag = (await fetch(`${base}/again.m3u8`)).headers.get("etag") ?? "";
  const sameSecond = new Date(Date.now() + 3_600_000).toUTCString();
  const headers = { "if-none-match": etag, "if-modified-since": sameSecond };
  expect((await fetch(`${base}/again.m3u8`, { headers })).status).toBe(304);
  await fetch(url, { method: "PUT", body: "later" });
  expect(await (await fetch(`${base}/again.m3u8`, { headers })).text()).toBe("later");
});

it("replaces objects by new files, so that links keep the earlier files", async () => {
  const put = (name: string, init: RequestInit) => client.fetch(`${base}/${name}`, { method: "PUT", ...init });
  const fileOf = (name: string): string => join(directory, "copra", `${name}._S3rver_object`);
  await put("from", { body: "later", headers: { "content-type": "video/mp4" } });
  const writes: [string, RequestInit][] = [
    ["put", { body: "later" }],
    ["copied", { headers: { "x-amz-copy-source": "/copra/from" } }],
  ];
  for (const [name, init] of writes) {
    await put(name, { body: "earlier" });
    await link(fileOf(name), join(directory, `${name}-link`));
    expect((await put(name, init)).status).toBe(200);
    expect(await readFile(join(directory, `${name}-link`), "utf8")).toBe("earlier");
    expect(await (await fetch(`${base}/${name}`)).text()).toBe("later");
  }
  const copied = await fetch(`${base}/copied`);
  const from = await fetch(`${base}/from`);
  for (const header of ["content-type", "etag"]) expect(copied.headers.get(header)).toBe(from.headers.get(header));
  // A copy onto itself, with other metadata.
  const headers = { "x-amz-copy-source": "/copra/from", "x-amz-metadata-directive": "REPLACE", "content-type": "a/b" };
  expect((await put("from", { headers })).status).toBe(200);
  const replaced = await fetch(`${base}/from`);
  expect([replaced.headers.get("content-type"), await replaced.text()]).toEqual(["a/b", "later"]);
  const missing = { "x-amz-copy-source": "/copra/missing" };
  expect(await codeOf(await put("copied", { headers: missing }))).toBe("404 NoSuchKey");
});

it("stores no object for an interrupted PUT", async () => {
  const url = await presign("/broken", {});
  const body = new ReadableStream({
    start: (stream) => stream.enqueue(new TextEncoder().encode("half")),
    pull: async () => new Promise((resolve) => setTimeout(resolve, 60_000)),
  });
  const broken = new AbortController();
  setTimeout(() => broken.abort(), 300);
  const init = { method: "PUT", body, duplex: "half" as const, signal: broken.signal };
  await expect(fetch(url, init)).rejects.toThrow();
  await expect.poll(async () => (await fetch(`${base}/broken`)).status).toBe(404);
  const left = async (): Promise<string[]> =>
    (await readdir(join(directory, "copra"))).filter((n) => n.includes("broken"));
  await expect.poll(left).toEqual([]);
});

it("writes on a condition only if the stored version meets it, also for writes at the same time", async () => {
  const url = `${base}/record`;
  const put = (headers: Record<string, string>, body: string) => client.fetch(url, { method: "PUT", headers, body });
  const first = await Promise.all(Array.from({ length: 8 }, (_, index) => put({ "if-none-match": "*" }, `${index}`)));
  expect(first.map(({ status }) => status).toSorted()).toEqual([200, ...Array(7).fill(412)]);
  const etag = first.find(({ ok }) => ok)?.headers.get("etag") ?? "";
  const second = await Promise.all(
    Array.from({ length: 8 }, (_, index) => put({ "if-match": etag }, `again ${index}`)),
  );
  expect(second.map(({ status }) => status).toSorted()).toEqual([200, ...Array(7).fill(412)]);
  const remove = (headers: Record<string, string>) => client.fetch(url, { method: "DELETE", headers });
  expect(await codeOf(await remove({ "if-match": etag }))).toBe("412 PreconditionFailed");
  expect((await remove({ "if-match": second.find(({ ok }) => ok)?.headers.get("etag") ?? "" })).status).toBe(204);
  expect(await codeOf(await put({ "if-match": etag }, "gone"))).toBe("404 NoSuchKey");
});
