import { describe, expect, it, test } from "vitest";
import {
  CLIP,
  closeStorages,
  partsOf,
  type Respond,
  storage,
  upload,
  useUploads,
} from "../testing/jobs/upload-storage.ts";
import { silentLog } from "../testing/silent-log.ts";
import { bytesContent } from "./content.ts";
import { StorageHold } from "./retry-policy.ts";

useUploads();

describe("a temporary storage failure", () => {
  test.each<[string, Respond]>([
    ["503", (_, response) => !response.writeHead(503).end().destroyed],
    ["429", (_, response) => !response.writeHead(429).end().destroyed],
    ["a reset connection", (request) => !!request.socket.resetAndDestroy()],
    ["a connection that closes during the body", (request) => !!request.once("data", () => request.socket.destroy())],
  ])("retries a temporary storage failure until it passes: %s", async (_, respond) => {
    const { origin, received, tries } = await storage(
      (request, response, attempt) => attempt <= 2 && respond(request, response, attempt),
    );
    const progress: number[] = [];
    await upload(partsOf(origin, 2_000_000), { onProgress: (bytes) => progress.push(bytes) });
    expect([...tries.values()]).toEqual([3, 3, 3, 3]);
    expect(received.reduce((sum, { body }) => sum + body.length, 0)).toBe(CLIP.length);
    expect(progress).toEqual(progress.toSorted((a, b) => a - b));
  });

  it("fails the upload after four retries", async () => {
    const body = "<?xml version='1.0'?><Error><Code>SlowDown</Code><Message>Please</Message></Error>";
    const { origin, tries } = await storage((_, response) => !response.writeHead(503).end(body).destroyed);
    await expect(upload(partsOf(origin, CLIP.length))).rejects.toMatchObject({
      code: "storage_unreachable",
      message: "The storage rejected the upload (HTTP 503, SlowDown): try again later.",
    });
    expect([...tries.values()]).toEqual([5]);
  });

  it("retries a bucket 24 times by default", async () => {
    const { origin, tries } = await storage((_, response) => !response.writeHead(503).end().destroyed);
    const retryPolicy = { backoff: { firstMs: 5, maxMs: 5 } };
    await expect(upload(partsOf(origin, CLIP.length), { retryPolicy })).rejects.toMatchObject({
      code: "storage_unreachable",
    });
    expect([...tries.values()]).toEqual([25]);
  });

  it("holds a file after the retries, and sends it when the storage is back", async () => {
    const changes: boolean[] = [];
    const { origin, received, tries } = await storage(
      (_, response) => !changes.includes(true) && !response.writeHead(503).end().destroyed,
    );
    const hold = new StorageHold({ log: silentLog, changed: (isHolding) => changes.push(isHolding) });
    await upload(partsOf(origin, CLIP.length), { hold });
    expect([...tries.values()]).toEqual([6]);
    expect(received[0]?.body.equals(CLIP)).toBe(true);
    expect(changes).toEqual([true, false]);
  });

  it("gives up a held file after an hour, and at once when the storage then denies it", async () => {
    const { origin } = await storage();
    closeStorages();
    let minutes = 0;
    const hourly = new StorageHold({ log: silentLog, changed: () => undefined, now: () => ++minutes * 60_000 });
    await expect(upload(partsOf(origin, CLIP.length), { hold: hourly })).rejects.toMatchObject({
      code: "storage_unreachable",
    });
    expect(minutes).toBe(61);
    const denying = await storage((_, response, attempt) => {
      return !response.writeHead(attempt > 7 ? 403 : 500).end("<Error><Code>AccessDenied</Code></Error>").destroyed;
    });
    const hold = new StorageHold({ log: silentLog, changed: () => undefined });
    await expect(upload(partsOf(denying.origin, CLIP.length), { hold })).rejects.toMatchObject({
      code: "storage_denied",
    });
  });

  it("fails after five retries when the host refuses connections or does not resolve", async () => {
    const { origin } = await storage();
    closeStorages();
    const nowhere = "http://storage.invalid:9000";
    for (const [url, sentence] of [
      [origin, "refuses connections; check `storage.endpoint` and its port."],
      [
        nowhere,
        "does not exist in DNS; check the host in `storage.endpoint`, or the bucket and the region that it contains.",
      ],
    ] as const) {
      let tries = 0;
      const retryPolicy = { retries: 24, backoff: { firstMs: 1, maxMs: 1 } };
      const content = bytesContent(CLIP);
      const read: typeof content.read = (...range) => {
        tries += 1;
        return content.read(...range);
      };
      const sent = upload(partsOf(url, CLIP.length), { retryPolicy, content: { ...content, read } });
      await expect(sent).rejects.toMatchObject({
        code: "storage_unreachable",
        message: `The storage at ${url} ${sentence}`,
      });
      expect(tries).toBe(6);
    }
  });
});

it("fails without retries when a storage is too slow", async () => {
  const { origin, tries } = await storage((request) => {
    request.on("data", () => {
      request.pause();
      setTimeout(() => request.resume(), 100);
    });
    return true;
  });
  const retryPolicy = { limit: { baseMs: 100, msPerKib: 200 / (CLIP.length / 1024) } };
  await expect(upload(partsOf(origin, CLIP.length), { retryPolicy })).rejects.toMatchObject({
    code: "storage_unreachable",
    message: "The storage did not accept a file, or a range of a file, within 1 min; use a faster storage.",
  });
  expect([...tries.values()]).toEqual([1]);
});

/** Statuses with which storages reject expired signatures. */
const MAY_BE_EXPIRED = new Set([400, 401, 403]);

describe("a rejection by the storage", () => {
  test.each([
    [403, "SignatureDoesNotMatch", "storage_denied"],
    [401, null, "storage_denied"],
    [404, "NoSuchBucket", "storage_bucket_not_found"],
    [404, "NoSuchUpload", "storage_unreachable"],
    [400, "EntityTooLarge", "storage_denied"],
    [501, "NotImplemented", "storage_denied"],
    [301, "PermanentRedirect", "storage_region_not_valid"],
    [307, "TemporaryRedirect", "storage_region_not_valid"],
  ])(
    "HTTP %i %s is %s, at once or after a new signature, and the message holds no URL",
    async (status, s3Code, code) => {
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
      const failure = await upload(partsOf(origin, CLIP.length)).catch((error: unknown) => error);
      expect(failure).toMatchObject({ name: "AppError", code });
      expect(String(failure)).toContain(s3Code ?? String(status));
      expect(String(failure)).not.toMatch(/0123abcd|127\.0\.0\.1/);
      expect([...tries.values()]).toEqual([MAY_BE_EXPIRED.has(status) ? 2 : 1]);
    },
  );

  it("stops the other parts when the storage rejects a part", async () => {
    const { origin, tries } = await storage((request, response) => {
      request.resume();
      if (request.url?.includes("partNumber=2&")) response.writeHead(403).end();
      return true;
    });
    await expect(upload(partsOf(origin, 500_000))).rejects.toMatchObject({ code: "storage_denied" });
    expect(tries.size).toBeLessThanOrEqual(4);
  });
});
