// Uploads of growing files to a storage on loopback that accepts parts.
import { appendFile, open, writeFile } from "node:fs/promises";
import type { RequestListener } from "node:http";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { AppError } from "#shared/errors.ts";
import type { UploadsRequest } from "#shared/protocol/uploads.ts";
import { fileFolder, startServer, untilEnd } from "../../test/fixtures.ts";
import { Limiter } from "../async/in-parallel.ts";
import { loopback, md5 } from "../testing/jobs/upload-storage.ts";
import { silentLog } from "../testing/silent-log.ts";
import { type Content, fileContent, headedContent, rangeContent } from "./content.ts";
import { type EarlyUpload, type GrowingFile, openEarlyUpload } from "./early-upload.ts";
import type { RequestUploads } from "./upload.ts";

const PART = 5 * 2 ** 20;
/** The end of a file that may still be rewritten. */
const END = 64 * 1024;
const folder = fileFolder();
let path: string;
let respond: RequestListener;
/** Bodies of the stored parts, by number from 0, and the number of times that each was sent. */
let parts: Map<number, Buffer>;
let sent: number[];
let requested: UploadsRequest["files"][number][];
/** The storage rejects signatures with another word. */
let word: string;
const server = untilEnd(await startServer((request, response) => respond(request, response)));
const started: EarlyUpload[] = [];

beforeEach(async () => {
  path = join(folder, "0.mp4");
  await writeFile(path, "");
  [parts, sent, requested, word] = [new Map(), [], [], "first"];
  respond = async (request, response) => {
    const [, number = "", signed = ""] = (request.url ?? "").split("/");
    const body = Buffer.concat(await request.toArray().catch(() => []));
    if (signed !== word) return void response.writeHead(403).end("<Error><Code>AccessDenied</Code></Error>");
    parts.set(Number(number), body);
    sent.push(Number(number));
    response.setHeader("etag", md5(body)).end();
  };
});
afterEach(async () => {
  for (const upload of started.splice(0)) await upload.stop();
});

const sign: RequestUploads = async (files) => {
  requested.push(...files);
  const origin = server.origin;
  return {
    uploads: files.map(({ output, file, sizeBytes, early }) => ({
      output,
      file,
      partBytes: PART,
      parts: (early?.parts ?? []).map((part) => {
        const offset = part * PART;
        const size = sizeBytes === 0 ? PART : Math.min(PART, sizeBytes - offset);
        return { url: `${origin}/${part}/${word}`, headers: {}, offset, sizeBytes: size };
      }),
    })),
  };
};
type Given = Partial<GrowingFile> & {
  readonly requestUploads?: RequestUploads;
  readonly verified?: Promise<void>;
  readonly limiter?: Limiter;
};
function start({ requestUploads = sign, verified, limiter = new Limiter(4), ...file }: Given = {}): EarlyUpload {
  const deps = { requestUploads, storages: loopback, signal: new AbortController().signal, log: silentLog, limiter };
  const upload = openEarlyUpload(
    { output: 0, find: async () => path, reservedBytes: 0, fraction: () => 0.2, ...file },
    verified ?? Promise.resolve(),
    deps,
    20,
  );
  started.push(upload);
  return upload;
}

/** Bytes of a video. Each part of 5 MiB is different. */
const bytesOf = (sizeBytes: number): Buffer =>
  Buffer.concat(
    Array.from({ length: Math.ceil(sizeBytes / PART) }, (_, part) =>
      Buffer.alloc(Math.min(PART, sizeBytes - part * PART), part + 1),
    ),
  );
const stored = (): Buffer => Buffer.concat([...parts].toSorted(([a], [b]) => a - b).map(([, body]) => body));
/** Compares hashes, because a diff would have megabytes. */
const expectStored = (expected: Buffer): void => expect(md5(stored())).toBe(md5(expected));
const ignore = (): void => undefined;
async function finished(upload: EarlyUpload, content?: Content, onProgress: (bytes: number) => void = ignore) {
  expect(upload.halt()).toBe(true);
  return upload.finish(content ?? (await fileContent(path)), onProgress);
}

it("sends parts as soon as all their bytes are written, and sends the first part last because it changes", async () => {
  const upload = start();
  await appendFile(path, bytesOf(3 * PART + END));
  await vi.waitFor(() => expect(sent.toSorted()).toEqual([1, 2]));
  await appendFile(path, bytesOf(4 * PART + END - 1).subarray(3 * PART + END));
  await new Promise((waited) => setTimeout(waited, 100));
  expect(sent.length).toBe(2);
  await appendFile(path, Buffer.alloc(1, 5));
  await vi.waitFor(() => expect(sent.toSorted()).toEqual([1, 2, 3]));
  await appendFile(path, "end");
  const file = await open(path, "r+");
  await file.write("front", 0);
  await file.close();
  const progress: number[] = [];
  const done = await finished(upload, undefined, (bytes) => progress.push(bytes));
  expectStored(Buffer.concat([Buffer.from("front"), bytesOf(4 * PART + END).subarray(5), Buffer.from("end")]));
  expect(done).toEqual({
    sizeBytes: 4 * PART + END + 3,
    etags: [0, 1, 2, 3, 4].map((part) => md5(parts.get(part) ?? Buffer.alloc(0))),
  });
  expect(sent.length).toBe(5);
  expect([progress[0], progress.at(-1)]).toEqual([3 * PART, 4 * PART + END + 3]);
  expect(progress).toEqual(progress.toSorted((a, b) => a - b));
  const whole = { output: 0, file: 1, sizeBytes: 4 * PART + END + 3 };
  expect(requested.at(-1)).toMatchObject({ ...whole, early: { parts: [0, 4] } });
  expect(requested[0]).toMatchObject({ sizeBytes: 0 });
});

it("puts the bytes of the disk after the reserved bytes", async () => {
  const upload = start({ reservedBytes: 1000 });
  const fileBytes = 2 * PART + END;
  await appendFile(path, bytesOf(fileBytes));
  await vi.waitFor(() => expect(sent).toEqual([1]));
  const head = Buffer.alloc(1010, "i");
  const content = headedContent(head, rangeContent(path, 10, fileBytes - 10));
  expect(await finished(upload, content)).toMatchObject({ sizeBytes: fileBytes + 1000 });
  expectStored(Buffer.concat([head, bytesOf(fileBytes).subarray(10)]));
  expect(sent.length).toBe(3);
});

it("expects the reserved bytes once, whatever is written", async () => {
  const upload = start({ reservedBytes: 4 * PART, fraction: () => 0.1 });
  await appendFile(path, bytesOf(PART - 1));
  await new Promise((waited) => setTimeout(waited, 100));
  expect(requested).toEqual([]);
  await appendFile(path, "1");
  await vi.waitFor(() => expect(requested[0]?.early?.expectedBytes).toBe(14 * PART));
  expect(upload.halt()).toBe(true);
});

it("sends a part again if it had bytes after the end, such as bytes of an index", async () => {
  const upload = start();
  await appendFile(path, bytesOf(3 * PART + END));
  await vi.waitFor(() => expect(sent.toSorted()).toEqual([1, 2]));
  const content = rangeContent(path, 0, 3 * PART - 7);
  expect((await finished(upload, content))?.etags.length).toBe(3);
  expect(sent.toSorted()).toEqual([0, 1, 2, 2]);
  expectStored(bytesOf(3 * PART).subarray(0, 3 * PART - 7));
});

it("gets new signatures when the signatures have expired, at any time", async () => {
  const upload = start();
  await appendFile(path, bytesOf(2 * PART + END));
  await vi.waitFor(() => expect(sent).toEqual([1]));
  word = "second";
  await appendFile(path, bytesOf(PART));
  await vi.waitFor(() => expect(sent).toEqual([1, 2]));
  expect((await finished(upload))?.sizeBytes).toBe(3 * PART + END);
  expect(sent.length).toBe(4);
});

it.each<[string, Given]>([
  ["is small", { fraction: () => 1 }],
  ["has no known progress", { fraction: () => 0 }],
  ["has a source that is not verified", { verified: new Promise(ignore) }],
])("does not start an early upload while the file %s", async (_, changes) => {
  const upload = start(changes);
  await appendFile(path, bytesOf(2 * PART));
  await new Promise((waited) => setTimeout(waited, 200));
  expect(upload.halt()).toBe(false);
  expect(requested).toEqual([]);
});

it.each<[string, RequestUploads]>([
  [
    "an older control plane, or a storage without parts",
    async (files) => {
      const answer = await sign(files);
      return "failure" in answer ? answer : { uploads: answer.uploads.map(({ partBytes: _, ...ticket }) => ticket) };
    },
  ],
  ["a storage that cannot be written to", async () => ({ failure: { code: "storage_denied", message: "no" } })],
  ["a lease that is over", () => Promise.reject(new AppError("lease_superseded", "over"))],
  [
    "a control plane that signs other parts",
    async (files) => sign(files.map((file) => ({ ...file, early: { expectedBytes: 1, parts: [7] } }))),
  ],
])("leaves the whole file to the usual upload with %s", async (_, requestUploads) => {
  const requests = vi.fn(requestUploads);
  const upload = start({ requestUploads: requests });
  await appendFile(path, bytesOf(3 * PART + END));
  await vi.waitFor(() => expect(requests).toHaveBeenCalledTimes(1));
  expect(await upload.finish(await fileContent(path), ignore)).toBeNull();
  expect(upload.halt()).toBe(false);
  expect([sent, requests.mock.calls.length]).toEqual([[], 1]);
});

it("leaves the whole file to the usual upload when the storage has lost the upload", async () => {
  const upload = start();
  await appendFile(path, bytesOf(3 * PART + END));
  await vi.waitFor(() => expect(sent.length).toBe(2));
  respond = (request, response) =>
    void request.resume().on("end", () => response.writeHead(404).end("<Error><Code>NoSuchUpload</Code></Error>"));
  expect(await finished(upload)).toBeNull();
});

it("waits while other files of the task send the maximum number of parts", async () => {
  const limiter = new Limiter(1);
  const { promise: isHeld, resolve: release } = Promise.withResolvers<void>();
  const holding = limiter.run(() => isHeld);
  const upload = start({ limiter });
  await appendFile(path, bytesOf(3 * PART + END));
  await vi.waitFor(() => expect(requested.length).toBe(1));
  await new Promise((waited) => setTimeout(waited, 100));
  expect(sent).toEqual([]);
  release();
  await holding;
  await vi.waitFor(() => expect(sent).toEqual([1, 2]));
  expect((await finished(upload))?.etags.length).toBe(4);
});

it("ends its requests when the upload is stopped", async () => {
  let open = 0;
  respond = (request, response) => {
    open += 1;
    request.resume();
    response.on("close", () => (open -= 1));
  };
  const upload = start();
  await appendFile(path, bytesOf(3 * PART + END));
  await vi.waitFor(() => expect(open).toBe(2));
  await upload.stop();
  await vi.waitFor(() => expect(open).toBe(0));
  await expect(upload.finish(await fileContent(path), ignore)).rejects.toThrow("stopped");
});
