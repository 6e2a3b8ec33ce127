import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, inject, it } from "vitest";
import { basic, jobBody, NOWHERE, newAccount, SECRET_KEY, send, useAccount } from "../../testing/jobs.ts";
import { S3_STORAGE } from "../../testing/s3-storage.ts";

const account = useAccount();

const ask = (method: string, path: string, body?: unknown, key = account.key) =>
  send(`/v2${path}`, { method, body, headers: basic(key) });
const put = (name: string, body: unknown) => ask("PUT", `/storages/${name}`, body);
/** The plan of a job, whose storage is in the response. */
const plan = (storage: unknown, more: object = {}) =>
  ask("POST", "/jobs?dry_run=true", { ...jobBody(), storage, ...more });

describe("/v2/storages", () => {
  it("keeps one version of a storage, and returns it without its secrets", async () => {
    const created = await put("main", { ...NOWHERE, path: "first" });
    expect(created.status).toBe(201);
    const replaced = await put("main", { ...NOWHERE, path: "videos" });
    expect(replaced).toMatchObject({
      status: 200,
      body: {
        name: "main",
        created_at: expect.stringMatching(/ \+0000$/),
        storage: { service: "s3other", bucket: "bucket", path: "videos" },
        left_out: ["storage.credentials"],
      },
    });
    expect((await ask("GET", "/storages/main")).body).toEqual(replaced.body);
    const list = await ask("GET", "/storages");
    expect(list.body.storages).toEqual([{ name: "main", created_at: replaced.body.created_at }]);
    const { results } = await env.DB.prepare("SELECT * FROM templates").all();
    expect(results).toHaveLength(1);
    expect(JSON.stringify([created, replaced, list, results])).not.toContain(SECRET_KEY);
  });

  it("is no template, and no other account has it", async () => {
    await put("own", NOWHERE);
    expect((await ask("GET", "/templates")).body.templates).toEqual([]);
    expect((await ask("GET", "/templates/storage%2Fown")).status).toBe(404);
    expect((await plan(NOWHERE, { template: "storage/own" })).body.error_code).toBe("template_not_valid");
    const other = await newAccount();
    expect((await ask("GET", "/storages/own", undefined, other.key)).body.error_code).toBe("saved_storage_not_found");
    const job = { ...jobBody(), storage: { use: "own" } };
    expect((await ask("POST", "/jobs?dry_run=true", job, other.key)).body.error_code).toBe("saved_storage_not_found");
  });

  it.each([
    ["main", { ...NOWHERE, bucket: undefined }, "storage_not_valid", "`storage.bucket`"],
    ["main", { ...NOWHERE, use: 1 }, "storage_not_valid", "`storage.use` must be the name"],
    ["main", { ...NOWHERE, credentials: {} }, "storage_credentials_not_valid", "must both be defined"],
    ["a b", NOWHERE, "storage_not_valid", "The name of a storage must have"],
    ["main", [], "storage_not_valid", "must be an object"],
  ])("rejects %s with %o", async (name, body, code, text) => {
    expect(await put(encodeURIComponent(name), body)).toMatchObject({
      status: 400,
      body: { error_code: code, message: expect.stringContaining(text) },
    });
  });

  it("changes and copies a storage with its secrets, and drops them for another bucket", async () => {
    await put("first", { ...NOWHERE, path: "videos", cache_control: "max-age=60" });
    const copied = await put("second", { use: "first", path: "other", cache_control: null });
    expect(copied).toMatchObject({ status: 201, body: { name: "second", left_out: ["storage.credentials"] } });
    expect(copied.body.storage).toEqual({ ...copied.body.storage, bucket: "bucket", path: "other" });
    expect(copied.body.storage).not.toHaveProperty("cache_control");
    expect((await plan({ use: "second" })).status).toBe(200);
    expect(await put("second", { use: "second", bucket: "another" })).toMatchObject({
      status: 400,
      body: { message: expect.stringContaining("changes `storage.bucket`") },
    });
    expect((await put("second", { use: "nothing" })).body.error_code).toBe("saved_storage_not_found");
  });

  it("deletes a storage, whose jobs continue", async () => {
    await put("gone", NOWHERE);
    expect((await ask("DELETE", "/storages/gone")).body).toMatchObject({ name: "gone", storage: { bucket: "bucket" } });
    expect((await ask("DELETE", "/storages/gone")).status).toBe(404);
  });
});

describe("a job with a saved storage", () => {
  beforeAll(() => put("used", { ...NOWHERE, path: "videos" }));

  it.each<[object, object]>([
    [{ use: "used" }, { bucket: "bucket", path: "videos" }],
    [
      { use: "used", path: "other" },
      { bucket: "bucket", path: "other" },
    ],
    [
      { use: "used", path: null },
      { bucket: "bucket", path: "" },
    ],
    // The client's own keys may lead elsewhere.
    [
      { use: "used", bucket: "b2", credentials: NOWHERE.credentials },
      { bucket: "b2", path: "videos" },
    ],
  ])("stores with %o in %o", async (storage, planned) => {
    expect((await plan(storage)).body.storage).toMatchObject(planned);
  });

  it.each<[object, string, RegExp]>([
    [{ use: "used", bucket: "b2" }, "storage_credentials_not_valid", /not used.* changes `storage.bucket`\)$/],
    [{ use: "used", endpoint: "http://127.0.0.1:2" }, "storage_credentials_not_valid", /changes `storage.endpoint`\)$/],
    [{ use: "used", service: "s3" }, "storage_credentials_not_valid", /changes `storage.service`\)$/],
    [{ use: "used", colour: 1 }, "storage_not_valid", /no field `colour`.*\(saved storage `used`\)$/],
    [{ use: 7 }, "storage_not_valid", /`storage.use` must be the name/],
    [{ use: "nothing" }, "saved_storage_not_found", /no saved storage `nothing`/],
  ])("is rejected with %o: %s", async (storage, code, message) => {
    expect((await plan(storage)).body).toMatchObject({ error_code: code, message: expect.stringMatching(message) });
  });

  it("may have it from its template, whose own secrets do not go to another storage", async () => {
    await put("elsewhere", { ...NOWHERE, endpoint: "http://127.0.0.1:2" });
    await ask("PUT", "/templates/saved", { storage: { use: "used", path: "of-template" } });
    const change = { credentials: NOWHERE.credentials };
    await ask("PUT", "/templates/keys", { storage: { use: "used", ...change } });
    const job = { ...jobBody(), storage: undefined };
    const planned = await ask("POST", "/jobs?dry_run=true", { ...job, template: "saved" });
    expect(planned.body.storage).toMatchObject({ bucket: "bucket", path: "of-template" });
    const moved = { ...job, template: "keys", storage: { use: "elsewhere", colour: 1 } };
    expect((await ask("POST", "/jobs?dry_run=true", moved)).body).toMatchObject({
      error_code: "storage_not_valid",
      message: expect.stringContaining("template's secrets are not used, because the request changes `storage.use`"),
    });
  });

  it("may be one of a batch", async () => {
    const { input, outputs, notification } = jobBody();
    const batch = { defaults: { storage: { use: "used" }, outputs, notification }, jobs: [{ input }, { input }] };
    const { body } = await ask("POST", "/jobs/batch?dry_run=true", batch);
    expect(body.jobs).toEqual([{ valid: true }, { valid: true }]);
  });
});

describe("the test of a saved storage", () => {
  const { account: azure, container, key, endpoint } = inject("azure");
  const AZURE = { service: "azure", endpoint, container, credentials: { account: azure, api_key: key } };
  const summaryOf = async (body: object): Promise<string> => {
    await put("tried", body);
    const { body: result } = await ask("POST", "/storages/tried/test");
    return result.steps
      .map(({ step, status, error_code: code }: Record<string, string>) => `${step} ${code ?? status}`)
      .join(", ");
  };

  it("stores, reads and removes an object, and finds out if web pages may read it", async () => {
    expect(await summaryOf({ ...S3_STORAGE, path: "trial" })).toMatch(
      /^store passed, read passed, web \w+, remove passed$/,
    );
    expect(await summaryOf(AZURE)).toMatch(/^store passed, read passed, web \w+, remove passed$/);
  });

  it.each([
    ["wrong keys", { ...S3_STORAGE, credentials: { access_key_id: "x", secret_access_key: "y" } }, "storage_denied"],
    ["no such bucket", { ...S3_STORAGE, bucket: "nowhere" }, "storage_bucket_not_found"],
    ["no server", NOWHERE, "storage_unreachable"],
  ])("ends at the first step with %s", async (_, body, code) => {
    expect(await summaryOf(body)).toBe(`store ${code}, read skipped, web skipped, remove skipped`);
  });

  it("skips storages that the service cannot read", async () => {
    expect(await summaryOf({ url: "http://127.0.0.1:9/in" })).toMatch(/^store skipped, read skipped/);
  });
});
