import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import { ADMIN, basic, bearer, jobBody, SECRET_KEY, send, useAccount } from "../../testing/jobs.ts";
import { measuredDatabase } from "../../testing/measured-database.ts";
import { app } from "../app.ts";

const account = useAccount(beforeEach);

const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
  send(`/v2${path}`, { method: "POST", body, headers: { ...basic(account.key), ...headers } });
const batch = (body: unknown, key?: string) => post("/jobs/batch", body, key ? { "idempotency-key": key } : {});
const { input, storage, notification } = jobBody();
const OUTPUTS = { outputs: { mp4: { path: "{{ vars.id }}.mp4" } } };
const putTemplate = (body: object) => account.put("/v2/templates/web", body);
const jobsOf = async () => {
  const { results } = await env.DB.prepare("SELECT id FROM jobs WHERE account_id = ?").bind(account.id).all();
  return results.map(({ id }) => id);
};

describe("POST /v2/jobs/batch", () => {
  it("creates jobs in order, and reports the error of each other job in its place", async () => {
    await putTemplate({ ...OUTPUTS, storage, notification });
    const jobs = [
      { vars: { id: "a" } },
      { vars: {} },
      { vars: { id: "b" }, settings: { priority: 5 }, input: { url: "ftp://example.com/" } },
      { template: null, outputs: { "jpg:320x": { path: "a.jpg" } }, storage, notification },
      { template: "nothing" },
      { vars: { id: "c" }, storage: { path: "c" } },
    ];
    const { status, body } = await batch({ template: "web", defaults: { input }, jobs });
    expect(status).toBe(200);
    expect(
      body.jobs.map((one: { id?: string; error?: { error_code: string } }) => one.error?.error_code ?? "job"),
    ).toEqual([...["job", "template_vars_not_valid", "input_url_not_valid", "job", "template_not_found", "job"]]);
    const read = async (id: string) => (await account.get(`/v2/jobs/${id}`)).body;
    expect(await read(body.jobs[0].id)).toMatchObject({ template: "web@1", outputs: [{ key: "mp4" }] });
    expect(await read(body.jobs[3].id)).toMatchObject({ status: "job.starting", outputs: [{ key: "jpg:320x" }] });
    expect((await jobsOf()).toSorted()).toEqual([0, 3, 5].map((at) => body.jobs[at].id).toSorted());
    expect(JSON.stringify(body)).not.toContain(SECRET_KEY);
  });

  it("checks the jobs of a dry run, and creates none", async () => {
    await putTemplate({ ...OUTPUTS, storage, notification });
    const jobs = [{ vars: { id: "a" } }, { vars: {} }, { vars: { id: "b" } }];
    const { status, body } = await post("/jobs/batch?dry_run=true", { template: "web", defaults: { input }, jobs });
    expect(status).toBe(200);
    const error = expect.objectContaining({ error_code: "template_vars_not_valid" });
    expect(body).toEqual({ dry_run: true, jobs: [{ valid: true }, { error }, { valid: true }] });
    expect(await jobsOf()).toEqual([]);
    expect((await post("/jobs/batch?dry_run=yes", { jobs })).body.error_code).toBe("query_not_valid");
  });

  it("creates each job once for the same Idempotency-Key, also after a change of the template", async () => {
    await putTemplate({ ...OUTPUTS, storage, notification });
    const jobs = [{ vars: {} }, ...["a", "b", "c"].map((id) => ({ vars: { id } }))];
    const first = await batch({ template: "web", defaults: { input }, jobs }, "key");
    await putTemplate({ storage, notification, outputs: { mp3: { path: "{{ vars.id }}.mp3" } } });
    const again = await batch({ template: "web", defaults: { input }, jobs }, "key");
    expect(again.body.jobs.slice(1)).toEqual(first.body.jobs.slice(1));
    expect(await jobsOf()).toHaveLength(3);
    const changed = [{ vars: { id: "z" } }, { vars: { id: "y" } }];
    const other = await batch({ template: "web", defaults: { input }, jobs: changed }, "key");
    expect(other.body.jobs).toEqual([
      { id: expect.any(String) },
      { error: { error_code: "idempotency_key_reused", message: expect.any(String) } },
    ]);
    expect(await jobsOf()).toHaveLength(4);
  });

  it("creates jobs up to the limit of the account, and repeated jobs beyond it", async () => {
    const limits = { method: "POST", body: { max_unfinished_jobs: 2 }, headers: bearer(ADMIN) };
    await send(`/v2/admin/accounts/${account.id}/limits`, limits);
    const body = {
      defaults: { input, storage, notification },
      jobs: [1, 2, 3].map((id) => ({ outputs: { mp4: { path: `${id}.mp4` } } })),
    };
    const first = await batch(body, "key");
    const codes = (jobs: { error?: { error_code: string } }[]) => jobs.map(({ error }) => error?.error_code);
    expect(codes(first.body.jobs)).toEqual([undefined, undefined, "too_many_jobs"]);
    expect((await batch(body, "key")).body).toEqual(first.body);
    const age = (ms: number) =>
      env.DB.prepare("UPDATE idempotency_keys SET created_at = created_at - ? WHERE account_id = ?")
        .bind(ms, account.id)
        .run();
    await age(23 * 3_600_000);
    expect((await batch(body, "key")).body).toEqual(first.body);
    expect(codes((await batch(body)).body.jobs)).toEqual(["too_many_jobs", "too_many_jobs", "too_many_jobs"]);
    await age(3_600_000);
    expect(codes((await batch(body, "key")).body.jobs)).toEqual(["too_many_jobs", "too_many_jobs", "too_many_jobs"]);
  });

  it("creates many jobs with few queries", async () => {
    await putTemplate({ ...OUTPUTS, storage, notification });
    const jobs = Array.from({ length: 60 }, (_, at) => ({ vars: { id: String(at) } }));
    const { db, work } = measuredDatabase(env.DB);
    const sent = { method: "POST", headers: { ...basic(account.key), "idempotency-key": "key" } };
    const body = JSON.stringify({ template: "web", defaults: { input }, jobs });
    const response = await app.request("/v2/jobs/batch", { ...sent, body }, { ...env, DB: db });
    const { jobs: created } = (await response.json()) as { jobs: { id: string }[] };
    expect(new Set(created.map(({ id }) => id)).size).toBe(60);
    // The key, the template, and a query for each group of 25 jobs. A row of a job costs four rows, and its key two.
    expect([work.calls, work.rowsWritten]).toEqual([5, 360]);
    expect(await jobsOf()).toHaveLength(60);
  });

  const rejected: [string, object, string | undefined, string, RegExp][] = [
    ["no jobs", { jobs: [] }, undefined, "request_not_valid", /`jobs` must be a list of 1 to 500 jobs/],
    ["too many jobs", { jobs: Array(501).fill({}) }, undefined, "request_not_valid", /1 to 500/],
    ["a job that is no object", { jobs: [1] }, undefined, "request_not_valid", /`jobs.0` must be an object/],
    ["an unknown field", { jobs: [{}], default: {} }, undefined, "request_not_valid", /did you mean `defaults`/],
    ["large defaults", { jobs: [{}], defaults: { a: "a".repeat(70_000) } }, undefined, "request_not_valid", /64 KiB/],
    [
      "defaults of wide letters",
      { jobs: [{}], defaults: { a: "é".repeat(33_000) } },
      undefined,
      "request_not_valid",
      /64 KiB/,
    ],
    ["a long key", { jobs: [{}] }, "k".repeat(256), "idempotency_key_not_valid", /255/],
    ["a large body", { jobs: [{ a: "a".repeat(6e6) }] }, undefined, "body_too_large", /5242880/],
  ];
  it.each(rejected)("is refused with %s", async (_, body, key, code, message) => {
    const { body: answer } = await batch(body, key);
    expect(answer).toMatchObject({ error_code: code, message: expect.stringMatching(message) });
  });
});
