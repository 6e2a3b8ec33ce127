import { createScheduledController } from "cloudflare:test";
import { env, exports } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { MAX_UPLOAD_BYTES, PART_BYTES } from "#shared/api/uploads.ts";
import { InputSpec } from "#shared/request/input-section.ts";
import { findUpload, insertUpload } from "../../db/uploads.ts";
import worker from "../../index.ts";
import { settingsOf } from "../../settings.ts";
import { openUploadStore, storeForNew } from "../../storage/source-uploads/open-upload-store.ts";
import { keepForJob } from "../../storage/source-uploads/remove-uploads.ts";
import { signUploadGet } from "../../storage/source-uploads/upload-url.ts";
import { sourceUrl } from "../../storage/source-url.ts";
import { answerOf, basic, jobBody, newAccount, send, useAccount } from "../../testing/jobs.ts";

const DAY_MS = 24 * 60 * 60_000;
const account = useAccount();
const other = useAccount();

type Sent = { method?: string; body?: unknown; key?: string };
const ask = async (path: string, { method = "GET", body, key = account.key }: Sent = {}) =>
  await send(`/v2/uploads${path}`, { method, headers: basic(key), ...(body === undefined ? {} : { body }) });

/** R2's minimum size of all parts but the last. Uploads use ten times this size. */
const PART = 5 * 2 ** 20;
const [A, B, X] = ["a".repeat(PART), "b".repeat(PART), "x".repeat(PART)];
/** A file of two full parts and a short part. */
const FILE = [A, B, "cc"];

/** Starts the upload of a file in such parts. */
async function begin(file: readonly string[], store = "bucket"): Promise<string> {
  const size = file.join("").length;
  const created = await ask("", { method: "POST", body: { name: "my clip.mov", size } });
  expect(created.status).toBe(201);
  const { id } = created.body;
  if (store === "scratch") {
    const multipartId = await openUploadStore("scratch", env).begin(id);
    await env.DB.prepare("UPDATE uploads SET store = 'scratch', multipart_id = ? WHERE id = ?")
      .bind(multipartId, id)
      .run();
  }
  await env.DB.prepare("UPDATE uploads SET part_bytes = ? WHERE id = ?").bind(PART, id).run();
  return id;
}

async function put(id: string, number: number | string, body: string | ReadableStream, headers = {}) {
  const response = await exports.default.fetch(
    new Request(`https://copra.test/v2/uploads/${id}/parts/${number}`, {
      method: "PUT",
      headers: { ...basic(account.key), ...headers },
      body,
    }),
  );
  return answerOf(response);
}

/** A completed upload. */
async function uploaded(file: readonly string[], store = "bucket"): Promise<string> {
  const id = await begin(file, store);
  for (const [at, part] of file.entries()) await put(id, at + 1, part);
  expect((await ask(`/${id}/complete`, { method: "POST" })).body.status).toBe("completed");
  return id;
}

const rowOf = (id: string) =>
  env.DB.prepare("SELECT expires_at AS expiresAt, status, jobs FROM uploads WHERE id = ?")
    .bind(id)
    .first<{ expiresAt: number; status: string; jobs: string }>();

/** Sweeps after the upload has expired. */
async function sweepAfterExpiry(id: string): Promise<void> {
  await env.DB.prepare("UPDATE uploads SET expires_at = 1 WHERE id = ?").bind(id).run();
  await worker.scheduled(createScheduledController({ cron: "*/2 * * * *" }), env);
}

const base64 = async (algorithm: string, text: string): Promise<string> =>
  btoa(String.fromCharCode(...new Uint8Array(await crypto.subtle.digest(algorithm, new TextEncoder().encode(text)))));

describe("an upload", () => {
  it("accepts parts in any order and repeatedly, and completes when all parts are stored", async () => {
    const { status, body: created } = await ask("", { method: "POST", body: { name: "my clip.mov", size: 150e6 } });
    expect([status, created]).toEqual([
      201,
      {
        id: expect.stringMatching(/^[A-Za-z0-9]{20}$/),
        name: "my clip.mov",
        size: 150e6,
        part_size: 64 * 2 ** 20,
        status: "open",
        parts: [],
        created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:]{8}\.\d{3}Z$/),
        expires_at: new Date(Date.parse(created.created_at) + DAY_MS).toISOString(),
      },
    ]);
    const id = await begin(FILE);
    expect(await put(id, 3, "cc")).toMatchObject({
      status: 200,
      body: { number: 3, size: 2, etag: expect.any(String) },
    });
    await put(id, 1, X);
    const { body: early } = await ask(`/${id}/complete`, { method: "POST" });
    expect(early).toMatchObject({ error_code: "upload_state_conflict", message: "Parts are not stored: 2" });
    const first = await put(id, 1, A);
    const second = await put(id, 2, B);
    const parts = [first.body, second.body, { number: 3, size: 2, etag: expect.any(String) }];
    expect((await ask(`/${id}`)).body).toMatchObject({ id, status: "open", parts });
    for (const _ of ["once", "again"]) {
      const done = await ask(`/${id}/complete`, { method: "POST" });
      expect(done).toMatchObject({ status: 200, body: { id, status: "completed", parts } });
    }
    expect(await put(id, 1, "aaaa")).toMatchObject({ status: 409, body: { error_code: "upload_state_conflict" } });
    expect((await (await env.STORAGE?.get(`uploads/${id}`))?.text()) === FILE.join("")).toBe(true);
  });

  it("completes an upload once, although the first response was lost", async () => {
    const id = await uploaded([A, "bb"]);
    await env.DB.prepare("UPDATE uploads SET status = 'open' WHERE id = ?").bind(id).run();
    expect((await ask(`/${id}/complete`, { method: "POST" })).body.status).toBe("completed");
  });

  it("cannot complete an upload when the storage has another version of a part", async () => {
    const id = await begin(["aaaa"]);
    await put(id, 1, "aaaa");
    await env.DB.prepare("UPDATE upload_parts SET etag = 'lost' WHERE upload_id = ?").bind(id).run();
    expect(await ask(`/${id}/complete`, { method: "POST" })).toMatchObject({
      status: 409,
      body: { error_code: "upload_state_conflict", message: expect.stringContaining("lost a part") },
    });
  });

  it("stores no part of another length", async () => {
    const id = await begin(FILE);
    for (const [number, body] of [
      [1, "aaa"],
      [1, "aaaaa"],
      [3, "cccc"],
    ] as const) {
      const { status, body: error } = await put(id, number, body);
      expect([status, error.error_code]).toEqual([400, "upload_part_not_valid"]);
      expect(error.message).toMatch(/must have exactly (?:5242880|2) bytes, and the request has \d/);
    }
    const stream = new Response("aaaa").body;
    if (!stream) throw new Error("There is no stream");
    const unknown = new TransformStream();
    void stream.pipeTo(unknown.writable);
    expect((await put(id, 1, unknown.readable)).body.message).toMatch(/the request has no Content-Length/);
    for (const number of ["0", "4", "x", "1.5", "-1"]) {
      expect((await put(id, number, "aaaa")).body).toMatchObject({
        error_code: "upload_part_not_valid",
        message: "The number of the part must be from 1 to 3",
      });
    }
    expect((await ask(`/${id}`)).body.parts).toEqual([]);
  });

  it("stores only a part that matches its digest", async () => {
    const id = await begin(["aaaa"]);
    const md5 = { "content-md5": await base64("MD5", "aaaa") };
    const sha256 = { "content-digest": `sha-256=:${await base64("SHA-256", "aaaa")}:` };
    for (const headers of [md5, sha256]) {
      expect((await put(id, 1, "aaaa", headers)).status).toBe(200);
      const { etag } = (await ask(`/${id}`)).body.parts[0];
      const wrong = await put(id, 1, "aaab", headers);
      expect(wrong).toMatchObject({ status: 400, body: { error_code: "upload_part_not_valid" } });
      expect((await ask(`/${id}`)).body.parts).toEqual([{ number: 1, size: 4, etag }]);
    }
    expect((await put(id, 1, "aaaa", { "content-md5": "short" })).body.message).toMatch(/`content-md5` must be/);
    expect((await put(id, 1, "aaaa", { "content-digest": "md5=:x:" })).body.message).toMatch(/`content-digest` must/);
    await put(id, 1, "aaaa");
    expect((await ask(`/${id}/complete`, { method: "POST" })).status).toBe(200);
    expect(await (await env.STORAGE?.get(`uploads/${id}`))?.text()).toBe("aaaa");
  });

  it("stores nothing of a large part that does not match its digest", async () => {
    const id = await begin([A, "bb"]);
    const headers = { "content-md5": await base64("MD5", A) };
    expect((await put(id, 1, X, headers)).body.error_code).toBe("upload_part_not_valid");
    expect((await ask(`/${id}`)).body.parts).toEqual([]);
    expect((await put(id, 1, A, headers)).status).toBe(200);
  });

  it("rejects a part that arrives after the end of the upload", async () => {
    const id = await begin([A, "bb"]);
    const { readable, writable } = new FixedLengthStream(2);
    const writer = writable.getWriter();
    const late = put(id, 2, readable);
    await writer.write(new TextEncoder().encode("b"));
    expect((await ask(`/${id}`, { method: "DELETE" })).status).toBe(200);
    await writer.write(new TextEncoder().encode("b"));
    await writer.close();
    // The code depends on whether the upload's row still exists.
    expect((await late).body.error_code).toMatch(/^upload_(?:state_conflict|not_found)$/);
    const parts = env.DB.prepare("SELECT * FROM upload_parts WHERE upload_id = ?").bind(id);
    expect((await parts.all()).results).toEqual([]);
  });

  it("requires a storage of the service for uploads", () => {
    const { STORAGE: _, ...withScratch } = env;
    expect([storeForNew(env), storeForNew(withScratch)]).toEqual(["bucket", "scratch"]);
    const names = Object.entries(withScratch).filter(([name]) => !name.startsWith("SCRATCH_"));
    const without = Object.fromEntries(names) as typeof withScratch;
    expect(() => storeForNew(without)).toThrow(/takes no uploads: its operator must bind/);
  });

  it("accepts full parts of 64 MiB", async () => {
    const { body } = await ask("", { method: "POST", body: { name: "a", size: PART_BYTES + 1 } });
    const megabyte = new Uint8Array(2 ** 20).fill(7);
    const { readable, writable } = new FixedLengthStream(PART_BYTES);
    const writing = (async () => {
      const writer = writable.getWriter();
      for (let at = 0; at < 64; at++) await writer.write(megabyte);
      await writer.close();
    })();
    expect(await put(body.id, 1, readable)).toMatchObject({ status: 200, body: { size: PART_BYTES } });
    await writing;
    await put(body.id, 2, "z");
    expect((await ask(`/${body.id}/complete`, { method: "POST" })).status).toBe(200);
    expect((await env.STORAGE?.head(`uploads/${body.id}`))?.size).toBe(PART_BYTES + 1);
  });

  it.each<[body: unknown, message: RegExp]>([
    [{ size: 1 }, /`name` is missing/],
    [{ name: "", size: 1 }, /`name` must not be empty/],
    [{ name: "a".repeat(256), size: 1 }, /`name` must have at most 255/],
    [{ name: "a\u001b[2J", size: 1 }, /`name` must not contain control characters or line ends/],
    [{ name: "a\u0000b", size: 1 }, /`name` must not contain control characters/],
    [{ name: "a\u2028b", size: 1 }, /`name` must not contain control characters/],
    [{ name: "a" }, /`size` is missing/],
    [{ name: "a", size: 0 }, /`size` must be the size of the file in bytes/],
    [{ name: "a", size: "1" }, /`size`/],
    [{ name: "a", size: MAX_UPLOAD_BYTES + 1 }, /`size`.*from 1 to 671088640000/],
    [{ name: "a", size: 1, type: "video" }, /no field `type`/],
  ])("row %#: rejects an invalid new upload", async (body, message) => {
    const { status, body: error } = await ask("", { method: "POST", body });
    expect([status, error.error_code]).toEqual([400, "request_not_valid"]);
    expect(error.message).toMatch(message);
  });

  it("hides an upload from other accounts", async () => {
    const id = await uploaded(["aaaa"]);
    const key = other.key;
    for (const [method, path] of [
      ["GET", ""],
      ["POST", "/complete"],
      ["DELETE", ""],
    ] as const) {
      const { status, body } = await ask(`/${id}${path}`, { method, key });
      expect([status, body.error_code]).toEqual([404, "upload_not_found"]);
    }
    expect((await put(id, 1, "aaaa", basic(key))).body.error_code).toBe("upload_not_found");
    expect((await ask("", { key })).body).toEqual({ uploads: [], next_cursor: null });
    expect((await send(`/v2/uploads/${id}`)).status).toBe(401);
    expect((await put(id, 1, "aaaa", { authorization: "" })).status).toBe(401);
    const input = { upload: id };
    const refused = await send("/v2/jobs", { method: "POST", body: jobBody({ input }), headers: basic(key) });
    expect(refused.body).toMatchObject({
      error_code: "input_not_valid",
      message: "`input.upload`: the account has no upload with this id, or it was removed",
    });
  });

  it("lists uploads, newest first, in pages", async () => {
    const mine = await newAccount();
    const ids: string[] = [];
    for (let at = 0; at < 3; at++) {
      ids.push((await ask("", { method: "POST", body: { name: `${at}`, size: 1 }, key: mine.key })).body.id);
      await env.DB.prepare("UPDATE uploads SET created_at = ? WHERE id = ?")
        .bind(1000 + at, ids[at])
        .run();
    }
    const first = await ask("?limit=2", { key: mine.key });
    expect(first.body.uploads.map(({ id }: { id: string }) => id)).toEqual([ids[2], ids[1]]);
    const second = await ask(`?limit=2&cursor=${first.body.next_cursor}`, { key: mine.key });
    expect(second.body).toMatchObject({ uploads: [{ id: ids[0], name: "0" }], next_cursor: null });
    for (const query of ["?limit=0", "?cursor=x", "?status=open"]) {
      expect((await ask(query)).body.error_code).toBe("query_not_valid");
    }
  });

  it("rejects an upload of an account that already has 1000 uploads", async () => {
    const mine = await newAccount();
    await env.DB.prepare(
      `INSERT INTO uploads (id, account_id, name, size_bytes, part_bytes, status, store, multipart_id, created_at, expires_at)
       WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000)
       SELECT ?1 || printf('%06d', i), ?1, '', 1, 1, 'open', 'bucket', '', 1, 9e12 FROM n`,
    )
      .bind(mine.id)
      .run();
    const { status, body, headers } = await ask("", { method: "POST", body: { name: "a", size: 1 }, key: mine.key });
    expect([status, body.error_code, headers.get("retry-after")]).toEqual([429, "too_many_uploads", "10"]);
  });
});

it("limits all uploads of an account to 1 TB, also when they start at the same time", async () => {
  const mine = await newAccount();
  const body = { name: "a", size: 400e9 };
  const sent = await Promise.all(Array.from({ length: 4 }, () => ask("", { method: "POST", body, key: mine.key })));
  expect(sent.map(({ status }) => status).sort()).toEqual([201, 201, 429, 429]);
  expect(sent.find(({ status }) => status === 429)?.body).toMatchObject({
    error_code: "too_many_uploads",
    message: expect.stringContaining("of 1000000000000 bytes together"),
  });
  const row = await findUpload(env.DB, mine.id, sent.find(({ status }) => status === 201)?.body.id, Date.now());
  if (!row) throw new Error("There is no upload");
  const next = { ...row, id: "n".repeat(20), sizeBytes: 200e9 };
  expect(await insertUpload(env.DB, { ...next, sizeBytes: 200e9 + 1 }, { count: 1000, bytes: 1e12 })).toBe(false);
  expect(await insertUpload(env.DB, next, { count: 2, bytes: 1e12 })).toBe(false);
  expect(await insertUpload(env.DB, next, { count: 3, bytes: 1e12 })).toBe(true);
});

describe.each(["bucket", "scratch"])("the source of a job in the %s", (store) => {
  it("serves the source by a signed URL, whole or in ranges, until the signature expires", async () => {
    const id = await uploaded(FILE, store);
    const input = InputSpec.parse({ kind: "upload", id, name: "clip", store, origin: "https://copra.test" });
    const url = await sourceUrl(input, null, settingsOf(env));
    const read = async (address: string, headers = {}) => {
      const request = new Request(address, { headers });
      return store === "bucket" ? await exports.default.fetch(request) : await fetch(request);
    };
    expect((await (await read(url)).text()) === FILE.join("")).toBe(true);
    // The owner also gets such a URL.
    const { body: view } = await ask(`/${id}`);
    expect((await (await read((view as { url: string }).url)).text()) === FILE.join("")).toBe(true);
    expect((await ask(`/${await begin(FILE, store)}`)).body).not.toHaveProperty("url");
    const range = await read(url, { range: "bytes=5242878-5242881" });
    expect([range.status, await range.text(), range.headers.get("content-range")]).toEqual([
      206,
      "aabb",
      "bytes 5242878-5242881/10485762",
    ]);
    const unsigned = await read(url.replace(/[?].*/, ""));
    expect(unsigned.status).toBe(403);
    await unsigned.body?.cancel();
    if (store === "bucket") {
      const expired = await signUploadGet({ id, name: "clip" }, Date.now() - 1, settingsOf(env).sealingKeys);
      expect((await read(`https://copra.test${expired}`)).status).toBe(403);
    }
    const changed = await read(url.replace(id, "A".repeat(20)));
    expect(changed.status).toBe(403);
    await changed.body?.cancel();
    expect((await ask(`/${id}`, { method: "DELETE" })).body).toMatchObject({ id, status: "completed" });
    const gone = await read(url);
    expect(gone.status).toBe(404);
    await gone.body?.cancel();
    expect(await rowOf(id)).toBeNull();
  });

  it("removes the source and its parts when the upload's time is over", async () => {
    const open = await begin(FILE, store);
    await put(open, 1, A);
    await sweepAfterExpiry(open);
    expect(await rowOf(open)).toBeNull();
    expect((await env.DB.prepare("SELECT * FROM upload_parts WHERE upload_id = ?").bind(open).all()).results).toEqual(
      [],
    );
    expect((await ask(`/${open}`)).status).toBe(404);
    const done = await uploaded(["aaaa"], store);
    await sweepAfterExpiry(done);
    expect(await rowOf(done)).toBeNull();
  });
});

describe("a job whose input is an upload", () => {
  const post = async (input: object, query = "") => await account.post(`/v2/jobs${query}`, jobBody({ input }));

  it("keeps the source of a job until the job has ended", async () => {
    const id = await uploaded(["aaaa"]);
    await env.DB.prepare("UPDATE uploads SET expires_at = ? WHERE id = ?")
      .bind(Date.now() + 60_000, id)
      .run();
    const { status, body: job } = await post({ upload: id });
    expect(status).toBe(201);
    expect((await rowOf(id))?.expiresAt).toBeGreaterThan(Date.now() + DAY_MS - 60_000);
    expect((await rowOf(id))?.jobs).toBe(JSON.stringify([job.id]));
    const refused = await ask(`/${id}`, { method: "DELETE" });
    expect([refused.status, refused.body.error_code]).toEqual([409, "upload_state_conflict"]);
    await sweepAfterExpiry(id);
    expect((await rowOf(id))?.expiresAt).toBeGreaterThan(Date.now() + DAY_MS - 60_000);
    const response = await account.get(`/v2/jobs?q=my clip.mov`);
    expect(response.body.jobs).toMatchObject([{ id: job.id }]);
    await account.delete(`/v2/jobs/${job.id}`);
    await expect.poll(async () => (await ask(`/${id}`, { method: "DELETE" })).status).toBe(200);
    expect(await findUpload(env.DB, account.id, id, Date.now())).toBeNull();
  });

  it.each([
    ["my clip.mov", /^https:\/\/copra\.test\/storage\/uploads\/\w{20}\/my%20clip\.mov$/],
    ["a/#?&é.mov", /\/a%2F%23%3F%26%C3%A9\.mov$/],
    ["..", /\/upload$/],
  ])("has a URL with the name %s of the file, which a job shows as its source", async (name, shown) => {
    const id = await uploaded(["aaaa"]);
    await env.DB.prepare("UPDATE uploads SET name = ? WHERE id = ?").bind(name, id).run();
    const { url } = (await ask(`/${id}`)).body;
    expect(await (await exports.default.fetch(new Request(url))).text()).toBe("aaaa");
    const { body: job } = await post({ url });
    expect(job.input.source).toMatch(shown);
  });

  it("keeps the source of a job while the job is being created", async () => {
    const id = await uploaded(["aaaa"]);
    await keepForJob(env.DB, id, "AAAAAAAAAAAAAA");
    expect((await ask(`/${id}`, { method: "DELETE" })).status).toBe(409);
    await env.DB.prepare("UPDATE uploads SET expires_at = expires_at - 600000 WHERE id = ?").bind(id).run();
    expect((await ask(`/${id}`, { method: "DELETE" })).status).toBe(200);
  });

  it("remembers the newest jobs of an upload", async () => {
    const id = await uploaded(["aaaa"]);
    const many = Array.from({ length: 500 }, (_, at) => `job-${at}`);
    await env.DB.prepare("UPDATE uploads SET jobs = ? WHERE id = ?").bind(JSON.stringify(many), id).run();
    const { body: job } = await post({ upload: id });
    expect(JSON.parse((await rowOf(id))?.jobs ?? "")).toEqual([...many.slice(1), job.id]);
  });

  it("plans a job from an upload like any other job", async () => {
    const id = await uploaded(["aaaa"]);
    const { status, body } = await post({ upload: id }, "?dry_run=true");
    expect([status, body.input]).toMatchObject([200, { kind: "upload", id, url: `upload://${id}/my%20clip.mov` }]);
    expect((await rowOf(id))?.jobs).toBe("[]");
  });

  it.each<[input: object, message: RegExp]>([
    [{ upload: "A".repeat(20) }, /^`input\.upload`: the account has no upload with this id/],
    [{ upload: 7 }, /^`input\.upload` must be a string/],
    [{ upload: "" }, /^`input\.upload` must be a string/],
    [{ upload: "a", url: "https://example.com/a.mp4" }, /^`input` has no field `url`; allowed: upload/],
  ])("row %#: rejects a job with an invalid upload", async (input, message) => {
    const { status, body } = await post(input);
    expect([status, body.error_code]).toEqual([400, "input_not_valid"]);
    expect(body.message).toMatch(message);
  });

  it("rejects a job before its upload is completed", async () => {
    const id = await begin(["aaaa"]);
    const { body } = await post({ upload: id });
    expect(body.message).toBe("`input.upload`: the upload is not completed");
  });
});
