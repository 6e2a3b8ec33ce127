// No route lets an account change jobs of another account, or learn about them.
import { runInDurableObject } from "cloudflare:test";
import { env, exports } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { jobOf } from "../rpc/job.ts";
import { ADMIN, basic, bearer, jobBody, newAccount, newNodeToken, send } from "../testing/jobs.ts";
import { type Audience, fill, ROUTES, type TestRoute } from "../testing/routes.ts";
import { loadState } from "../testing/stored-state.ts";
import { inspectSource } from "../testing/turns.ts";

const NOBODYS_JOB = "AAAAAAAAAAAAAA";

type Account = Awaited<ReturnType<typeof newAccount>>;
let owner: Account;
let stranger: Account;
let credentials: Record<Audience, Record<string, string>>;
beforeAll(async () => {
  [owner, stranger] = [await newAccount(), await newAccount()];
  credentials = { client: basic(owner.key), node: bearer(await newNodeToken()), operator: bearer(ADMIN), anyone: {} };
});

const named = (route: TestRoute): [string, TestRoute] => [`${route.method} ${route.path}`, route];
const post = (key: string, body: unknown, headers: Record<string, string> = {}) =>
  send("/v2/jobs", { method: "POST", body, headers: { ...basic(key), ...headers } });

/** A response with all properties that could distinguish two responses. */
async function request(method: string, path: string, headers: Record<string, string>) {
  const response = await exports.default.fetch(new Request(`https://copra.test${path}`, { method, headers }));
  const isStream = response.headers.get("content-type")?.startsWith("text/event-stream");
  if (isStream) await response.body?.cancel();
  return { status: response.status, headers: [...response.headers], text: isStream ? "" : await response.text() };
}

/**
 * Creates jobs of the owner in all states with different responses: waiting, with metadata, ended with a notification.
 */
async function ownersJobs(): Promise<{ id: string; nid: string }[]> {
  const created = async (): Promise<string> => (await post(owner.key, jobBody())).body.id;
  const [waiting, inspected, ended] = [await created(), await created(), await created()];
  await inspectSource(jobOf(env, inspected));
  await jobOf(env, ended).cancel();
  return [waiting, inspected, ended].map((id) => ({ id, nid: `msg_${id}_1` }));
}

const stateOf = (id: string) => runInDurableObject(jobOf(env, id), (_, { storage }) => loadState(storage)?.status);

describe("access to jobs of another account", () => {
  // Uploads, upload links, templates and probes have their own tests (routes/).
  const isOfJob = ({ path }: TestRoute): boolean =>
    path.includes("/:id") && !/^\/v2\/(uploads|upload-links|templates|probes)\//.test(path);
  const routes = ROUTES.filter((route) => route.audience === "client" && isOfJob(route));
  it.each(routes.map(named))("%s treats another account's job as unknown", async (_, route) => {
    for (const { id, nid } of await ownersJobs()) {
      const before = await stateOf(id);
      const [foreign, nobodys] = [
        await request(route.method, fill(route, { id, nid, key: "input" }), basic(stranger.key)),
        await request(route.method, fill(route, { id: NOBODYS_JOB, nid, key: "input" }), basic(stranger.key)),
      ];
      expect(JSON.parse(foreign.text)).toMatchObject({ error_code: "job_not_found", status: "error" });
      expect([foreign.status, foreign]).toEqual([404, nobodys]);
      expect(await stateOf(id)).toBe(before);
      // The same request of the owner finds the job.
      const response = await request(route.method, fill(route, { id, nid, key: "input" }), basic(owner.key));
      expect(response.text).not.toContain("job_not_found");
    }
  });

  it("lists no job of another account on any page, whatever the query", async () => {
    const jobs = await ownersJobs();
    const first = await owner.get("/v2/jobs?limit=1");
    expect(first.body.next_cursor).toMatch(/^\d+-/);
    const newest = `${Date.now() + 1000}-${jobs[0]?.id}`;
    const queries = ["", "?limit=100", "?status=job.aborted", `?cursor=${first.body.next_cursor}`, `?cursor=${newest}`];
    for (const query of queries) {
      const { status, body } = await stranger.get(`/v2/jobs${query}`);
      expect([query, status, body]).toEqual([query, 200, { jobs: [], next_cursor: null }]);
    }
  });

  it("does not reveal a job by the idempotency key that created it", async () => {
    const key = { "idempotency-key": "order-1" };
    const created = await post(owner.key, jobBody(), key);
    for (const body of [jobBody(), jobBody({ outputs: { mp4: { path: "b.mp4" } } })]) {
      const other = await post((await newAccount()).key, body, key);
      expect(other.status).toBe(201);
      expect(other.body.id).not.toBe(created.body.id);
    }
    expect((await post(owner.key, jobBody(), key)).body.id).toBe(created.body.id);
  });
});

describe("access by credentials", () => {
  const closed = ROUTES.filter(({ audience }) => audience !== "anyone");
  const values = {
    id: NOBODYS_JOB,
    nid: "msg_1",
    key: "input",
    lease: `${NOBODYS_JOB}.encode.1`,
    number: "1",
    name: "web",
    template: "web",
    token: "t",
  };
  it.each(closed.map(named))("gives a credential of the wrong kind no access to %s", async (_, route) => {
    const secrets: Record<Audience, string> = {
      client: owner.key,
      node: credentials.node.authorization?.slice(7) ?? "",
      operator: ADMIN,
      anyone: "",
    };
    const wrong = Object.entries(secrets).filter(([audience]) => audience !== route.audience);
    for (const [, secret] of wrong) {
      for (const headers of [basic(secret), bearer(secret)]) {
        const answer = await request(route.method, fill(route, values), headers);
        expect([answer.status, JSON.parse(answer.text).error_code]).toEqual([401, "authentication_failed"]);
      }
    }
    // The right credential works only in the right scheme.
    const right = secrets[route.audience];
    const scheme = route.audience === "client" ? bearer(right) : basic(right);
    expect((await request(route.method, fill(route, values), scheme)).status).toBe(401);
    expect((await request(route.method, fill(route, values), credentials[route.audience])).status).not.toBe(401);
  });
});
