import {
  createExecutionContext,
  createScheduledController,
  runDurableObjectAlarm,
  runInDurableObject,
  waitOnExecutionContext,
} from "cloudflare:test";
import { env, exports } from "cloudflare:workers";
import { describe, expect, it, vi } from "vitest";
import { UploadLink, UploadLinkList, UploadPayload } from "#shared/api/upload-links.ts";
import { verifyWebhook } from "../../../client/webhook.ts";
import worker from "../../index.ts";
import { accountOf } from "../../rpc/account.ts";
import { basic, failedWith, jobBody, newAccount, operator, send, useAccount } from "../../testing/jobs.ts";
import { measuredDatabase } from "../../testing/measured-database.ts";
import { receivedAt } from "../../testing/received.ts";
import { ask, linkNow, newLink, PAGE, storedText } from "../../testing/upload-links.ts";
import { app } from "../app.ts";

const account = useAccount();

const { input: _, ...JOB } = jobBody();

const post = (body: object, key = account.key) =>
  send("/v2/upload-links", { method: "POST", body, headers: basic(key) });
const jobs = async (): Promise<{ id: string }[]> => (await account.get("/v2/jobs")).body.jobs;

/** Sends a whole small file in one part. */
async function sendFile({ url }: UploadLink, content = "aaaa") {
  const file = { name: "clip.mov", size: content.length };
  expect((await ask(url, { method: "POST", json: file })).status).toBe(201);
  expect((await ask(`${url}/parts/1`, { method: "PUT", body: content })).status).toBe(200);
  return await ask(`${url}/complete`, { method: "POST" });
}

/** Sweeps after the links' next check. */
async function sweep(link: UploadLink, changes = ""): Promise<void> {
  await env.DB.prepare(`UPDATE upload_links SET check_at = 1 ${changes} WHERE id = ?`).bind(link.id).run();
  await worker.scheduled(createScheduledController({ cron: "*/2 * * * *" }), env);
}

/** The entries of an account's object. */
const storedIn = (accountId: string, prefix: string): Promise<{ attempts: number }[]> =>
  runInDurableObject(accountOf(env, accountId), (_, { storage }) =>
    [...storage.kv.list<{ attempts: number }>({ prefix })].map(([, entry]) => entry),
  );

/** Returns a function that makes an ended link as if its last request had been interrupted before its job started. */
async function interruption({ id }: UploadLink): Promise<() => Promise<unknown>> {
  const sealed = await env.DB.prepare("SELECT sealed FROM upload_links WHERE id = ?").bind(id).first("sealed");
  const undo = env.DB.prepare("UPDATE upload_links SET job_id = NULL, sealed = ? WHERE id = ?");
  return () => undo.bind(sealed, id).run();
}

describe("an upload link", () => {
  it("lets a page upload one file, and starts its job once", async () => {
    const link = await newLink(account.key, { name: "Holiday", job: JOB, expires_s: 600 });
    expect(UploadLink.parse(link)).toEqual(link);
    expect(link).toMatchObject({ status: "waiting", name: "Holiday", max_size: 100e6, upload: null, job: null });
    expect(Date.parse(link.expires_at) - Date.parse(link.created_at)).toBe(600_000);
    expect(link.tus_url).toBe(`${link.url}/tus`);
    const before = await jobs();
    const interrupt = await interruption(link);
    const done = await sendFile(link);
    expect(done).toMatchObject({ status: 200, body: { status: "completed", name: "Holiday", size: 4 } });
    expect(done.headers.get("access-control-allow-origin")).toBe(PAGE);
    const ended = await linkNow(account.key, link);
    expect(ended).toMatchObject({ status: "completed", job: expect.any(String), job_error: null });
    expect(ended.upload).toMatchObject({ id: done.body.id, status: "completed" });
    expect(await storedText(ended.upload?.id)).toBe("aaaa");
    for (const _ of ["again", "and again"]) {
      expect((await ask(`${link.url}/complete`, { method: "POST" })).status).toBe(200);
    }
    await interrupt();
    await sweep(link);
    expect((await linkNow(account.key, link)).job).toBe(ended.job);
    expect(await jobs()).toHaveLength(before.length + 1);
    expect(
      await env.DB.prepare("SELECT sealed FROM upload_links WHERE id = ?").bind(link.id).first("sealed"),
    ).toBeNull();
    const { body: request } = await account.get(`/v2/jobs/${ended.job}/request`);
    expect(request.request.input).toEqual({ upload: done.body.id });
  });

  it("starts one job when several requests complete the file at the same time", async () => {
    const before = await jobs();
    const link = await newLink(account.key, { job: JOB });
    await ask(link.url, { method: "POST", json: { name: "a", size: 4 } });
    await ask(`${link.url}/parts/1`, { method: "PUT", body: "aaaa" });
    const done = await Promise.all([1, 2, 3].map(() => ask(`${link.url}/complete`, { method: "POST" })));
    expect(done.map(({ status }) => status)).toEqual([200, 200, 200]);
    await expect.poll(async () => (await linkNow(account.key, link)).job).not.toBeNull();
    expect(await jobs()).toHaveLength(before.length + 1);
  });

  it("gives its tags to its job and its events", async () => {
    const job = { ...JOB, tags: { tenant: "b", order: "7" } };
    const link = await newLink(account.key, { job, tags: { tenant: "a", user: "x" } });
    expect(link.tags).toEqual({ tenant: "a", user: "x" });
    await sendFile(link);
    const { job: id } = await linkNow(account.key, link);
    const { body } = await account.get(`/v2/jobs/${id}`);
    expect(body.tags).toEqual({ tenant: "b", user: "x", order: "7" });
    const many = (from: number) => Object.fromEntries(Array.from({ length: 15 }, (_, at) => [`t${from + at}`, ""]));
    const refused = await post({ max_size: 1, tags: many(0), job: { ...JOB, tags: many(15) } });
    expect([refused.status, refused.body.error_code]).toEqual([400, "tags_not_valid"]);
  });

  it("starts the job of a template", async () => {
    const put = await account.put("/v2/templates/web", JOB);
    expect(put.status).toBe(201);
    const link = await newLink(account.key, { job: { template: "web" } });
    await sendFile(link);
    const { job } = await linkNow(account.key, link);
    expect((await account.get(`/v2/jobs/${job}`)).body.template).toBe("web@1");
    const unknown = await post({ max_size: 1, job: { template: "none" } });
    expect([unknown.status, unknown.body.error_code]).toEqual([404, "template_not_found"]);
  });

  it("gives the upload to jobs that its account creates", async () => {
    const link = await newLink(account.key);
    const { body: upload } = await sendFile(link);
    const created = await account.post("/v2/jobs", jobBody({ input: { upload: upload.id } }));
    expect(created.status).toBe(201);
    expect((await linkNow(account.key, link)).job).toBeNull();
  });

  it("continues the same file after a reload, and rejects another file", async () => {
    const link = await newLink(account.key);
    const file = { name: "clip.mov", size: 10 };
    expect((await ask(link.url)).body.error_code).toBe("upload_not_found");
    const first = await ask(link.url, { method: "POST", json: file });
    const again = await ask(link.url, { method: "POST", json: file });
    expect([first.status, again.status, again.body]).toEqual([201, 200, first.body]);
    expect(await linkNow(account.key, link)).toMatchObject({ status: "uploading", upload: { id: first.body.id } });
    for (const other of [
      { name: "clip.mov", size: 11 },
      { name: "other.mov", size: 10 },
    ]) {
      expect(await ask(link.url, { method: "POST", json: other })).toMatchObject(
        failedWith(409, "upload_state_conflict"),
      );
    }
    expect((await ask(link.url, { method: "DELETE" })).body.id).toBe(first.body.id);
    expect(await linkNow(account.key, link)).toMatchObject({ status: "waiting", upload: null });
    expect((await ask(link.url, { method: "POST", json: { name: "other.mov", size: 11 } })).status).toBe(201);
  });

  it("has one file when two tabs start at the same time", async () => {
    const link = await newLink(account.key);
    const file = { name: "clip.mov", size: 10 };
    const tabs = await Promise.all([1, 2, 3].map(() => ask(link.url, { method: "POST", json: file })));
    expect(new Set(tabs.map(({ body }) => body.id)).size).toBe(1);
    expect(tabs.map(({ status }) => status).sort()).toEqual([200, 200, 201]);
    const rows = await env.DB.prepare("SELECT id FROM uploads WHERE account_id = ? AND size_bytes = 10")
      .bind(account.id)
      .all();
    expect(rows.results.filter(({ id }) => id === tabs[0]?.body.id)).toHaveLength(1);
  });

  it("rejects a larger file and a file after the first", async () => {
    const link = await newLink(account.key, { max_size: 4 });
    expect(await ask(link.url, { method: "POST", json: { name: "a", size: 5 } })).toMatchObject({
      status: 413,
      body: { error_code: "body_too_large", message: expect.stringContaining("accepts 4") },
    });
    await sendFile(link);
    for (const [method, path, json] of [
      ["POST", "", { name: "b", size: 2 }],
      ["PUT", "/parts/1", undefined],
      ["DELETE", "", undefined],
    ] as const) {
      const sent = { method, ...(json ? { json } : method === "PUT" ? { body: "bbbb" } : {}) };
      expect((await ask(link.url + path, sent)).body.error_code).toBe("upload_state_conflict");
    }
    expect((await ask(link.url)).body).toMatchObject({ status: "completed" });
    expect((await ask(link.url)).body).not.toHaveProperty("url");
  });

  it("serves only pages of its origins, and programs outside browsers", async () => {
    const link = await newLink(account.key);
    const preflight = { "access-control-request-method": "PUT", "access-control-request-headers": "content-md5" };
    const allowed = await ask(`${link.url}/parts/1`, { method: "OPTIONS", headers: preflight });
    expect(allowed.status).toBe(204);
    expect(Object.fromEntries(allowed.headers)).toMatchObject({
      "access-control-allow-origin": PAGE,
      "access-control-allow-methods": expect.stringContaining("PUT, PATCH, DELETE"),
      "access-control-allow-headers": expect.stringContaining("content-md5"),
      "access-control-max-age": "7200",
      vary: "Origin",
    });
    expect(allowed.headers.has("access-control-allow-credentials")).toBe(false);
    for (const [method, origin] of [
      ["OPTIONS", "https://evil.example.com"],
      ["POST", "https://evil.example.com"],
      ["GET", "null"],
      ["POST", "http://app.example.com"],
    ] as const) {
      const refused = await ask(link.url, { method, headers: { origin } });
      expect([refused.status, refused.body.error_code]).toEqual([403, "cross_site_request"]);
      expect(refused.headers.has("access-control-allow-origin")).toBe(false);
    }
    expect((await linkNow(account.key, link)).last_refused_origin).toBe("http://app.example.com");
    const closed = await newLink(account.key, { origins: [] });
    expect((await ask(closed.url)).status).toBe(403);
    const program = await send(new URL(closed.url).pathname, { method: "POST", body: { name: "a", size: 1 } });
    expect(program.status).toBe(201);
  });

  it("needs its exact URL", async () => {
    const link = await newLink(account.key);
    const other = await newLink(account.key);
    const token = link.url.split("/").at(-1) ?? "";
    const forged = other.id + token.slice(20);
    const changed = token.slice(0, -1) + (token.endsWith("0") ? "1" : "0");
    for (const wrong of [forged, changed, other.id, "x", token.toUpperCase()]) {
      for (const [method, path] of [
        ["OPTIONS", ""],
        ["GET", ""],
        ["POST", ""],
        ["DELETE", ""],
        ["PUT", "/parts/1"],
        ["POST", "/complete"],
        ["POST", "/tus"],
        ["PATCH", "/tus/x"],
      ] as const) {
        const refused = await ask(`https://copra.test/v2/links/${wrong}${path}`, { method });
        expect([wrong, method, path, refused.status]).toEqual([wrong, method, path, 404]);
        expect(refused.body.error_code).toBe("upload_link_not_found");
      }
    }
  });

  it("hides itself from other accounts and without an API key", async () => {
    const link = await newLink(account.key);
    const other = await newAccount();
    for (const method of ["GET", "DELETE"]) {
      const hidden = await other.request(method, `/v2/upload-links/${link.id}`);
      expect([hidden.status, hidden.body.error_code]).toEqual([404, "upload_link_not_found"]);
      expect((await send(`/v2/upload-links/${link.id}`, { method })).status).toBe(401);
    }
    expect((await send("/v2/upload-links", { method: "POST", body: { max_size: 1 } })).status).toBe(401);
  });
});

describe("the end of an upload link", () => {
  const ENDED = [
    ["POST", ""],
    ["GET", ""],
    ["PUT", "/parts/1"],
    ["POST", "/complete"],
    ["DELETE", ""],
  ] as const;
  const rejections = async (link: UploadLink) => {
    const answers = ENDED.map(([method, path]) =>
      ask(link.url + path, { method, ...(method === "POST" && path === "" ? { json: { name: "a", size: 4 } } : {}) }),
    );
    return (await Promise.all(answers)).map(({ status, body }) => `${status} ${body.error_code}`);
  };
  const GONE = ENDED.map(() => "410 upload_link_ended");

  it("revokes a link, and removes its unfinished file", async () => {
    const link = await newLink(account.key);
    const { body: upload } = await ask(link.url, { method: "POST", json: { name: "a", size: 4 } });
    for (const _ of ["once", "again"]) {
      const revoked = await account.delete(`/v2/upload-links/${link.id}`);
      expect(revoked).toMatchObject({ status: 200, body: { id: link.id, status: "revoked" } });
    }
    expect(await rejections(link)).toEqual(GONE);
    expect((await account.get(`/v2/uploads/${upload.id}`)).status).toBe(404);
  });

  it("cannot revoke a link whose file is complete", async () => {
    const link = await newLink(account.key);
    await sendFile(link);
    const refused = await account.delete(`/v2/upload-links/${link.id}`);
    expect([refused.status, refused.body.error_code]).toEqual([409, "upload_state_conflict"]);
  });

  it("expires at its time, and a sweep removes the unfinished file", async () => {
    const link = await newLink(account.key);
    const { body: upload } = await ask(link.url, { method: "POST", json: { name: "a", size: 4 } });
    await env.DB.prepare("UPDATE upload_links SET expires_at = 1 WHERE id = ?").bind(link.id).run();
    expect((await linkNow(account.key, link)).status).toBe("expired");
    expect(await rejections(link)).toEqual(GONE);
    await sweep(link);
    expect(await linkNow(account.key, link)).toMatchObject({ status: "expired", ended_at: expect.any(String) });
    expect((await account.get(`/v2/uploads/${upload.id}`)).status).toBe(404);
  });

  it("keeps a link that a sweep looks at too early", async () => {
    const link = await newLink(account.key);
    await sweep(link);
    expect((await linkNow(account.key, link)).status).toBe("waiting");
  });

  it("completes a file whose last request was interrupted", async () => {
    const link = await newLink(account.key, { job: JOB });
    await ask(link.url, { method: "POST", json: { name: "a", size: 4 } });
    await ask(`${link.url}/parts/1`, { method: "PUT", body: "aaaa" });
    await sweep(link, ", expires_at = 1");
    expect(await linkNow(account.key, link)).toMatchObject({ status: "completed", job: expect.any(String) });
  });

  it("states why the service refused the job", async () => {
    const link = await newLink(account.key, { job: JOB });
    await ask(link.url, { method: "POST", json: { name: "a", size: 4 } });
    await ask(`${link.url}/parts/1`, { method: "PUT", body: "aaaa" });
    const upload = (await linkNow(account.key, link)).upload?.id;
    const interrupt = await interruption(link);
    await ask(`${link.url}/complete`, { method: "POST" });
    await interrupt();
    await env.DB.prepare("DELETE FROM uploads WHERE id = ?").bind(upload).run();
    await sweep(link);
    expect((await linkNow(account.key, link)).job_error).toMatchObject({ error_code: "input_not_valid" });
  });

  it("starts its job later while the account has too many unfinished jobs", async () => {
    const full = await newAccount();
    const limit = (most: number | null) =>
      env.DB.prepare("UPDATE accounts SET max_unfinished_jobs = ? WHERE id = ?").bind(most, full.id).run();
    const link = await newLink(full.key, { job: JOB });
    await limit(0);
    expect((await sendFile(link)).status).toBe(200);
    expect(await linkNow(full.key, link)).toMatchObject({ status: "completed", job: null, job_error: null });
    await limit(null);
    await sweep(link);
    expect((await linkNow(full.key, link)).job).toEqual(expect.any(String));
  });

  it("is deleted after the retention time", async () => {
    const link = await newLink(account.key);
    await sendFile(link);
    await sweep(link, ", ended_at = 1");
    const gone = await account.get(`/v2/upload-links/${link.id}`);
    expect(gone.status).toBe(404);
    expect((await ask(link.url)).body.error_code).toBe("upload_link_not_found");
  });
});

describe("the receiver of an upload link's events", () => {
  const URL = "http://receiver.test/hook?token=hidden";
  const notification = { type: "http", url: URL };
  const waiting = (id = account.id) => storedIn(id, "message:");
  /** Returns the webhooks that the receiver gets until no webhook waits for its first attempt. */
  const sentFor = (work: () => Promise<unknown>, status?: number) =>
    receivedAt(
      URL,
      async () => {
        await work();
        await expect.poll(async () => (await waiting()).filter(({ attempts }) => attempts === 0)).toEqual([]);
      },
      status,
    );

  it("gets a signed webhook when the file is complete", async () => {
    const link = await newLink(account.key, { job: JOB, notification });
    const [webhook, ...others] = await sentFor(() => sendFile(link));
    expect(others).toEqual([]);
    if (!webhook) throw new Error("Nothing was sent");
    const payload = await verifyWebhook(webhook, account.webhookSecret);
    expect(UploadPayload.parse(payload)).toEqual(payload);
    const { url: _url, tus_url: _tusUrl, ...data } = await linkNow(account.key, link);
    expect(payload).toEqual({ event: "upload.completed", upload_link_id: link.id, data });
    expect(webhook.headers.get("webhook-id")).toBe(`${link.id}-completed`);
    expect(webhook.body).not.toContain(link.url);
  });

  it("gets a webhook when the link expires, and again until it accepts", async () => {
    const link = await newLink(account.key, { notification });
    const [first] = await sentFor(() => sweep(link, ", expires_at = 1"), 500);
    expect(JSON.parse(first?.body ?? "")).toMatchObject({ event: "upload.expired", upload_link_id: link.id });
    expect(await receivedAt(URL, () => sweep(link))).toEqual([]);
    expect(await waiting()).toMatchObject([{ attempts: 1 }]);
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 6000 });
    const [again] = await receivedAt(URL, () => runDurableObjectAlarm(accountOf(env, account.id)));
    vi.useRealTimers();
    expect(again?.body).toBe(first?.body);
    expect(await waiting()).toEqual([]);
  });

  it.each([410, 200])("gets no webhook again after its status %i", async (status) => {
    const link = await newLink(account.key, { notification });
    expect(await sentFor(() => sweep(link, ", expires_at = 1"), status)).toHaveLength(1);
    expect(await waiting()).toEqual([]);
  });

  it("finds the same body in the account's stream", async () => {
    const stream = await exports.default.fetch(
      new Request("https://copra.test/v2/events", { headers: basic(account.key) }),
    );
    const reader = stream.body?.pipeThrough(new TextDecoderStream()).getReader();
    const link = await newLink(account.key, { notification, tags: { user: "x" } });
    const [webhook] = await sentFor(() => sendFile(link));
    let text = "";
    while (!text.includes("event: upload\n")) text += (await reader?.read())?.value;
    while (!/event: upload\n.*\ndata: .*\n/.test(text)) text += (await reader?.read())?.value;
    await reader?.cancel();
    expect(/event: upload\n.*\ndata: (.*)\n/.exec(text)?.[1]).toBe(webhook?.body);
  });

  it("is asked no more after ten failures of any webhooks, and its webhooks are kept", async () => {
    const mine = await newAccount();
    const object = accountOf(env, mine.id);
    for (let failure = 0; failure < 10; failure++) {
      await object.admitDelivery("receiver.test");
      await object.deliveryEnded("receiver.test", false);
    }
    const link = await newLink(mine.key, { notification });
    const received = await receivedAt(URL, async () => {
      await sweep(link, ", expires_at = 1");
      await expect.poll(() => waiting(mine.id)).toMatchObject([{ nextAt: expect.toSatisfy((at) => at > Date.now()) }]);
    });
    expect(received).toEqual([]);
    expect(await waiting(mine.id)).toMatchObject([{ attempts: 0 }]);
    expect(JSON.stringify(await waiting(mine.id))).not.toContain("hidden");
  });
});

describe("the API key of an upload link", () => {
  const keyed = async (body: object = {}) => {
    const path = `/v2/admin/accounts/${account.id}/keys`;
    return (await operator.post(path, body)).body;
  };
  const revoke = ({ id }: { id: string }) => operator.delete(`/v2/admin/keys/${id}`);

  it("creates its links' jobs, ends live links when it is revoked, and removes their unfinished files", async () => {
    const key = await keyed();
    const waiting = await newLink(key.api_key, { job: JOB });
    const uploading = await newLink(key.api_key);
    const { body: upload } = await ask(uploading.url, { method: "POST", json: { name: "a", size: 4 } });
    await ask(`${uploading.url}/parts/1`, { method: "PUT", body: "aaaa" });
    const complete = await newLink(key.api_key, { job: JOB });
    await sendFile(complete);
    const { job } = await linkNow(account.key, complete);
    const { body: audit } = await account.get(`/v2/audit?action=createJob&actor=${key.id}`);
    expect(audit.entries).toMatchObject([{ object: `jobs/${job}` }]);
    const other = await newLink(account.key);
    expect((await revoke(key)).status).toBe(200);
    for (const link of [waiting, uploading]) {
      expect(await linkNow(account.key, link)).toMatchObject({ status: "revoked", ended_at: expect.any(String) });
      const refused = await ask(link.url, { method: "POST", json: { name: "a", size: 4 } });
      expect([refused.status, refused.body.error_code]).toEqual([410, "upload_link_ended"]);
    }
    expect((await ask(`${uploading.url}/complete`, { method: "POST" })).status).toBe(410);
    await sweep(uploading);
    expect((await account.get(`/v2/uploads/${upload.id}`)).status).toBe(404);
    expect((await linkNow(account.key, uploading)).job).toBeNull();
    expect((await linkNow(account.key, complete)).status).toBe("completed");
    expect((await linkNow(account.key, other)).status).toBe("waiting");
  });

  it("ends its links when it expires", async () => {
    const end = new Date(Date.now() + 120_000).toISOString();
    const { api_key } = await keyed({ expires_at: end });
    expect((await newLink(api_key)).expires_at).toBe(end);
    expect((await newLink(api_key, { expires_s: 60 })).expires_at < end).toBe(true);
  });
});

describe("GET /v2/upload-links", () => {
  it("lists the account's links by pages, the newest first, without their URLs", async () => {
    const mine = await newAccount();
    await newLink(account.key);
    const created = [await newLink(mine.key), await newLink(mine.key), await newLink(mine.key, { name: "c" })];
    await sendFile(created[1] as UploadLink);
    const page = (query = "") => mine.get(`/v2/upload-links${query}`);
    const { body: first } = await page("?limit=2");
    const { body: last } = await page(`?limit=2&cursor=${first.next_cursor}`);
    const listed = [...first.upload_links, ...last.upload_links];
    expect(last.next_cursor).toBeNull();
    expect(listed.map(({ id }) => id).toSorted()).toEqual(created.map(({ id }) => id).toSorted());
    expect(listed.find(({ id }) => id === created[1]?.id)).toMatchObject({
      status: "completed",
      upload: { name: "clip.mov", size: 4 },
    });
    expect(UploadLinkList.parse(first)).toEqual(first);
    expect(JSON.stringify(first)).not.toContain("/v2/links/");
    expect((await page("?limit=0")).body.error_code).toBe("query_not_valid");
  });
});

describe("a new upload link", () => {
  it.each<[body: object, code: string, message: RegExp]>([
    [{}, "request_not_valid", /`max_size` is missing/],
    [{ max_size: 0 }, "request_not_valid", /`max_size` must be a number of bytes/],
    [{ max_size: "5" }, "request_not_valid", /`max_size`/],
    [{ max_size: 1, expires_s: 59 }, "request_not_valid", /`expires_s`.*from 60 to 604800/],
    [{ max_size: 1, expires_s: 604_801 }, "request_not_valid", /`expires_s`/],
    [{ max_size: 1, origins: ["*"] }, "request_not_valid", /`origins.0` must be an origin/],
    [{ max_size: 1, origins: ["https://a.example/"] }, "request_not_valid", /must be an origin/],
    [{ max_size: 1, origins: ["ftp://a.example"] }, "request_not_valid", /must be an origin/],
    [{ max_size: 1, origins: "https://a.example" }, "request_not_valid", /must be a list/],
    [{ max_size: 1, name: "" }, "request_not_valid", /`name` must not be empty/],
    [{ max_size: 1, size: 4 }, "request_not_valid", /no field `size`/],
    [{ max_size: 1, tags: { A: "" } }, "request_not_valid", /`tags.A` must have names/],
    [{ max_size: 1, job: [] }, "request_not_valid", /`job` must be the body of a job/],
    [{ max_size: 1, job: { ...JOB, outputs: {} } }, "outputs_not_valid", /^`job`: /],
    [{ max_size: 1, job: jobBody() }, "input_not_valid", /`job` must have no `input`/],
    [{ max_size: 1, notification: { type: "none" } }, "notification_not_valid", /must be http/],
    [{ max_size: 1, notification: { type: "http", url: "x" } }, "notification_not_valid", /`notification.url`/],
    [{ max_size: 1, job: { ...JOB, path: "x".repeat(65_536) } }, "body_too_large", /64 KiB|65536/],
  ])("row %#: is rejected with a reason", async (body, code, message) => {
    const { status, body: error } = await post(body);
    expect([status, error.error_code]).toEqual([code === "body_too_large" ? 413 : 400, code]);
    expect(error.message).toMatch(message);
  });

  it("needs the scopes of an upload, and of a job if it has one", async () => {
    const path = `/v2/admin/accounts/${account.id}/keys`;
    const created = await operator.post(path, { scopes: ["uploads:create"] });
    const { api_key: key } = created.body;
    const link = await newLink(key);
    expect((await linkNow(key, link)).id).toBe(link.id);
    for (const more of [{ job: JOB }, { notification: { type: "http", url: "https://example.com/hook" } }]) {
      const refused = await post({ max_size: 1, ...more }, key);
      expect([refused.status, refused.body.error_code]).toEqual([403, "scope_missing"]);
      expect(refused.body.message).toContain("jobs:create");
    }
  });

  it("starts only jobs of templates with a key that may only use templates", async () => {
    const scopes = ["uploads:create", "templates:use"];
    const path = `/v2/admin/accounts/${account.id}/keys`;
    const { api_key: key } = (await operator.post(path, { scopes })).body;
    await account.put("/v2/templates/only", JOB);
    const job = { template: "only" };
    await sendFile(await newLink(key, { job }));
    for (const other of [{ job: JOB }, { job, tags: { tenant: "b" } }, { job: { ...job, storage: {} } }]) {
      expect((await post({ max_size: 1, ...other }, key)).body.error_code).toBe("scope_missing");
    }
  });

  it("is limited by number for an account, and by requests for a link", async () => {
    const mine = await newAccount();
    const tight = { ...env, LINK_RATE: env.TIGHT_RATE };
    const create = () =>
      app.request(
        "https://copra.test/v2/upload-links",
        { method: "POST", headers: basic(mine.key), body: JSON.stringify({ max_size: 1 }) },
        tight,
      );
    const created = await Promise.all([create(), create(), create()]);
    expect(created.map(({ status }) => status).sort()).toEqual([201, 201, 429]);
    const link = await newLink(mine.key);
    const read = () => app.request(link.url, {}, { ...env, CLIENT_RATE: env.TIGHT_RATE });
    const answers = [await read(), await read(), await read()];
    expect(answers.map(({ status }) => status)).toEqual([404, 404, 429]);
    const headers = { origin: "https://evil.example.com" };
    await app.request(link.url, { headers }, { ...env, CLIENT_RATE: env.TIGHT_RATE });
    expect((await linkNow(mine.key, link)).last_refused_origin).toBeNull();
  });

  it("counts as an upload of its maximum size until it ends", async () => {
    const mine = await newAccount();
    expect((await post({ max_size: 600e9 }, mine.key)).status).toBe(201);
    expect((await post({ max_size: 500e9 }, mine.key)).body.error_code).toBe("too_many_uploads");
    const upload = await mine.post("/v2/uploads", { name: "a", size: 500e9 });
    expect([upload.status, upload.body.error_code]).toEqual([429, "too_many_uploads"]);
    const small = await newLink(mine.key, { max_size: 400e9 });
    expect((await ask(small.url, { method: "POST", json: { name: "a", size: 1 } })).status).toBe(201);
    expect((await post({ max_size: 399e9 }, mine.key)).status).toBe(201);
  });

  it("shows neither its job nor its receiver", async () => {
    const notification = { type: "http", url: "https://user:hidden@example.com/hook?token=hidden" };
    const link = await newLink(account.key, { job: JOB, notification });
    expect(JSON.stringify(link)).not.toMatch(/hidden|very-secret/);
    const stored = await env.DB.prepare("SELECT * FROM upload_links WHERE id = ?").bind(link.id).first();
    expect(JSON.stringify(stored)).not.toMatch(/hidden|very-secret/);
  });

  it("costs a limited number of D1 rows until its file is complete", async () => {
    const { db, work } = measuredDatabase(env.DB);
    const call = async (
      url: string,
      init: { method: string; body?: string; headers?: Record<string, string> },
    ): Promise<UploadLink> => {
      const context = createExecutionContext();
      const request = new Request<unknown, IncomingRequestCfProperties>(url, init);
      const response = await worker.fetch(request, { ...env, DB: db }, context);
      await waitOnExecutionContext(context);
      return response.json();
    };
    const body = JSON.stringify({ max_size: 4, job: JOB });
    const headers = basic(account.key);
    const link = await call("https://copra.test/v2/upload-links", { method: "POST", headers, body });
    const created = work.rowsWritten;
    await call(link.url, { method: "POST", body: JSON.stringify({ name: "a", size: 4 }) });
    await call(`${link.url}/parts/1`, { method: "PUT", body: "aaaa", headers: { "content-length": "4" } });
    await call(`${link.url}/complete`, { method: "POST" });
    expect((await linkNow(account.key, link)).job).toEqual(expect.any(String));
    expect(created).toBeLessThanOrEqual(5);
    expect(work.rowsWritten).toBeLessThanOrEqual(27);
  });
});
