import { createExecutionContext, evictDurableObject, listDurableObjectIds, runInDurableObject } from "cloudflare:test";
import { env, exports } from "cloudflare:workers";
import { describe, expect, it, vi } from "vitest";
import { unpackView } from "../../db/jobs/stored-view.ts";
import worker from "../../index.ts";
import { jobOf } from "../../rpc/job.ts";
import { basic, jobBody, newAccount, SECRET_KEY, send, useAccount } from "../../testing/jobs.ts";
import { measuredDatabase } from "../../testing/measured-database.ts";
import { loadState } from "../../testing/stored-state.ts";
import { ownKey, requireValidKey } from "./create/new-job.ts";

const account = useAccount();

const post = (body: unknown) => account.post("/v2/jobs", body);
const storage = (changes: Record<string, unknown>) => ({ ...(jobBody().storage as object), ...changes });
const countJobs = async () => (await env.DB.prepare("SELECT count(*) AS n FROM jobs").first<{ n: number }>())?.n;

describe("POST /v2/jobs", () => {
  it("returns 201 with the new job", async () => {
    const { status, headers, body } = await post(jobBody());
    expect(status).toBe(201);
    expect(headers.get("content-type")).toBe("application/json; charset=utf-8");
    expect(body).toEqual({
      id: expect.stringMatching(/^[A-Za-z0-9]{14}$/),
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d \+0000$/),
      completed_at: null,
      ends_at: null,
      status: "job.starting",
      state: "queued",
      progress: "0%",
      input: { status: "input.starting", source: "https://media.example.com/video.mp4" },
      outputs: [
        { key: "mp4:240p", type: "video", format: "mp4:240p", status: "video.waiting" },
        { key: "jpg:320x", type: "image", format: "jpg:320x", status: "image.waiting" },
      ],
    });
    const read = await account.get(`/v2/jobs/${body.id}/`);
    expect(read).toMatchObject({ status: 200, body: { id: body.id, status: "job.starting" } });
  });

  it("creates an output for each object of an array, with keys that count from 1", async () => {
    const outputs = {
      "mp4:240p": [{ path: "a.mp4" }, { path: "b.mp4", duration: 5 }],
      "jpg:100x100": { key: "thumb", path: "t.jpg" },
    };
    const { body } = await post(jobBody({ outputs }));
    expect(body.outputs.map(({ key }: { key: string }) => key)).toEqual(["mp4:240p:1", "mp4:240p:2", "thumb"]);
  });

  const output = (format: string, params: unknown) => ({ outputs: { [format]: params } });
  const video = (params: object) => output("mp4:240p", { path: "a.mp4", ...params });
  const s3 = (changes: Record<string, unknown>) => ({ storage: storage(changes) });
  const input = (changes: object) => ({ input: changes });
  const hook = (changes: object) => ({ notification: { type: "http", ...changes } });
  const SOURCE = { url: "http://127.0.0.1/a.mp4" };
  const MANY = Array.from({ length: 31 }, (_, i) => ({ path: `${i}.mp4` }));
  const BOTH_KEYS = /`access_key_id`.*`secret_access_key`/;
  const rejected: Record<string, [what: string, changes: Record<string, unknown>, message: RegExp][]> = {
    input_not_valid: [
      ["no input", { input: undefined }, /^The job 'input' is not a valid object\.$/],
      ["an input that is not an object", { input: "http://x" }, /'input'/],
      ["an unknown field of input", input({ url: "http://127.0.0.1/", key: "k" }), /`input` has no field `key`/],
      ["an input in a bucket without keys", input({ service: "s3" }), /input\.credentials/],
      ["a clip that starts before the input", input({ ...SOURCE, start: -1 }), /`input\.start` must be 0 or more/],
      ["a clip without a length", input({ ...SOURCE, start: 2, end: 2 }), /`input\.end` must be greater than/],
      ["a clip that ends at no time", input({ ...SOURCE, end: "late" }), /`input\.end` must be a number of seconds/],
    ],
    input_url_not_valid: [
      ["an input without url", input({}), /input\.url/],
      ["an input that is not a URL", input({ url: "video.mp4" }), /input\.url/],
      ["an input of another scheme", input({ url: "file:///etc/passwd" }), /http/],
      ["an input at a private address", input({ url: "http://169.254.169.254/" }), /input\.url/],
      ["a URL that is too long", input({ url: `http://127.0.0.1/${"a".repeat(9000)}` }), /8192/],
    ],
    storage_not_valid: [
      ["no storage", { storage: undefined }, /`storage`/],
      ["no bucket", s3({ bucket: undefined }), /storage\.bucket/],
      ["no endpoint", s3({ endpoint: undefined }), /storage\.endpoint/],
      ["an endpoint at a private address", s3({ endpoint: "http://10.0.0.1" }), /storage\.endpoint/],
      ["wasabi without region", s3({ service: "wasabi", region: undefined }), /storage\.region/],
      ["a path that climbs", s3({ path: "../other" }), /storage\.path/],
      ["a field of storage that is not known", s3({ colour: 1 }), /colour/],
    ],
    storage_service_not_valid: [["an unknown service", s3({ service: "ftp" }), /`ftp`.*s3, gcs.*s3other/]],
    storage_credentials_not_valid: [
      ["no secret key", s3({ credentials: { access_key_id: "a" } }), BOTH_KEYS],
      ["no credentials", s3({ credentials: undefined }), BOTH_KEYS],
      ["an empty key id", s3({ credentials: { access_key_id: "", secret_access_key: "b" } }), /`access_key_id`/],
    ],
    outputs_not_valid: [
      ["no outputs", { outputs: undefined }, /outputs/],
      ["empty outputs", { outputs: {} }, /outputs/],
      ["an empty array", output("mp4:240p", []), /outputs/],
    ],
    output_not_valid: [["an output that is not an object", output("mp4:240p", "a.mp4"), /outputs\.mp4:240p/]],
    outputs_out_of_range: [["31 outputs", output("mp4:240p", MANY), /30/]],
    output_format_not_valid: [
      ["an unknown container", output("mkw:240p", { path: "a" }), /`mkw`.*mp4/],
      ["an unknown preset", output("mp4:241p", { path: "a" }), /`241p`.*240p/],
      ["an endless format", output(`mp4${":".repeat(300)}`, { path: "a" }), /200/],
    ],
    output_param_not_valid: [
      ["an unknown parameter", video({ colour: 1 }), /mp4:240p.*colour/],
      ["an ill-typed parameter", video({ duration: "5s" }), /mp4:240p\.duration/],
      ["an infinite duration", video({ duration: 1e306 }), /duration.*604800/],
      ["a key that objects have", video({ key: "__proto__" }), /key/],
      ["no path", output("mp4:240p", {}), /mp4:240p\.path/],
      ["several images without a counter", output("jpg:100x", { path: "t.jpg", number: 3 }), /path.*%02d/],
      ["too many images", output("jpg:100x", { path: "%03d.jpg", number: 101 }), /number.*100/],
    ],
    output_key_not_unique: [
      ["one key twice", { outputs: { mp4: { key: "k", path: "a" }, mp3: { key: "k", path: "b" } } }, /`k`/],
    ],
    output_path_not_unique: [
      ["one object twice", { outputs: { mp4: { path: "/a/b" }, mp3: { path: "a//b" } } }, /`a\/b`/],
    ],
    notification_not_valid: [
      ["no notification", { notification: undefined }, /notification/],
      ["an unknown notification", hook({ type: "fax", url: "http://127.0.0.1/" }), /notification\.type/],
      ["a notification without url", hook({}), /notification\.url/],
      ["a notification to a private address", hook({ url: "http://192.168.1.1/" }), /notification\.url/],
    ],
    settings_not_valid: [["odd settings", { settings: { ultrafast: "yes" } }, /settings\.ultrafast/]],
  };
  it.each(Object.entries(rejected))("rejects a job with %s and the field, and stores nothing", async (code, cases) => {
    const before = await countJobs();
    for (const [what, changes, message] of cases) {
      const { status, body } = await post(jobBody(changes));
      const expected = { status: "error", error_code: code, message: expect.stringMatching(message) };
      expect([what, status, body]).toEqual([what, 400, expected]);
    }
    expect(await countJobs()).toBe(before);
  });

  it("reports the first invalid section in the order input, storage, outputs, notification, settings", async () => {
    expect((await post({})).body.error_code).toBe("input_not_valid");
    expect((await post({ input: { url: "http://127.0.0.1/a" } })).body.error_code).toBe("storage_not_valid");
    expect((await post(jobBody({ outputs: 1, notification: 1 }))).body.error_code).toBe("outputs_not_valid");
  });

  it("rejects bodies that are too large or no JSON object", async () => {
    const rows: [string, number, string][] = [
      ["", 400, "json_not_valid"],
      ["{", 400, "json_not_valid"],
      ["[]", 400, "json_not_valid"],
      ["\xff\xfe", 400, "json_not_valid"],
      [`{"input":"${"x".repeat(2 ** 20)}"}`, 413, "body_too_large"],
    ];
    for (const [raw, status, code] of rows) {
      const response = await send("/v2/jobs", { method: "POST", raw, headers: basic(account.key) });
      expect([response.status, response.body.error_code], raw.slice(0, 10)).toEqual([status, code]);
    }
  });

  it("returns 503, and stores nothing, while Backblaze is unavailable", async () => {
    const before = await countJobs();
    const credentials = { app_key_id: "id", app_key: SECRET_KEY };
    const { status, body } = await post(
      jobBody({ storage: { service: "backblaze", bucket_id: "e73ede9c9c8412db49f60715", credentials } }),
    );
    expect([status, body.error_code]).toEqual([503, "service_unavailable"]);
    expect(body.message).toMatch(/^The bucket cannot be looked up at Backblaze: it cannot be reached/);
    expect(await countJobs()).toBe(before);
  });

  it("keeps the secrets of storage and input out of the database", async () => {
    const credentials = { access_key_id: "AKID", secret_access_key: SECRET_KEY };
    const input = { service: "s3", bucket: "videos", region: "eu-west-1", key: "a.mp4", credentials };
    expect((await post(jobBody({ input }))).status).toBe(201);
    const tables = await env.DB.batch<Record<string, unknown>>(
      ["jobs", "accounts", "api_keys"].map((t) => env.DB.prepare(`SELECT * FROM ${t}`)),
    );
    const views = tables.flatMap(({ results }) => results.map(({ view }) => unpackView(String(view))));
    expect(views.join()).toContain("input.starting");
    const dump = JSON.stringify([tables, views]);
    expect(dump).not.toContain(SECRET_KEY);
    expect(dump).not.toContain(account.key);
    expect(dump).not.toContain(account.webhookSecret.slice(6));
  });
});

describe("POST /v2/jobs queries the database twice", () => {
  it.each([
    ["without an Idempotency-Key", {}],
    ["with one", { "idempotency-key": "twice" }],
  ])("%s", async (_, headers) => {
    const { db, work } = measuredDatabase(env.DB);
    const { key, get } = await newAccount();
    // Later requests within the hour do not write the last use of the key.
    await get("/v2/jobs");
    const init = { method: "POST", headers: { ...basic(key), ...headers }, body: JSON.stringify(jobBody()) };
    const request = new Request<unknown, IncomingRequestCfProperties>("https://copra.test/v2/jobs", init);
    const { status } = await worker.fetch(request, { ...env, DB: db }, createExecutionContext());
    // The queries read the key's account and insert the job's row.
    expect([status, work.calls]).toEqual([201, 2]);
  });
});

describe("GET /v2/jobs", () => {
  it("lists the jobs of an account, newest first, in pages", async () => {
    const authorization = basic((await newAccount()).key);
    const create = async () =>
      (await send("/v2/jobs", { method: "POST", body: jobBody(), headers: authorization })).body.id as string;
    const ids = [await create(), await create(), await create(), await create(), await create()];
    await send(`/v2/jobs/${ids[1]}`, { method: "DELETE", headers: authorization });
    const list = async (query: string) => (await send(`/v2/jobs${query}`, { headers: authorization })).body;
    const seen: string[] = [];
    let query = "?limit=2";
    for (let page = 0; page < 4; page++) {
      const { jobs, next_cursor } = await list(query);
      seen.push(...jobs.map((job: { id: string }) => job.id));
      if (next_cursor === null) break;
      query = `?limit=2&cursor=${next_cursor}`;
    }
    expect(seen.toSorted()).toEqual(ids.toSorted());
    expect(seen.at(-1)).toBe(ids[0]);
    expect((await list("")).jobs[0]).toMatchObject({ status: "job.starting", outputs: [{ key: "mp4:240p" }, {}] });
    await vi.waitFor(async () => {
      const aborted = await list("?status=job.aborted");
      expect(aborted).toMatchObject({ jobs: [{ id: ids[1], status: "job.aborted" }], next_cursor: null });
    });
  });

  const rows: [string, RegExp][] = [
    ["?limit=0", /`limit`.*1 to 100/],
    ["?limit=101", /`limit`.*1 to 100/],
    ["?limit=x", /`limit`/],
    ["?limit=0x10", /`limit`.*whole number/],
    ["?limit=1e1", /`limit`.*whole number/],
    ["?status=done", /`status`.*job\.completed/],
    ["?status=job.failed,", /`status`.*separated by commas/],
    ["?q=", /`q`.*1 to 200 characters/],
    [`?q=${"x".repeat(201)}`, /`q`.*1 to 200 characters/],
    ["?created_after=yesterday", /`created_after`.*2026-11-22.*ISO 8601/],
    ["?created_before=2026-13-01", /`created_before`.*ISO 8601/],
    ["?cursor=abc", /`cursor`.*next_cursor/],
    [
      "?colour=red",
      /^The query has no field `colour`; allowed: status, q, created_after, created_before, sort, limit, cursor$/,
    ],
  ];
  it.each(rows)("rejects the query %s", async (query, message) => {
    const { status, body } = await account.get(`/v2/jobs${query}`);
    expect([status, body]).toEqual([
      400,
      { status: "error", error_code: "query_not_valid", message: expect.stringMatching(message) },
    ]);
  });
});

describe("a response that was read before", () => {
  const read = async (path: string, key: string, etag: string) => {
    const headers = { ...basic(key), "if-none-match": `"other", ${etag}` };
    const response = await exports.default.fetch(new Request(`https://copra.test${path}`, { headers }));
    return { status: response.status, text: await response.text(), etag: response.headers.get("etag") };
  };

  it.each(["/v2/jobs/:id", "/v2/jobs"])(
    "of %s is 304 until it changes, and never for another account",
    async (route) => {
      const [own, other] = [await newAccount(), await newAccount()];
      const { body } = await send("/v2/jobs", { method: "POST", body: jobBody(), headers: basic(own.key) });
      const path = route.replace(":id", body.id);
      let etag = "";
      // The row of a new job changes once more, when the hub has no node for the job.
      await vi.waitFor(async () => {
        const { headers } = await send(path, { headers: basic(own.key) });
        etag = headers.get("etag") ?? "";
        expect([etag.slice(0, 2), headers.get("cache-control")]).toEqual(["W/", "private, no-cache"]);
        expect(await read(path, own.key, etag)).toEqual({ status: 304, text: "", etag });
      });
      expect((await read(path, other.key, etag)).status).toBe(route === "/v2/jobs" ? 200 : 404);
      await send(`/v2/jobs/${body.id}`, { method: "DELETE", headers: basic(own.key) });
      await vi.waitFor(async () => {
        const changed = await read(path, own.key, etag);
        expect([changed.status, changed.text]).toEqual([200, expect.stringContaining("job.aborted")]);
      });
    },
  );

  it("comes from the row of a job that its object has forgotten", async () => {
    const { body } = await post(jobBody());
    const path = `/v2/jobs/${body.id}`;
    const read = async () => (await send(path, { headers: basic(account.key) })).body.status;
    expect(await read()).toBe("job.starting");
    await send(path, { method: "DELETE", headers: basic(account.key) });
    await vi.waitFor(async () => {
      const row = await env.DB.prepare("SELECT status FROM jobs WHERE id = ?").bind(body.id).first("status");
      expect(row).toBe("job.aborted");
    });
    await runInDurableObject(jobOf(env, body.id), (_, { storage }) => storage.deleteAll());
    await evictDurableObject(jobOf(env, body.id));
    expect(await read()).toBe("job.aborted");
  });

  it("creates no object for a job that the account does not have", async () => {
    const { body } = await post(jobBody());
    const objects = (await listDurableObjectIds(env.JOB)).length;
    const other = await newAccount();
    for (const [id, key] of [
      ["3t0w8tTDNr5KUu", account.key],
      [body.id, other.key],
    ]) {
      expect((await send(`/v2/jobs/${id}`, { headers: basic(key) })).status).toBe(404);
    }
    expect((await listDurableObjectIds(env.JOB)).length).toBe(objects);
  });
});

describe("Idempotency-Key", () => {
  const postAs = (key: string, body: unknown, who = account.key) =>
    send("/v2/jobs", { method: "POST", body, headers: { ...basic(who), "idempotency-key": key } });

  it("creates a single job for a repeated request", async () => {
    const [first, second] = await Promise.all([postAs("order-1", jobBody()), postAs("order-1", jobBody())]);
    expect([first.status, second.status, second.body]).toEqual([201, 201, first.body]);
    await account.delete(`/v2/jobs/${first.body.id}`);
    expect(await postAs("order-1", jobBody())).toMatchObject({ status: 201, body: first.body });
    expect((await postAs("order-1", jobBody(), (await newAccount()).key)).body.id).not.toBe(first.body.id);
  });

  it("rejects a key that is invalid, or that was used with another body", async () => {
    await postAs("order-2", jobBody());
    const other = await postAs("order-2", jobBody({ settings: { ultrafast: true } }));
    expect([other.status, other.body.error_code]).toEqual([409, "idempotency_key_reused"]);
    const odd = await postAs("x".repeat(256), jobBody());
    expect([odd.status, odd.body.error_code]).toEqual([400, "idempotency_key_not_valid"]);
  });

  it("is never the key of a job that the service creates", async () => {
    const { body: batch } = await send("/v2/jobs/batch", {
      method: "POST",
      body: { jobs: [jobBody()] },
      headers: { ...basic(account.key), "idempotency-key": "nightly" },
    });
    const keyRow = await env.DB.prepare("SELECT key FROM idempotency_keys WHERE job_id = ?")
      .bind(batch.jobs[0].id)
      .first<{ key: string }>();
    for (const key of [keyRow?.key ?? "", ownKey("upload-link", "a"), ownKey("ingest", "a")]) {
      expect(() => requireValidKey(key)).toThrow(/visible ASCII/);
    }
    for (const key of ["nightly/0", "upload-link/a", "ingest/a"]) {
      expect((await postAs(key, jobBody({ settings: { ultrafast: true } }))).status).toBe(201);
    }
    expect((await postAs("nightly 0", jobBody())).body.error_code).toBe("idempotency_key_not_valid");
  });

  it("forgets an Idempotency-Key after a day", async () => {
    const { body: first } = await postAs("order-3", jobBody());
    await env.DB.prepare("UPDATE idempotency_keys SET created_at = created_at - 86400001 WHERE key = 'order-3'").run();
    expect((await postAs("order-3", jobBody())).body.id).not.toBe(first.id);
  });
});

describe("settings.start_at", () => {
  it("shows the time in the job and in lists, and the job can be cancelled before", async () => {
    const at = new Date(Date.now() + 29 * 24 * 60 * 60_000).toISOString();
    const { body: job } = await post(jobBody({ settings: { start_at: at } }));
    const waiting_for = `${at.replace("T", " ").slice(0, 19)} +0000`;
    const authorization = basic(account.key);
    const read = async () => (await send(`/v2/jobs/${job.id}`, { headers: authorization })).body;
    const list = await send(`/v2/jobs?q=${job.id}`, { headers: authorization });
    for (const view of [job, await read(), list.body.jobs[0]])
      expect(view).toMatchObject({ state: "queued", waiting_for });
    const { body } = await send(`/v2/jobs/${job.id}/request`, { headers: authorization });
    expect(body.request.settings.start_at).toBe(at);
    expect((await send(`/v2/jobs/${job.id}`, { method: "DELETE", headers: authorization })).body.status).toBe(
      "job.aborted",
    );
    expect(await read()).not.toHaveProperty("waiting_for");
    const late = await post(jobBody({ settings: { start_at: "9999-01-01" } }));
    expect([late.status, late.body.error_code]).toEqual([400, "settings_not_valid"]);
  });
});

describe("PATCH /v2/jobs/:id", () => {
  const patch = (id: string, body: unknown, key = account.key) =>
    send(`/v2/jobs/${id}`, { method: "PATCH", body, headers: basic(key) });
  const first = { settings: { priority: 50 } };

  it("changes the priority of a job that has not ended", async () => {
    const { body: job } = await post(jobBody());
    expect(await patch(job.id, first)).toMatchObject({ status: 200, body: { id: job.id, state: "queued" } });
    const state = await runInDurableObject(jobOf(env, job.id), (_, { storage }) => loadState(storage));
    expect(state?.spec.settings).toMatchObject({ priority: 50 });
    await account.delete(`/v2/jobs/${job.id}`);
    expect(await patch(job.id, first)).toMatchObject({ status: 409, body: { error_code: "job_state_conflict" } });
  });

  it("rejects a change by another account than the job's", async () => {
    const { body: job } = await post(jobBody());
    expect((await patch(job.id, first, (await newAccount()).key)).status).toBe(404);
  });

  it.each([
    [{ settings: { priority: 51 } }, "`settings.priority` must be a whole number from -50 to 50"],
    [{ settings: { priority: "50" } }, "`settings.priority` must be a whole number"],
    [{ settings: { priority: 1, queue: "gpu" } }, "`settings` has no field `queue`"],
    [{ settings: { priority: 1 }, outputs: {} }, "has no field `outputs`; allowed: settings"],
    [{}, "must have `settings`, `tags` or both"],
  ])("rejects the change %j", async (body, message) => {
    const { body: job } = await post(jobBody());
    const refused = await patch(job.id, body);
    expect([refused.status, refused.body.error_code]).toEqual([400, "settings_not_valid"]);
    expect(refused.body.message).toContain(message);
  });
});

describe("DELETE /v2/jobs/:id", () => {
  it("cancels a job once", async () => {
    const { body: job } = await post(jobBody());
    const cancel = () => account.delete(`/v2/jobs/${job.id}`);
    const aborted = { id: job.id, status: "job.aborted", progress: "100%" };
    expect(await cancel()).toMatchObject({ status: 200, body: aborted });
    expect(await cancel()).toMatchObject({ status: 409, body: { error_code: "job_state_conflict" } });
    const read = await account.get(`/v2/jobs/${job.id}`);
    expect(read.body.outputs.map(({ status }: { status: string }) => status)).toEqual([
      "video.aborted",
      "image.aborted",
    ]);
  });

  it("rejects a cancellation by another account than the job's", async () => {
    const { body: job } = await post(jobBody());
    const stranger = basic((await newAccount()).key);
    expect((await send(`/v2/jobs/${job.id}`, { method: "DELETE", headers: stranger })).status).toBe(404);
    expect((await account.get(`/v2/jobs/${job.id}`)).body.status).toBe("job.starting");
  });
});

describe("POST /v2/jobs/:id/retry", () => {
  it("restarts an ended job, and returns the new status", async () => {
    const { body: job } = await post(jobBody());
    const authorization = basic(account.key);
    const request = (method: string, path = "") =>
      send(`/v2/jobs/${job.id}${path}`, { method, headers: authorization });
    expect(await request("POST", "/retry")).toMatchObject({ status: 409, body: { error_code: "job_state_conflict" } });
    await request("DELETE");
    await vi.waitFor(async () =>
      expect((await send("/v2/jobs?status=job.aborted", { headers: authorization })).body.jobs[0]?.id).toBe(job.id),
    );
    expect(await request("POST", "/retry")).toMatchObject({
      status: 200,
      body: { id: job.id, status: "job.starting", progress: "0%" },
    });
    expect(await request("GET")).toMatchObject({ status: 200, body: { status: "job.starting", completed_at: null } });
    const stranger = basic((await newAccount()).key);
    expect((await send(`/v2/jobs/${job.id}/retry`, { method: "POST", headers: stranger })).status).toBe(404);
  });
});

describe("/v2/jobs/:id/notifications", () => {
  it("returns the log of deliveries, and replays them", async () => {
    const { body: job } = await post(
      jobBody({ notification: { type: "http", url: "http://127.0.0.1:9/", events: true } }),
    );
    const authorization = basic(account.key);
    const log = async () => (await send(`/v2/jobs/${job.id}/notifications`, { headers: authorization })).body;
    expect(await log()).toEqual({ job_id: job.id, notifications: [] });
    await send(`/v2/jobs/${job.id}`, { method: "DELETE", headers: authorization });
    const tried = await vi.waitFor(async () => {
      const { notifications } = await log();
      expect(notifications[0]?.attempts).toBe(1);
      return notifications[0];
    });
    expect(tried).toMatchObject({
      id: expect.stringMatching(/^msg_/),
      event: "job.aborted",
      status: "due",
      created_at: expect.stringMatching(/ \+0000$/),
      next_attempt_at: expect.stringMatching(/ \+0000$/),
      last_result: expect.stringMatching(/^No response/),
    });
    const replay = (id: string, headers = authorization) =>
      send(`/v2/jobs/${job.id}/notifications/${id}/replay`, { method: "POST", headers });
    expect(await replay(tried.id)).toMatchObject({ status: 200, body: { id: tried.id, status: "due", attempts: 1 } });
    await vi.waitFor(async () => expect((await log()).notifications[0]?.attempts).toBe(2));
    expect(await replay("msg_other")).toMatchObject({ status: 404, body: { error_code: "notification_not_found" } });
    expect((await replay(tried.id, basic((await newAccount()).key))).status).toBe(404);
  });
});
