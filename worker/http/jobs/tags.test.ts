import { env } from "cloudflare:workers";
import { describe, expect, it, vi } from "vitest";
import { basic, failedWith, jobBody, newAccount, send, useAccount } from "../../testing/jobs.ts";

const account = useAccount();
const ask = (method: string, path: string, body?: unknown, key = account.key) =>
  send(path, { method, body, headers: basic(key) });
const create = async (tags: unknown, changes: object = {}) =>
  (await ask("POST", "/v2/jobs", jobBody({ ...changes, ...(tags === undefined ? {} : { tags }) }))).body;
const listed = async (query: string): Promise<string[]> =>
  (await ask("GET", `/v2/jobs?${query}`)).body.jobs.map(({ id }: { id: string }) => id);

describe("tags", () => {
  it("shows the tags of a job in responses, lists, the request and events, and lists the job by them", async () => {
    const tags = { order: "7", "tenant.name": "a & b" };
    const job = await create(tags);
    expect(job.tags).toEqual(tags);
    expect((await ask("GET", `/v2/jobs/${job.id}`)).body.tags).toEqual(tags);
    expect((await ask("GET", `/v2/jobs/${job.id}/request`)).body.request.tags).toEqual(tags);
    expect((await ask("GET", `/v2/jobs?q=${job.id}`)).body.jobs[0].tags).toEqual(tags);
    const query = "tag.order=7&tag.tenant.name=a+%26+b";
    expect([await listed(query), await listed(`${query}&status=job.completed`)]).toEqual([[job.id], []]);
    expect(await listed("tag.order=8")).toEqual([]);
    expect((await ask("GET", `/v2/jobs/counts?${query}`)).body).toMatchObject({ counts: { "job.starting": 1 } });
    const stranger = await newAccount();
    expect((await ask("GET", "/v2/jobs?tag.order=7", undefined, stranger.key)).body.jobs).toEqual([]);
  });

  it("sends tags with the end of a job, and leaves them out of all other notifications and of the receiver's params", async () => {
    const notification = { type: "http", url: "http://127.0.0.1:9/", events: true, params: { a: "1" } };
    const { id } = await create({ order: "webhook" }, { notification });
    await ask("DELETE", `/v2/jobs/${id}`);
    const { body } = await vi.waitFor(async () => {
      const log = (await ask("GET", `/v2/jobs/${id}/notifications`)).body.notifications;
      expect(log).toHaveLength(1);
      const object = env.JOB.getByName(id);
      const notification = await object.notification(log[0].id);
      if (!notification.ok) throw new Error("no notification");
      return notification.value;
    });
    expect(JSON.parse(body).data).toMatchObject({ type: "job", tags: { order: "webhook" } });
  });

  it("has no field for a job without tags", async () => {
    for (const tags of [undefined, null, {}]) expect(await create(tags)).not.toHaveProperty("tags");
  });

  it.each([
    [[], "`tags` must be an object of names and strings"],
    ["a=b", "`tags` must be an object of names and strings"],
    [{ Tenant: "a" }, "`tags.Tenant` must have names of 1 to 40 of the characters a-z"],
    [{ "": "a" }, "must have names of 1 to 40"],
    [{ ["a".repeat(41)]: "a" }, "must have names of 1 to 40"],
    [{ a: 7 }, "`tags.a` must be a string of at most 256 characters"],
    [{ a: null }, "`tags.a` must be a string"],
    [{ a: "x".repeat(257) }, "`tags.a` must be a string of at most 256 characters"],
    [{ a: "x\ny" }, "`tags.a` must be a string of at most 256 characters, without control characters"],
    [{ a: "\ud800" }, "`tags.a` "],
    [Object.fromEntries(Array.from({ length: 21 }, (_, at) => [`t${at}`, ""])), "`tags` must have at most 20 tags"],
  ])("rejects the tags %j", async (tags, message) => {
    const { error_code, ...rest } = await create(tags);
    expect([error_code, rest.message]).toEqual(["tags_not_valid", expect.stringContaining(message)]);
  });

  it.each([
    ["POST", "/v2/jobs/cancel", '{"filter":{"tags":{"__proto__":"x"}}}'],
    ["POST", "/v2/jobs/cancel", '{"filter":{"tags":{"\\u005f_proto_\\u005F":"x"}}}'],
    ["POST", "/v2/jobs", '{"tags":{"a":"1","__proto__":{"b":"2"}}}'],
  ])("refuses the name __proto__ of a tag instead of ignoring it: %s %s %s", async (method, path, body) => {
    const { id } = await create({});
    const { status, body: answer } = await send(path, { method, raw: body, headers: basic(account.key) });
    expect([status, answer.message]).toEqual([400, "The body must not have the name `__proto__`"]);
    expect((await ask("GET", `/v2/jobs/${id}`)).body.status).toBe("job.starting");
  });

  it.each([
    ["tag.A=1", "`tag.A` must have names"],
    ["tag.=1", "must have names"],
    ["tag.__proto__=1", "`tag.__proto__` must have the name of a tag"],
    ["tag.a=1&tag.b=1&tag.c=1&tag.d=1", "must have at most 3 tags"],
    [`tag.a=${"x".repeat(257)}`, "`tag.a` must be a string of at most 256"],
    ["tags=a", "has no field `tags`"],
  ])("rejects the filter %s", async (query, message) => {
    for (const path of ["/v2/jobs", "/v2/jobs/counts"]) {
      const { status, body } = await ask("GET", `${path}?${query}`);
      expect({ status, body }).toMatchObject(failedWith(400, "query_not_valid"));
      expect(body.message).toContain(message);
    }
  });
});

describe("PATCH /v2/jobs/:id with tags", () => {
  const read = async (id: string) => (await ask("GET", `/v2/jobs/${id}`)).body.tags;

  it("merges tags into the tags of a job, in responses and lists at once, before and after its end", async () => {
    const { id } = await create({ keep: "1", change: "1", remove: "1" });
    const changed = await ask("PATCH", `/v2/jobs/${id}`, { tags: { change: "2", remove: null, add: "3", none: null } });
    expect([changed.status, changed.body.tags]).toEqual([200, { keep: "1", change: "2", add: "3" }]);
    expect([await listed("tag.change=2"), await listed("tag.remove=1")]).toEqual([[id], []]);
    await ask("DELETE", `/v2/jobs/${id}`);
    const ended = await ask("PATCH", `/v2/jobs/${id}`, { tags: { after: "end" } });
    expect(ended).toMatchObject({ status: 200, body: { status: "job.aborted", tags: { after: "end" } } });
    await vi.waitFor(async () => expect(await listed("tag.after=end&status=job.aborted")).toEqual([id]));
    expect(await read(id)).toEqual({ keep: "1", change: "2", add: "3", after: "end" });
    await ask("PATCH", `/v2/jobs/${id}`, { tags: { keep: null, change: null, add: null, after: null } });
    expect([await read(id), await listed("tag.keep=1")]).toEqual([undefined, []]);
  });

  it("changes the tags of a job whose state is deleted", async () => {
    const { id } = await create({ a: "1" });
    await ask("DELETE", `/v2/jobs/${id}`);
    const row = await vi.waitFor(async () => {
      const row = await env.DB.prepare("SELECT * FROM jobs WHERE id = ? AND completed_at > 0").bind(id).first();
      if (!row) throw new Error("not yet in the index");
      return row;
    });
    // A row without an object. Its view is a copy, with the id of the first job.
    const other = "ZZZZZZZZZZZZZ1";
    const columns = Object.keys({ ...row, id: other });
    await env.DB.prepare(`INSERT INTO jobs (${columns}) VALUES (${columns.map(() => "?")})`)
      .bind(...Object.values({ ...row, id: other }))
      .run();
    expect(await ask("PATCH", `/v2/jobs/${other}`, { tags: { b: "2" } })).toMatchObject({
      status: 200,
      body: { tags: { a: "1", b: "2" } },
    });
    expect([await read(other), await listed("tag.b=2")]).toEqual([{ a: "1", b: "2" }, [id]]);
    const many = Object.fromEntries(Array.from({ length: 19 }, (_, at) => [`t${at}`, ""]));
    expect((await ask("PATCH", `/v2/jobs/${other}`, { tags: many })).body.error_code).toBe("tags_not_valid");
  });

  it("changes tags and priority together, and neither of an ended job", async () => {
    const { id } = await create(undefined);
    const both = { settings: { priority: 9 }, tags: { a: "1" } };
    expect((await ask("PATCH", `/v2/jobs/${id}`, both)).body.tags).toEqual({ a: "1" });
    await ask("DELETE", `/v2/jobs/${id}`);
    const refused = await ask("PATCH", `/v2/jobs/${id}`, { ...both, tags: { a: "2" } });
    expect([refused.body.error_code, await read(id)]).toEqual(["job_state_conflict", { a: "1" }]);
  });

  it.each([
    [{ tags: { a: 1 } }, "tags_not_valid"],
    [{ tags: { "a b": "1" } }, "tags_not_valid"],
    [{ tags: [] }, "tags_not_valid"],
    [{ tags: Object.fromEntries(Array.from({ length: 21 }, (_, at) => [`t${at}`, ""])) }, "tags_not_valid"],
    [{ tags: {}, other: 1 }, "settings_not_valid"],
  ])("rejects %j", async (body, code) => {
    const { id } = await create({ a: "1" });
    expect((await ask("PATCH", `/v2/jobs/${id}`, body)).body.error_code).toBe(code);
    expect((await ask("PATCH", `/v2/jobs/${id}`, { tags: {} }, (await newAccount()).key)).status).toBe(404);
  });
});

describe("many jobs with tags", () => {
  it("cancels and retries the jobs with all tags of a filter", async () => {
    const [one, two, three] = await Promise.all([
      create({ batch: "1", part: "a" }),
      create({ batch: "1", part: "b" }),
      create({ batch: "2" }),
    ]);
    const bulk = async (action: string, tags: unknown) =>
      (await ask("POST", `/v2/jobs/${action}`, { filter: { tags } })).body;
    expect((await bulk("cancel", { batch: "1", part: "b" })).jobs).toEqual([{ id: two.id, status: "job.aborted" }]);
    expect((await bulk("cancel", { batch: "1" })).jobs).toEqual([{ id: one.id, status: "job.aborted" }]);
    await vi.waitFor(async () => expect((await listed("tag.batch=1&status=job.aborted")).length).toBe(2));
    const retried = (await bulk("retry", { batch: "1" })).jobs.map(({ id }: { id: string }) => id);
    expect(new Set(retried)).toEqual(new Set([one.id, two.id]));
    expect((await bulk("retry", { batch: 2 })).message).toContain("`filter.tags.batch` must be a string");
    expect((await ask("GET", `/v2/jobs/${three.id}`)).body.status).toBe("job.starting");
  });
});

describe("GET /v2/usage?by=tag.<name>", () => {
  it("adds the usage by the values of a tag", async () => {
    const jobs = [await create({ customer: "x" }), await create({ customer: "y" }), await create({ customer: "x" })];
    for (const { id } of jobs) await ask("DELETE", `/v2/jobs/${id}`);
    const usage = await vi.waitFor(async () => {
      const { body } = await ask("GET", "/v2/usage?by=tag.customer");
      expect(body.values.map(({ jobs }: { jobs: object }) => jobs)).toEqual([
        { completed: 0, failed: 0, cancelled: 2 },
        { completed: 0, failed: 0, cancelled: 1 },
      ]);
      return body;
    });
    expect([usage.values[0].value, usage.capped, usage.total.jobs.cancelled >= 3]).toEqual(["x", false, true]);
    expect((await ask("GET", "/v2/usage")).body).not.toHaveProperty("values");
    for (const by of ["customer", "tag.", "tag.A", "day"]) {
      expect((await ask("GET", `/v2/usage?by=${by}`)).body.error_code).toBe("query_not_valid");
    }
  });
});
