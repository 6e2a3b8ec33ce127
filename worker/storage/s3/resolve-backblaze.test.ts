import { env } from "cloudflare:workers";
import { describe, expect, inject, it } from "vitest";
import type { BackblazeBucket } from "#shared/request/storage/storage-spec.ts";
import { resolveStorage } from "../resolve-storage.ts";
import { resolveBackblaze } from "./resolve-backblaze.ts";

const BUCKET_ID = "e73ede9c9c8412db49f60715";
const OPTIONS = { acl: null, storageClass: null, cacheControl: "no-store", expires: null };
const AT = { bucketId: BUCKET_ID, path: "v" };
const requested: BackblazeBucket = { kind: "backblaze", ...AT, options: OPTIONS, secure: true };
const keys = { accessKeyId: "0023ede9c9c84120000000001", secretAccessKey: "K002/secret+ü" };
/** `<key id>:<key>` in UTF-8. */
const BASIC = "Basic MDAyM2VkZTljOWM4NDEyMDAwMDAwMDAwMTpLMDAyL3NlY3JldCvDvA==";

/** A URL whose server sends this answer to every request. */
const at = (answer: object): string =>
  `${inject("answers")}/${btoa(JSON.stringify(answer)).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "")}`;
const json = (status: number, body: unknown) => ({ status, body: JSON.stringify(body) });
const problem = (status: number, code: string) => json(status, { status, code, message: "" });

type Changes = { buckets?: object[] | null; listed?: object; accountId?: string; s3ApiUrl?: string };
/** The answer of b2_authorize_account; `listed` is the answer of b2_list_buckets. */
const account = ({ buckets = null, listed = problem(500, "x"), accountId = "3ede9c9c8412", s3ApiUrl }: Changes = {}) =>
  json(200, {
    accountId,
    authorizationToken: "4_token",
    applicationKeyExpirationTimestamp: null,
    apiInfo: {
      storageApi: {
        absoluteMinimumPartSize: 5_000_000,
        apiUrl: at({ ...listed, authorization: "4_token" }),
        downloadUrl: "https://f002.backblazeb2.com",
        recommendedPartSize: 100_000_000,
        s3ApiUrl: s3ApiUrl ?? "https://s3.us-west-002.backblazeb2.com",
        allowed: { buckets, capabilities: ["listBuckets", "writeFiles"], namePrefix: null },
      },
    },
  });

const origin = "https://copra.test";
const resolve = (apiUrl: string) =>
  resolveStorage(requested, { env: { ...env, B2_API_URL: apiUrl }, origin, keys, account: { id: "a" } });

const mine = { id: BUCKET_ID, name: "my-videos" };
const listed = (...buckets: object[]) => json(200, { buckets });

describe("a bucket of Backblaze", () => {
  it.each<[string, object]>([
    ["from a key that is limited to it", account({ buckets: [{ id: "other", name: "x" }, mine] })],
    [
      "from the account's list",
      account({ listed: listed({ bucketId: BUCKET_ID, bucketName: "my-videos", revision: 1 }) }),
    ],
  ])("gets its name %s", async (_, answer) => {
    expect(await resolve(at({ ...answer, authorization: BASIC }))).toEqual({
      kind: "s3",
      endpoint: "https://s3.us-west-002.backblazeb2.com",
      region: "us-west-002",
      bucket: "my-videos",
      addressing: "path",
      path: "v",
      options: OPTIONS,
      secure: true,
    });
  });

  it("names the fields of an input", async () => {
    const resolved = (answer: object) =>
      resolveBackblaze(BUCKET_ID, keys, { apiUrl: at({ ...answer, authorization: BASIC }), section: "input" });
    expect(await resolved(account({ buckets: [mine] }))).toMatchObject({ bucket: "my-videos", region: "us-west-002" });
    for (const [answer, reason] of [
      [problem(401, "unauthorized"), "check `app_key_id` and `app_key` in `input.credentials`"],
      [account({ buckets: [{ id: "other", name: "x" }] }), "`input.bucket_id`: the application key is not valid"],
      [account({ listed: problem(401, "unauthorized") }), "The application key in `input.credentials` must have"],
    ] as const) {
      const message = expect.stringContaining(reason);
      await expect(resolved(answer)).rejects.toMatchObject({ code: "input_not_valid", message });
    }
  });

  it.each<[object, code: string, reason: string]>([
    [problem(401, "unauthorized"), "storage_credentials_not_valid", "check `app_key_id` and `app_key`"],
    [problem(400, "bad_request"), "storage_credentials_not_valid", "check `app_key_id` and `app_key`"],
    [account({ accountId: keys.accessKeyId }), "storage_credentials_not_valid", "master key"],
    [
      account({ buckets: [{ id: "other", name: "x" }] }),
      "storage_not_valid",
      "`storage.bucket_id`: the application key is not valid",
    ],
    [account({ buckets: [{ id: BUCKET_ID, name: null }] }), "storage_not_valid", "`storage.bucket_id`"],
    [account({ listed: listed() }), "storage_not_valid", "`storage.bucket_id`: there is no bucket"],
    [
      account({ listed: problem(400, "bad_bucket_id") }),
      "storage_not_valid",
      "`storage.bucket_id`: there is no bucket",
    ],
    [account({ listed: problem(401, "unauthorized") }), "storage_credentials_not_valid", "`listBuckets`"],
    [problem(403, "transaction_cap_exceeded"), "storage_not_valid", "HTTP 403"],
    [problem(503, "service_unavailable"), "service_unavailable", "it responded with HTTP 503"],
    [account({ listed: problem(429, "too_many_requests") }), "service_unavailable", "it responded with HTTP 429"],
    [json(200, { accountId: "v2" }), "service_unavailable", "is not valid"],
    [{ status: 200, body: "<html>" }, "service_unavailable", "is not valid"],
    [account({ buckets: [mine], s3ApiUrl: "https://backblaze.example.com" }), "service_unavailable", "has no region"],
  ])("fails to look up a bucket with a clear reason (row %#)", async (answer, code, reason) => {
    const refused = resolve(at(answer));
    await expect(refused).rejects.toMatchObject({ code, message: expect.stringContaining(reason) });
    await expect(refused).rejects.not.toMatchObject({ message: expect.stringMatching(/secret|4_token/) });
  });

  it("fails to look up a bucket while Backblaze is unreachable", async () => {
    await expect(resolve("http://127.0.0.1:9")).rejects.toMatchObject({
      code: "service_unavailable",
      message: expect.stringContaining("it cannot be reached"),
    });
  });
});
