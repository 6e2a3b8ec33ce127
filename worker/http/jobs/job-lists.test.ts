import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { jobBody, newAccount, send, useAccount } from "../../testing/jobs.ts";

type Job = { id: string; status: string };

const account = useAccount();
const ids: string[] = [];
const get = async (path: string) => await account.get(path);
const post = async (path: string, body: unknown) => await account.post(path, body);
const create = async (changes: Record<string, unknown>): Promise<string> =>
  (await post("/v2/jobs", jobBody(changes))).body.id;
const listed = async (query: string): Promise<string[]> =>
  (await get(`/v2/jobs?${query}`)).body.jobs.map(({ id }: Job) => id);

beforeAll(async () => {
  const outputs = { "mp4:240p": { path: "/Customers/42/clip.mp4" } };
  const inputs = ["https://media.example.com/My%20Holiday.MOV?token=hidden", "http://cdn.example.org/a.mp4"];
  for (const url of inputs) ids.push(await create({ input: { url } }));
  ids.push(await create({ outputs, input: { url: "https://elsewhere.net/b.mp4" } }));
  const times = ["2026-11-20T12:00:00Z", "2026-11-21T00:00:00Z", "2026-11-21T23:30:00Z"];
  const changed = ids.map((id, at) =>
    env.DB.prepare("UPDATE jobs SET created_at = ? WHERE id = ?").bind(Date.parse(times[at] ?? ""), id),
  );
  await env.DB.batch(changed);
});

describe("GET /v2/jobs", () => {
  it.each([
    ["q=my holiday", [0]],
    ["q=EXAMPLE.com/my", [0]],
    ["q=cdn.example.org", [1]],
    ["q=customers/42", [2]],
    ["q=token", []],
    ["q=hidden", []],
    ["q=.example.", [1, 0]],
    ["created_after=2026-11-21", [2, 1]],
    ["created_before=2026-11-21", [0]],
    ["created_after=2026-11-21T00:00:00.001Z", [2]],
    ["created_after=2026-11-21T00:00", [2, 1]],
    ["created_after=2026-11-22T01:00:00%2B02:00", [2]],
    ["created_after=2026-11-20T12:00:00Z&created_before=2026-11-21T12:00:00Z&status=job.starting,job.failed", [1, 0]],
    ["created_after=2026-11-23", []],
    ["status=job.completed,job.aborted", []],
  ])("finds the jobs that match %s", async (query, expected) => {
    expect(await listed(query)).toEqual(expected.map((at) => ids[at]));
  });

  it("lists ended jobs by their ends or durations, in pages", async () => {
    const ended = [500, 700, 600];
    const sets = ids.map((id, at) =>
      env.DB.prepare("UPDATE jobs SET completed_at = ?, took_ms = ? WHERE id = ?").bind(ended[at], at || 9, id),
    );
    await env.DB.batch(sets);
    expect(await listed("sort=ended")).toEqual([ids[1], ids[2], ids[0]]);
    const first = await get("/v2/jobs?sort=took&limit=2");
    expect(first.body.jobs.map(({ id }: Job) => id)).toEqual([ids[0], ids[2]]);
    const { next_cursor } = first.body;
    expect(next_cursor).toBe(`took.2-${ids[2]}`);
    expect(await listed(`sort=took&cursor=${next_cursor}`)).toEqual([ids[1]]);
    expect(await listed("sort=created")).toEqual(await listed(""));
    for (const query of ["sort=name", `sort=ended&cursor=${next_cursor}`, `cursor=${next_cursor}`]) {
      const { status, body } = await get(`/v2/jobs?${query}`);
      expect([status, body.error_code]).toEqual([400, "query_not_valid"]);
    }
  });

  it("finds a job by its id, but no job of another account", async () => {
    expect(await listed(`q=${ids[1]?.toUpperCase()}`)).toEqual([ids[1]]);
    const other = await newAccount();
    const { body } = await other.get(`/v2/jobs?q=${ids[1]}`);
    expect(body).toEqual({ jobs: [], next_cursor: null });
  });
});

describe("GET /v2/jobs/counts", () => {
  it("counts the jobs of a filter by status", async () => {
    const none = { "job.starting": 0, "job.completed": 0, "job.failed": 0, "job.aborted": 0 };
    const counts = async (query: string) => (await get(`/v2/jobs/counts${query}`)).body;
    expect(await counts("")).toEqual({ counts: { ...none, "job.starting": 3 }, capped: false });
    expect((await counts("?q=.example.&created_before=2026-11-21")).counts).toEqual({ ...none, "job.starting": 1 });
  });

  it.each([["?status=job.failed"], ["?limit=1"], ["?created_after=1"], ["?q="]])("rejects query %s", async (query) => {
    const { status, body } = await get(`/v2/jobs/counts${query}`);
    expect([status, body.error_code]).toEqual([400, "query_not_valid"]);
  });
});

describe("actions on many jobs", () => {
  it("cancels and retries jobs by their ids, each with its own result", async () => {
    const mine = [await create({}), await create({})];
    const other = await newAccount();
    const foreign = await other.post("/v2/jobs", jobBody());
    await post(`/v2/jobs/${mine[1]}/retry`, undefined);
    const all = { ids: [...mine, foreign.body.id, "nothing", ...mine] };
    const unknown = { error: { error_code: "job_not_found", message: "The account has no job with this id" } };
    const aborted = { status: "job.aborted" };
    expect(await post("/v2/jobs/cancel", all)).toMatchObject({
      status: 200,
      body: {
        jobs: [
          { id: mine[0], ...aborted },
          { id: mine[1], ...aborted },
          { id: foreign.body.id, ...unknown },
          { id: "nothing", ...unknown },
        ],
        has_more: false,
        next_cursor: null,
      },
    });
    const conflict = { error: { error_code: "job_state_conflict" } };
    expect((await post("/v2/jobs/cancel", { ids: mine })).body.jobs).toMatchObject([conflict, conflict]);
    const retried = await post("/v2/jobs/retry", { ids: [mine[1], ids[0]] });
    expect(retried.body.jobs).toMatchObject([{ id: mine[1], status: "job.starting" }, conflict]);
    expect((await get(`/v2/jobs/${mine[1]}`)).body.status).toBe("job.starting");
  });

  it("cancels each job of a filter once, in batches", async () => {
    const ids: string[] = [];
    for (let at = 0; at < 5; at++) ids.push(await create({ input: { url: "https://many.example.net/a.mp4" } }));
    const done: Job[] = [];
    let cursor: string | null = null;
    for (let round = 0; round < 4; round++) {
      const body: Record<string, unknown> = { filter: { q: "many.example.net" }, limit: 2 };
      const answer = await post("/v2/jobs/cancel", cursor === null ? body : { ...body, cursor });
      done.push(...answer.body.jobs);
      expect(answer.body.has_more).toBe(answer.body.next_cursor !== null);
      cursor = answer.body.next_cursor;
      if (cursor === null) break;
    }
    expect(done.map(({ status }) => status)).toEqual(ids.map(() => "job.aborted"));
    expect(done.map(({ id }) => id).toSorted()).toEqual(ids.toSorted());
    await expect.poll(() => listed("q=many.example.net&status=job.aborted")).toHaveLength(5);
    const again = await post("/v2/jobs/retry", { filter: { q: "many.example.net", status: "job.aborted" } });
    expect(again.body.jobs.map(({ status }: Job) => status)).toEqual(ids.map(() => "job.starting"));
  });

  it.each<[body: unknown, message: RegExp]>([
    [{}, /either `ids` or `filter`/],
    [{ ids: ["a"], filter: {} }, /either `ids` or `filter`/],
    [{ ids: [] }, /`ids` must have at least one id/],
    [{ ids: Array.from({ length: 101 }, () => "a") }, /`ids` must have at most 100 ids/],
    [{ ids: [7] }, /`ids\.0` must be the id of a job/],
    [{ filter: { status: "done" } }, /`filter\.status` must be one of job\.starting/],
    [{ filter: { created_after: 7 } }, /`filter\.created_after` must be a date/],
    [{ filter: { colour: "red" } }, /`filter` has no field `colour`/],
    [{ filter: {}, limit: 101 }, /`limit` must be a whole number from 1 to 100/],
    [{ filter: {}, cursor: "x" }, /`cursor` must be the `next_cursor`/],
  ])("row %#: rejects an invalid body", async (body, message) => {
    for (const action of ["cancel", "retry"]) {
      const { status, body: error } = await post(`/v2/jobs/${action}`, body);
      expect([status, error.error_code]).toEqual([400, "request_not_valid"]);
      expect(error.message).toMatch(message);
    }
  });

  it("requires an API key for actions on many jobs", async () => {
    for (const path of ["cancel", "retry"]) {
      expect((await send(`/v2/jobs/${path}`, { method: "POST", body: { ids: ["a"] } })).status).toBe(401);
    }
    expect((await send("/v2/jobs/counts")).status).toBe(401);
  });
});
