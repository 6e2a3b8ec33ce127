import { createDecipheriv, createHash } from "node:crypto";
import { appendFile, mkdtemp, rm, writeFile } from "node:fs/promises";
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
import { afterAll, afterEach, beforeAll, describe, expect, it, test } from "vitest";
import type { UploadPart } from "#shared/protocol.ts";
import { guardedAgent } from "../input/address-guard.ts";
import { bytesContent, encryptedContent, fileContent, rangeContent } from "./content.ts";
import { storageAddressRefusal } from "./storage-failure.ts";
import { type Upload, uploadContent } from "./upload.ts";

const FILM = Buffer.from(Uint8Array.from({ length: 6_000_001 }, (_, i) => (i * 2_654_435_761) >>> 11));

const agent = guardedAgent({ allow: "loopback", refuse: storageAddressRefusal });
let path: string;
const servers: Server[] = [];
beforeAll(async () => {
  path = join(await mkdtemp(join(tmpdir(), "copra-upload-")), "out put.mp4");
  await writeFile(path, FILM);
});
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});
afterAll(() => agent.destroy());
afterAll(() => rm(join(path, ".."), { recursive: true, force: true }));

type Received = { url: string; method: string; headers: IncomingHttpHeaders; body: Buffer };
type Refuse = (request: IncomingMessage, response: ServerResponse, tries: number) => boolean;

/** A storage on loopback that keeps what it takes; `refuse` may answer in its place, and is told how often it was asked. */
/** Answers nothing until `together` requests are open at the same time, once. */
async function storage(refuse: Refuse = () => false, together = 1) {
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
    response.setHeader("etag", `"${createHash("md5").update(body).digest("hex")}"`).end();
  });
  servers.push(server);
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { origin, taken, tries, mostOpen: () => mostOpen };
}

/** Parts of `partBytes` each that cover `sizeBytes`. */
function partsOf(origin: string, partBytes: number, sizeBytes = FILM.length): UploadPart[] {
  return Array.from({ length: Math.max(1, Math.ceil(sizeBytes / partBytes)) }, (_, i) => ({
    url: `${origin}/bucket/out.mp4?partNumber=${i + 1}&X-Amz-Signature=secret`,
    headers: { "Content-Type": "video/mp4", "x-amz-acl": "private" },
    offset: i * partBytes,
    sizeBytes: Math.min(partBytes, sizeBytes - i * partBytes),
  }));
}

const upload = async (parts: UploadPart[], options: Partial<Upload> = {}) =>
  uploadContent({
    content: await fileContent(path),
    ticket: { parts },
    agent,
    signal: new AbortController().signal,
    patience: { retries: 4, backoff: { firstMs: 5, maxMs: 5 } },
    ...options,
  });

describe("parts", () => {
  it("arrive byte for byte, four at a time, with their length and headers", async () => {
    const { origin, taken, mostOpen } = await storage(undefined, 4);
    const progress: number[] = [];
    const result = await upload(partsOf(origin, 500_000), { onProgress: (bytes) => progress.push(bytes) });
    taken.sort((a, b) => Number(/=(\d+)&/.exec(a.url)?.[1]) - Number(/=(\d+)&/.exec(b.url)?.[1]));
    expect(taken.length).toBe(13);
    expect(Buffer.concat(taken.map(({ body }) => body)).equals(FILM)).toBe(true);
    for (const { method, headers, body } of taken) {
      expect(method).toBe("PUT");
      expect(headers).toMatchObject({
        "content-length": String(body.length),
        "content-type": "video/mp4",
        "x-amz-acl": "private",
      });
      expect(headers).not.toHaveProperty("transfer-encoding");
    }
    expect(result.sizeBytes).toBe(FILM.length);
    expect(result.etags).toEqual(taken.map(({ body }) => `"${createHash("md5").update(body).digest("hex")}"`));
    expect(mostOpen()).toBe(4);
    expect(progress.at(-1)).toBe(FILM.length);
    expect(progress).toEqual(progress.toSorted((a, b) => a - b));
  });

  it("may be one, and empty", async () => {
    const { origin, taken } = await storage();
    expect((await upload(partsOf(origin, FILM.length))).etags.length).toBe(1);
    const empty = `${path}.empty`;
    await writeFile(empty, "");
    expect(await upload(partsOf(origin, 1000, 0), { content: await fileContent(empty) })).toMatchObject({
      sizeBytes: 0,
    });
    expect(taken.map(({ body, headers }) => [body.length, headers["content-length"]])).toEqual([
      [FILM.length, String(FILM.length)],
      [0, "0"],
    ]);
  });
});

describe("passing trouble", () => {
  test.each<[string, Refuse]>([
    ["503", (_, response) => !response.writeHead(503).end().destroyed],
    ["429", (_, response) => !response.writeHead(429).end().destroyed],
    ["a reset connection", (request) => !!request.socket.resetAndDestroy()],
    ["a connection that closes amid the body", (request) => !!request.once("data", () => request.socket.destroy())],
  ])("is outlived: %s", async (_, trouble) => {
    const { origin, taken, tries } = await storage(
      (request, response, asked) => asked <= 2 && trouble(request, response, asked),
    );
    const progress: number[] = [];
    await upload(partsOf(origin, 2_000_000), { onProgress: (bytes) => progress.push(bytes) });
    expect([...tries.values()]).toEqual([3, 3, 3, 3]);
    expect(taken.reduce((sum, { body }) => sum + body.length, 0)).toBe(FILM.length);
    expect(progress).toEqual(progress.toSorted((a, b) => a - b));
  });

  it("is given up after four further tries", async () => {
    const body = "<?xml version='1.0'?><Error><Code>SlowDown</Code><Message>Please</Message></Error>";
    const { origin, tries } = await storage((_, response) => !response.writeHead(503).end(body).destroyed);
    await expect(upload(partsOf(origin, FILM.length))).rejects.toMatchObject({
      code: "storage_unreachable",
      message: "The storage refused the upload (HTTP 503, SlowDown): try again later.",
    });
    expect([...tries.values()]).toEqual([5]);
  });

  it("is storage_unreachable when nobody listens", async () => {
    const { origin } = await storage();
    servers.splice(0)[0]?.close();
    await expect(upload(partsOf(origin, FILM.length))).rejects.toMatchObject({
      code: "storage_unreachable",
      message: "The storage cannot be reached (ECONNREFUSED); try again later.",
    });
  });
});

describe("refusals", () => {
  test.each([
    [403, "SignatureDoesNotMatch", "storage_denied"],
    [401, null, "storage_denied"],
    [404, "NoSuchBucket", "storage_bucket_not_found"],
    [404, "NoSuchUpload", "storage_unreachable"],
    [400, "EntityTooLarge", "storage_denied"],
    [501, "NotImplemented", "storage_denied"],
    [301, "PermanentRedirect", "storage_region_not_valid"],
    [307, "TemporaryRedirect", "storage_region_not_valid"],
  ])("HTTP %i %s is %s, at once, and quotes no signature", async (status, s3Code, code) => {
    const body = s3Code
      ? `<Error><Code>${s3Code}</Code><Resource>/bucket?X-Amz-Signature=0123abcd</Resource></Error>`
      : "";
    const { origin, tries } = await storage((request, response) => {
      request
        .resume()
        .once("end", () =>
          response.writeHead(status, { location: origin, "x-amz-bucket-region": "eu-west-1" }).end(body),
        );
      return true;
    });
    const failure = await upload(partsOf(origin, FILM.length)).catch((error: unknown) => error);
    expect(failure).toMatchObject({ name: "AppError", code });
    expect(String(failure)).toContain(s3Code ?? String(status));
    expect(String(failure)).not.toMatch(/0123abcd|127\.0\.0\.1/);
    expect([...tries.values()]).toEqual([1]);
  });

  it("of one part stop the others", async () => {
    const { origin, tries } = await storage((request, response) => {
      request.resume();
      if (request.url?.includes("partNumber=2&")) response.writeHead(403).end();
      return true;
    });
    await expect(upload(partsOf(origin, 500_000))).rejects.toMatchObject({ code: "storage_denied" });
    expect(tries.size).toBeLessThanOrEqual(4);
  });
});

it("goes to allowed addresses only, and says so at once", async () => {
  const { origin, tries } = await storage();
  const strict = guardedAgent({ allow: "none", refuse: storageAddressRefusal });
  for (const [through, host] of [
    [strict, origin],
    [strict, origin.replace("127.0.0.1", "localhost")],
    [agent, "http://169.254.169.254"],
  ] as const) {
    await expect(upload(partsOf(host, FILM.length), { agent: through })).rejects.toMatchObject({
      code: "storage_address_not_allowed",
      message: expect.stringContaining(`host \`${new URL(host).hostname}\` is not a public address`),
    });
  }
  expect(tries.size).toBe(0);
  await strict.destroy();
});

it("blames the node when the file is not what was announced", async () => {
  const { origin, tries } = await storage();
  await expect(upload(partsOf(origin, 500_000, 400_000))).rejects.toMatchObject({ code: "node_failed" });
  await expect(fileContent(`${path}.gone`)).rejects.toMatchObject({
    code: "node_failed",
    message: "A finished file is gone.",
  });
  expect(tries.size).toBe(0);
});

describe("contents", () => {
  it("are sent from bytes at hand, and from a range of a file that grows", async () => {
    const { origin, taken } = await storage();
    const growing = `${path}.growing`;
    await writeFile(growing, FILM.subarray(0, 1_000_000));
    const range = rangeContent(growing, 300_001, 600_000);
    await appendFile(growing, FILM.subarray(1_000_000));
    await upload(partsOf(origin, 1_000_000, 600_000), { content: range });
    await upload(partsOf(origin, 1000, 5), { content: bytesContent(FILM.subarray(0, 5)) });
    const expected = [FILM.subarray(300_001, 900_001), FILM.subarray(0, 5)];
    expect(taken.map(({ body }, at) => body.equals(expected[at] ?? FILM))).toEqual([true, true]);
  });

  it("blame the node when the disk has less than was announced", async () => {
    const { origin } = await storage();
    for (const content of [rangeContent(path, 1, FILM.length), rangeContent(`${path}.gone`, 0, FILM.length)]) {
      await expect(upload(partsOf(origin, FILM.length), { content })).rejects.toMatchObject({
        code: "node_failed",
        message: "The node cannot read a finished file from its disk.",
      });
    }
  });

  const key = Buffer.from("000102030405060708090a0b0c0d0e0f", "hex");
  const iv = Buffer.alloc(16, 7);
  it.each([0, 15, 16, 17, 188 * 1000, 5_999_990])(
    "of %i bytes are encrypted on the way, as often as they are sent",
    async (sizeBytes) => {
      const { origin, taken } = await storage(
        (_, response, asked) => asked === 1 && !response.writeHead(503).end().destroyed,
      );
      const content = encryptedContent(rangeContent(path, 3, sizeBytes), key, iv);
      await upload(partsOf(origin, 3_000_001, content.sizeBytes), { content });
      const inOrder = taken.toSorted((a, b) => a.url.localeCompare(b.url)).map(({ body }) => body);
      const decipher = createDecipheriv("aes-128-cbc", key, iv);
      const plain = Buffer.concat([decipher.update(Buffer.concat(inOrder)), decipher.final()]);
      expect(plain.equals(FILM.subarray(3, 3 + sizeBytes))).toBe(true);
    },
  );
});

it("rejects with the reason of an abort, at once", async () => {
  const { origin } = await storage((request) => !!request.resume());
  const controller = new AbortController();
  const reason = new Error("superseded");
  const onProgress = (): void => controller.abort(reason);
  await expect(upload(partsOf(origin, 500_000), { signal: controller.signal, onProgress })).rejects.toBe(reason);
  await expect(upload(partsOf(origin, 500_000), { signal: controller.signal })).rejects.toBe(reason);
});

describe("forms", () => {
  const form = { name: "encoded_video", fileName: 'ä "cut" 1.mp4', contentType: "video/mp4" };
  const headers = { authorization: "Basic dTpw" };
  const formPart = (origin: string, sizeBytes: number): UploadPart[] => [
    { url: `${origin}/in/a.mp4?id=7`, headers, offset: 0, sizeBytes, form },
  ];
  const parse = ({ body, headers }: Received): Promise<FormData> =>
    new Response(new Uint8Array(body), { headers: { "content-type": String(headers["content-type"]) } }).formData();

  it("carry the file with its name, type and exact length", async () => {
    const { origin, taken } = await storage();
    const progress: number[] = [];
    await upload(formPart(origin, FILM.length), { onProgress: (bytes) => progress.push(bytes) });
    const empty = `${path}.empty`;
    await writeFile(empty, "");
    await upload(formPart(origin, 0), { content: await fileContent(empty) });
    for (const [index, expected] of [FILM, Buffer.alloc(0)].entries()) {
      const received = taken[index];
      if (!received) throw new Error("Nothing came");
      expect([received.method, received.url]).toEqual(["POST", "/in/a.mp4?id=7"]);
      expect(received.headers).toMatchObject({ ...headers, "content-length": String(received.body.length) });
      expect(received.headers).not.toHaveProperty("transfer-encoding");
      const fields = [...(await parse(received))];
      expect(fields.map(([name]) => name)).toEqual([form.name]);
      const file = fields[0]?.[1] as File;
      expect([file.name, file.type]).toEqual([form.fileName, form.contentType]);
      expect(Buffer.from(await file.arrayBuffer()).equals(expected)).toBe(true);
    }
    expect(progress.at(-1)).toBe(FILM.length);
  });

  it("are sent again while that may help", async () => {
    const { origin, taken, tries } = await storage(
      (_, response, asked) => asked <= 2 && !response.writeHead(503).end().destroyed,
    );
    await upload(formPart(origin, FILM.length));
    expect([...tries.values()]).toEqual([3]);
    expect((await parse(taken[0] as Received)).has(form.name)).toBe(true);
  });

  test.each([
    [302, "storage_denied", "redirects are not followed"],
    [401, "storage_denied", "check the user and password in `storage.url`"],
    [404, "storage_bucket_not_found", "check the path in `storage.url`"],
    [413, "storage_denied", "it must take files of this size"],
    [422, "storage_denied", "it must take a POST of multipart/form-data"],
  ])("that are answered %i are %s, at once", async (status, code, advice) => {
    const { origin, tries } = await storage((request, response) => {
      const location = `http://${request.headers.host}/elsewhere`;
      request.resume().once("end", () => response.writeHead(status, { location }).end("<Code>Ignored</Code>"));
      return true;
    });
    await expect(upload(formPart(origin, FILM.length))).rejects.toMatchObject({
      name: "AppError",
      code,
      message: `The upload address answered ${status}; ${advice}.`,
    });
    expect([...tries.entries()]).toEqual([["/in/a.mp4?id=7", 1]]);
  });
});
