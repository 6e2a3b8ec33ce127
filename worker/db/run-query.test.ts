import {
  createExecutionContext,
  evictDurableObject,
  listDurableObjectIds,
  runDurableObjectAlarm,
  runInDurableObject,
} from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it, vi } from "vitest";
import type { Env } from "../bindings.ts";
import worker from "../index.ts";
import { EffectRunner } from "../job/effects/effect-runner.ts";
import { JobMemory } from "../job/persistence/job-memory.ts";
import { jobOf } from "../rpc/job.ts";
import { type Fault, faultyDatabase } from "../testing/faulty-database.ts";
import { ADMIN, answerOf, basic, bearer, jobBody, newAccount, newNodeToken, newSpec, send } from "../testing/jobs.ts";
import { rewriteState } from "../testing/stored-state.ts";
import { findJob } from "./jobs/jobs.ts";
import { runQuery } from "./run-query.ts";

const withFaults = (faultOf: (call: number) => Fault | null): Env => ({ ...env, DB: faultyDatabase(env.DB, faultOf) });
const DOWN = withFaults(() => "rejects");

type Asked = { method?: string; body?: unknown; headers: Record<string, string> };

/** Sends a request to a Worker with other bindings. */
async function sendTo(bindings: Env, path: string, { method = "GET", body, headers }: Asked) {
  const init = { method, headers, body: body === undefined ? null : JSON.stringify(body) };
  const request = new Request<unknown, IncomingRequestCfProperties>(`https://copra.test${path}`, init);
  return answerOf(await worker.fetch(request, bindings, createExecutionContext()));
}

describe("POST /v2/jobs with an Idempotency-Key, while the database fails", () => {
  // Call 1 reads the account. Call 2 stores the key together with the job's row.
  const rows = [1, 2].flatMap((at) => (["rejects", "loses the response"] as const).map((fault) => [at, fault]));
  it.each(rows as [number, Fault][])(
    "responds with 503 when database call %i fails (%s), and starts a single job when repeated",
    async (at, fault) => {
      const account = await newAccount();
      const headers = { ...basic(account.key), "idempotency-key": "order" };
      // Later requests within the hour do not write the last use of the key.
      await account.get("/v2/jobs");
      const post = (bindings: Env) => sendTo(bindings, "/v2/jobs", { method: "POST", body: jobBody(), headers });
      const before = (await listDurableObjectIds(env.JOB)).length;
      const failed = await post(withFaults((call) => (call === at ? fault : null)));
      expect([failed.status, failed.body.error_code]).toEqual([503, "service_unavailable"]);
      expect(failed.headers.get("retry-after")).toBe("5");
      const [first, second] = [await post(env), await post(env)];
      expect([first.status, second.status, second.body]).toEqual([201, 201, first.body]);
      const { body: list } = await account.get("/v2/jobs");
      expect(list.jobs).toMatchObject([first.body]);
      expect((await listDurableObjectIds(env.JOB)).length - before).toBe(1);
    },
  );
});

describe("while the database is down", () => {
  it("every route responds with 503 and Retry-After, and no route with 500", async () => {
    const headers = basic((await newAccount()).key);
    const node = bearer(await newNodeToken());
    const admin = bearer(ADMIN);
    const { body: job } = await send("/v2/jobs", { method: "POST", body: jobBody(), headers });
    const lease = `/v2/nodes/leases/${job.id}.inspect.1`;
    const failure = { token: "t", failure: { code: "node_failed", message: "It broke" } };
    const requests: [string, Asked][] = [
      ["/v2/jobs", { headers }],
      ["/v2/jobs", { method: "POST", body: jobBody(), headers }],
      [`/v2/jobs/${job.id}`, { headers }],
      [`/v2/jobs/${job.id}`, { method: "DELETE", headers }],
      [`/v2/jobs/${job.id}/retry`, { method: "POST", headers }],
      [`/v2/jobs/${job.id}/events`, { headers }],
      [`/v2/jobs/${job.id}/notifications`, { headers }],
      [`/v2/metadata/jobs/${job.id}`, { headers }],
      [`${lease}/fail`, { method: "POST", body: failure, headers: node }],
      [`${lease}/uploads`, { method: "POST", body: { token: "t", files: [] }, headers: node }],
      ["/v2/nodes/connect", { headers: node }],
      ["/v2/admin/accounts", { headers: admin }],
      ["/v2/admin/accounts", { method: "POST", body: { name: "x" }, headers: admin }],
      ["/v2/admin/node-tokens", { headers: admin }],
      ["/v2/admin/keys/000000000000", { method: "DELETE", headers: admin }],
    ];
    for (const [path, options] of requests) {
      const { status, headers, body } = await sendTo(DOWN, path, options);
      const answer = [status, headers.get("retry-after"), body.error_code];
      expect(answer, `${options.method ?? "GET"} ${path}`).toEqual([503, "5", "service_unavailable"]);
    }
  });

  it("the Worker gives up on a database that hangs before clients give up", async () => {
    const headers = basic((await newAccount()).key);
    const hanging = withFaults(() => "hangs");
    const { status } = await sendTo(hanging, "/v2/jobs", { headers });
    expect(status).toBe(503);
  });

  it.each(["rejects", "hangs", "loses the response"] as const)(
    "a running job goes on, and its row follows when the database is back (it %s)",
    async (fault) => {
      const spec = await newSpec({ outputs: { "mp4:240p": { path: "a.mp4" } } });
      const stub = jobOf(env, spec.id);
      await stub.create(spec);
      // The job's own effects and alarm would write a state without this version.
      await rewriteState(stub, (state) => state);
      await runInDurableObject(stub, async (_, state) => {
        await state.storage.deleteAlarm();
        const memory = new JobMemory(state.storage, () => {});
        const job = memory.live();
        memory.save({ ...job, version: 2, input: { ...job.input, status: "input.transferred" } });
        const faulty = withFaults(() => fault);
        await new EffectRunner(state, faulty, memory).onAlarm();
        expect(memory.state?.indexedVersion).toBe(1);
        expect(memory.state?.retries.index?.attempts).toBe(1);
      });
      await evictDurableObject(stub);
      // The failure left an alarm behind. It may ring by itself.
      await vi.waitFor(async () => {
        await runDurableObjectAlarm(stub);
        expect(await findJob(env.DB, spec.accountId, spec.id)).toMatchObject({ version: 2 });
      });
    },
  );
});

describe("a query that is wrong in itself", () => {
  it("reports a query that is not valid as an internal error, without the query's values", async () => {
    const columns = "(digest, account_id, created_at, name)";
    const query = env.DB.prepare(`INSERT INTO api_keys ${columns} VALUES (?, 'nobody', 0, '')`)
      .bind("secret-digest")
      .run();
    const error = await runQuery(query).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ name: "Error", message: expect.stringMatching(/rejected a query: .*FOREIGN KEY/) });
    expect(String(error)).not.toContain("secret-digest");
  });
});
