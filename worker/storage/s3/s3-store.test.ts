import { env } from "cloudflare:workers";
import { describe, expect, inject, it } from "vitest";
import type { UploadPart } from "#shared/protocol/uploads.ts";
import { parseStorage } from "#shared/request/storage/storage-section.ts";
import { newSpec } from "../../testing/jobs.ts";
import { openStore, publicUrlOf } from "../open-store.ts";
import { isUploadLost } from "../storage-errors.ts";

const MIB = 2 ** 20;
const s3 = inject("s3");

/** The `storage` of a request, for the real S3 server that runs beside the tests. */
const local = (changes: object = {}) => ({
  service: "s3other",
  endpoint: s3.endpoint,
  bucket: "copra",
  force_path_style: true,
  credentials: { access_key_id: s3.accessKeyId, secret_access_key: s3.secretAccessKey },
  ...changes,
});

async function opened(storage: object) {
  const parsed = parseStorage(storage, "loopback");
  if (!parsed.ok) throw new Error(parsed.error.message);
  const spec = await newSpec({ storage });
  return { store: openStore(spec, parsed.value.keys, env), urlOf: (name: string) => publicUrlOf(spec, name) };
}

const file = (objectName: string, sizeBytes: number, cacheControl: string | null = null) => ({
  objectName,
  sizeBytes,
  cacheControl,
  contentType: "video/mp4",
  output: { key: "mp4", type: "video" as const },
});
const put = ({ url, headers, sizeBytes }: UploadPart): Promise<Response> =>
  fetch(url, { method: "PUT", headers, body: new Uint8Array(sizeBytes) });

const OPTIONS = {
  acl: "public-read",
  storage_class: "STANDARD",
  cache_control: "max-age=60, public",
  expires: "2026-10-21T07:28:00Z",
};
const SIGNED = {
  "content-type": "video/mp4",
  "cache-control": "max-age=60, public",
  expires: "Wed, 21 Oct 2026 07:28:00 GMT",
  "x-amz-acl": "public-read",
  "x-amz-storage-class": "STANDARD",
};

describe("a bucket of S3", () => {
  it("stores a small file with a single PUT, with all headers signed", async () => {
    const { store, urlOf } = await opened(local(OPTIONS));
    const wanted = file("store/a b+(1)ü.mp4", 1000);
    expect(await store.begin(wanted)).toBeNull();
    const [part] = await store.sign(wanted, null);
    if (!part) throw new Error("No part");
    expect(part.headers).toEqual(SIGNED);
    const signed = new URL(part.url).searchParams.get("X-Amz-SignedHeaders")?.split(";");
    expect(signed).toEqual(["content-length", "host", ...Object.keys(SIGNED)].sort());
    expect((await put({ ...part, headers: { ...part.headers, "x-amz-acl": "private" } })).status).toBe(403);
    expect((await put(part)).status).toBe(200);
    const got = await fetch(urlOf(wanted.objectName));
    expect([got.status, got.headers.get("content-type")]).toEqual([200, "video/mp4"]);
    expect(got.headers.get("cache-control")).toBe(SIGNED["cache-control"]);
    expect((await got.arrayBuffer()).byteLength).toBe(1000);
  });

  it("signs the session token of temporary keys with each request", async () => {
    const credentials = { ...local().credentials, session_token: "FwoGZXIvYXdzE==" };
    const { store } = await opened(local({ credentials }));
    const [part] = await store.sign(file("temporary.mp4", 1000), null);
    if (!part) throw new Error("No part");
    expect(new URL(part.url).searchParams.get("X-Amz-Security-Token")).toBe("FwoGZXIvYXdzE==");
    expect((await put({ ...part, url: part.url.replace("FwoGZXIv", "FwoGZXIw") })).status).toBe(403);
    expect((await put(part)).status).toBe(200);
  });

  it("stores a large file in parts, with the headers from the start, and can complete it twice", async () => {
    const { store, urlOf } = await opened(local(OPTIONS));
    const wanted = file("store/large.mp4", 17 * MIB);
    const uploadId = await store.begin(wanted);
    const parts = await store.sign(wanted, uploadId);
    expect(parts.map(({ headers, offset, sizeBytes }) => [headers, offset, sizeBytes])).toEqual([
      [{}, 0, 16 * MIB],
      [{}, 16 * MIB, MIB],
    ]);
    const etags = await Promise.all(parts.map(async (part) => (await put(part)).headers.get("etag") ?? ""));
    await store.complete(wanted, uploadId ?? "", etags);
    await store.complete(wanted, uploadId ?? "", etags);
    const got = await fetch(urlOf(wanted.objectName), { method: "HEAD" });
    expect([got.headers.get("content-length"), got.headers.get("cache-control")]).toEqual([
      String(17 * MIB),
      SIGNED["cache-control"],
    ]);
    const other = (await store.begin(wanted)) ?? "";
    await store.abort(wanted.objectName, other);
    await store.abort(wanted.objectName, other);
    await expect(store.complete({ ...wanted, sizeBytes: 18 * MIB }, other, etags)).rejects.toMatchObject({
      code: "storage_unreachable",
      serviceCode: "NoSuchUpload",
    });
  });

  it.each<[object, string | null]>([
    [{}, "public, max-age=60"],
    [{ cache_control: "no-cache" }, "no-cache"],
    [{ expires: "2030-01-01" }, null],
  ])("sets the file's Cache-Control unless the client sets one: %j", async (options, caching) => {
    const { store, urlOf } = await opened(local(options));
    const wanted = file("store/master.m3u8", 3, "public, max-age=60");
    const [part] = await store.sign(wanted, null);
    expect((await put(part as UploadPart)).status).toBe(200);
    expect((await fetch(urlOf(wanted.objectName))).headers.get("cache-control")).toBe(caching);
  });

  it("makes caches ask again for a playlist that grows, even if the client sets other headers", async () => {
    const { store } = await opened(local({ cache_control: "max-age=60", expires: "2030-01-01" }));
    const [part] = await store.sign({ ...file("store/live.m3u8", 3, "no-cache"), isGrowing: true }, null);
    expect(part?.headers).toMatchObject({ "cache-control": "no-cache" });
    expect(part?.headers).not.toHaveProperty("expires");
  });

  it("accepts only the signed size of a file or a part", async () => {
    const { store, urlOf } = await opened(local());
    const small = file("store/signed.mp4", 1000);
    const large = file("store/signed-large.mp4", 20 * MIB);
    const uploadId = await store.begin(large);
    const [whole] = await store.sign(small, null);
    const [, last] = await store.sign(large, uploadId);
    for (const part of [whole, last] as UploadPart[]) {
      for (const sizeBytes of [part.sizeBytes - 1, part.sizeBytes + 1, 0]) {
        expect((await put({ ...part, sizeBytes })).status).toBe(403);
      }
      expect((await put(part)).status).toBe(200);
    }
    expect((await fetch(urlOf(small.objectName), { method: "HEAD" })).headers.get("content-length")).toBe("1000");
    await store.abort(large.objectName, uploadId ?? "");
  });

  it("stores a file of any size with a single PUT when it has no parts", async () => {
    const { store, urlOf } = await opened(local());
    const [part, ...others] = await store.sign(file("store/00001.m4s", 40 * MIB), null);
    expect([part?.offset, part?.sizeBytes, others]).toEqual([0, 40 * MIB, []]);
    expect((await put(part as UploadPart)).status).toBe(200);
    const got = await fetch(urlOf("store/00001.m4s"), { method: "HEAD" });
    expect(got.headers.get("content-length")).toBe(String(40 * MIB));
  });

  it.each<[object, string]>([
    [{ secure: false }, "http://videos.s3.eu-west-1.amazonaws.com/v/a.mp4"],
    [{ secure: true }, "https://videos.s3.eu-west-1.amazonaws.com/v/a.mp4"],
  ])("shows URLs with the requested scheme, and sends requests by https: %j", async (changes, publicUrl) => {
    const { credentials } = local();
    const { store, urlOf } = await opened({
      service: "s3",
      region: "eu-west-1",
      bucket: "videos",
      path: "/v",
      credentials,
      ...changes,
    });
    expect(urlOf("a.mp4")).toBe(publicUrl);
    expect((await store.sign(file("a.mp4", 1), null))[0]?.url).toMatch(/^https:/);
  });
});

describe("a rejection by S3", () => {
  const LARGE = file("store/never.mp4", 20 * MIB);
  const begin = async (storage: object) => (await opened(storage)).store.begin(LARGE);

  it.each<[object, string, string]>([
    [{ bucket: "missing" }, "storage_bucket_not_found", "NoSuchBucket"],
    [
      { credentials: { access_key_id: "STRANGER", secret_access_key: "x" } },
      "storage_denied",
      "the access key id does not exist",
    ],
    [
      { credentials: { access_key_id: s3.accessKeyId, secret_access_key: "wrong" } },
      "storage_denied",
      "the secret does not match",
    ],
    [
      { endpoint: "http://127.0.0.1:9" },
      "storage_unreachable",
      "The storage at http://127.0.0.1:9 refuses connections",
    ],
  ])("reports the reason of a rejection by a real server: %j", async (changes, code, reason) => {
    const rejected = begin(local(changes));
    await expect(rejected).rejects.toMatchObject({ code, message: expect.stringContaining(reason) });
    await expect(rejected).rejects.not.toMatchObject({ message: expect.stringMatching(/Signature=|wrong"|AWS4/) });
  });

  const responding = (status: number, body: string, headers: Record<string, string> = {}) =>
    local({ endpoint: `${inject("answers")}/${encoded({ status, body, headers })}` });
  const encoded = (answer: object): string =>
    btoa(JSON.stringify(answer)).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
  const failed = (code: string): string => `<Error><Code>${code}</Code><Message>We are sorry.</Message></Error>`;
  const elsewhere =
    "<Error><Code>PermanentRedirect</Code><Message>The bucket you are attempting to access must be addressed using the " +
    "specified endpoint.</Message><Endpoint>copra.s3.eu-west-1.amazonaws.com</Endpoint><Bucket>copra</Bucket></Error>";
  const malformed =
    "<Error><Code>AuthorizationHeaderMalformed</Code><Message>The authorization header is malformed; the region " +
    "'us-east-1' is wrong; expecting 'eu-west-1'</Message><Region>eu-west-1</Region></Error>";
  const REGION = "the bucket is in eu-west-1, not in us-east-1";

  it.each<[number, string, Record<string, string>, string, string]>([
    [301, elsewhere, { location: "https://copra.s3.eu-west-1.amazonaws.com/" }, "storage_region_not_valid", REGION],
    [301, "", { "x-amz-bucket-region": "eu-west-1" }, "storage_region_not_valid", REGION],
    [400, malformed, {}, "storage_region_not_valid", REGION],
    [503, "<Error><Code>SlowDown</Code></Error>", {}, "storage_unreachable", "SlowDown"],
    [400, "<Error><Code>AccessControlListNotSupported</Code></Error>", {}, "storage_denied", "remove `storage.acl`"],
    [200, "<html>not S3 at all</html>", {}, "storage_unreachable", "did not start a multipart upload"],
  ])("reports the reason when an upload cannot be started (row %#)", async (status, body, headers, code, reason) => {
    const rejected = begin(responding(status, body, headers));
    await expect(rejected).rejects.toMatchObject({ code, message: expect.stringContaining(reason) });
  });

  it.each<[string, number, string, object, boolean]>([
    ["in the body of a success response", 200, failed("InternalError"), { serviceCode: "InternalError" }, false],
    [
      "when a success response ends in its blanks",
      200,
      "   ",
      { message: expect.stringMatching(/not confirm/) },
      false,
    ],
    ["for good: a part is lost", 400, failed("InvalidPart"), { serviceCode: "InvalidPart" }, true],
    ["for good: the upload is gone", 404, failed("NoSuchUpload"), { serviceCode: "NoSuchUpload" }, true],
  ])("reports that an upload cannot be completed: %s", async (_, status, body, expected, isLost) => {
    const { store } = await opened(responding(status, body));
    const error: unknown = await store.complete(LARGE, "id", ['"e"']).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: "storage_unreachable", ...expected });
    expect(isUploadLost(error)).toBe(isLost);
  });

  it.each<[string, number, string, string | null]>([
    ["has no permission", 403, failed("AccessDenied"), "storage_denied"],
    ["is unavailable", 503, failed("SlowDown"), "storage_unreachable"],
    ["has no such upload", 404, failed("NoSuchUpload"), null],
  ])(
    "reports that an upload is not aborted, unless the upload is gone: the storage %s",
    async (_, status, body, code) => {
      const { store } = await opened(responding(status, body));
      const result = await store.abort(LARGE.objectName, "id").catch(({ code }: { code: string }) => code);
      expect(result ?? null).toBe(code);
    },
  );
});
