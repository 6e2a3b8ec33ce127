import { afterAll, afterEach, describe, expect, it, test } from "vitest";
import { closeStorages, endUploads, FILM, partsOf, type Refuse, storage, upload } from "../testing/upload-storage.ts";
import { bytesContent } from "./content.ts";

afterEach(closeStorages);
afterAll(endUploads);

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

  it("is retried 24 times for a bucket, unless the patience says otherwise", async () => {
    const { origin, tries } = await storage((_, response) => !response.writeHead(503).end().destroyed);
    const patience = { backoff: { firstMs: 5, maxMs: 5 } };
    await expect(upload(partsOf(origin, FILM.length), { patience })).rejects.toMatchObject({
      code: "storage_unreachable",
    });
    expect([...tries.values()]).toEqual([25]);
  });

  it("ends after five retries when nobody listens, or no such host exists", async () => {
    const { origin } = await storage();
    closeStorages();
    const nowhere = "http://storage.invalid:9000";
    for (const [url, sentence] of [
      [origin, "refuses connections; check `storage.endpoint` and its port."],
      [nowhere, "cannot be found; check the host in `storage.endpoint`, or the bucket and region that it is made of."],
    ] as const) {
      let tries = 0;
      const patience = { retries: 24, backoff: { firstMs: 1, maxMs: 1 } };
      const content = bytesContent(FILM);
      const read: typeof content.read = (...range) => {
        tries += 1;
        return content.read(...range);
      };
      const sent = upload(partsOf(url, FILM.length), { patience, content: { ...content, read } });
      await expect(sent).rejects.toMatchObject({
        code: "storage_unreachable",
        message: `The storage at ${url} ${sentence}`,
      });
      expect(tries).toBe(6);
    }
  });
});

it("gives up, at once, on a storage that takes a file in drops", async () => {
  const { origin, tries } = await storage((request) => {
    request.on("data", () => {
      request.pause();
      setTimeout(() => request.resume(), 100);
    });
    return true;
  });
  const patience = { limit: { baseMs: 100, msPerKib: 200 / (FILM.length / 1024) } };
  await expect(upload(partsOf(origin, FILM.length), { patience })).rejects.toMatchObject({
    code: "storage_unreachable",
    message: "The storage has not taken a file, or a part of one, within 1 min; use a faster one.",
  });
  expect([...tries.values()]).toEqual([1]);
});

/** What storages answer to signatures that have expired. */
const MAY_BE_OLD = new Set([400, 401, 403]);

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
  ])("HTTP %i %s is %s, at once or after a fresh signature, and quotes none", async (status, s3Code, code) => {
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
    expect([...tries.values()]).toEqual([MAY_BE_OLD.has(status) ? 2 : 1]);
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
