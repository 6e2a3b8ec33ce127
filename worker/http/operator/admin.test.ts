import { env } from "cloudflare:workers";
import { describe, expect, it, vi } from "vitest";
import { nodeTokenOf } from "../../db/credentials.ts";
import { JobObject } from "../../job/job-object.ts";
import { basic, bearer, jobBody, newAccount, operator, send } from "../../testing/jobs.ts";
import { nodeTokenDigest } from "../auth/auth.ts";

const NOT_VALID = { error_code: "request_not_valid", status: "error" };

describe("/v2/admin", () => {
  const admin = (method: string, path: string, body?: unknown) => operator.request(method, `/v2/admin${path}`, body);

  it("creates keys that give access until they are revoked", async () => {
    const fresh = await newAccount();
    const { body: second } = await admin("POST", `/accounts/${fresh.id}/keys`);
    const statusWith = async (key: string) => (await send("/v2/jobs", { headers: basic(key) })).status;
    expect([await statusWith(fresh.key), await statusWith(second.api_key)]).toEqual([200, 200]);
    expect(await admin("DELETE", `/keys/${second.id}`)).toMatchObject({ status: 200, body: { revoked: true } });
    expect([await statusWith(fresh.key), await statusWith(second.api_key)]).toEqual([200, 401]);
    const { body } = await admin("GET", `/accounts/${fresh.id}/keys`);
    expect(body.keys.map((key: { revoked_at: string | null }) => key.revoked_at === null)).toEqual([true, false]);
    expect(JSON.stringify(body)).not.toContain(second.api_key);
    expect((await admin("GET", "/accounts")).body.accounts).toContainEqual(
      expect.objectContaining({ id: fresh.id, name: "test" }),
    );
  });

  it("creates node tokens that are valid until they are revoked", async () => {
    const { body: made } = await admin("POST", "/node-tokens", { name: "attic" });
    const connect = async () => (await send("/v2/nodes/connect", { headers: bearer(made.node_token) })).status;
    expect(await connect()).toBe(400);
    await admin("DELETE", `/node-tokens/${made.id}`);
    expect(await connect()).toBe(401);
    const { body } = await admin("GET", "/node-tokens");
    expect(body.node_tokens).toContainEqual(
      expect.objectContaining({ id: made.id, name: "attic", revoked_at: expect.stringMatching(/ \+0000$/) }),
    );
  });

  it.each([
    [{}, "`name` is missing"],
    [{ name: " " }, "`name` must not be empty"],
    [{ name: "x".repeat(101) }, "`name` must have at most 100 characters"],
    [{ name: "a\ud800" }, "`name` must be valid Unicode text, without unpaired surrogates"],
    [{ name: "me", role: "chief" }, "The body has no field `role`; allowed: name"],
    [["me"], "The body must be an object"],
  ])("rejects the name in %j with a single sentence", async (body, message) => {
    for (const path of ["/accounts", "/node-tokens"]) {
      const refused = await admin("POST", path, body);
      const allowed = path === "/accounts" ? "name" : "name, pool, labels";
      expect([refused.status, refused.body]).toEqual([
        400,
        { ...NOT_VALID, message: message.replace("allowed: name", `allowed: ${allowed}`) },
      ]);
    }
  });

  it("binds node tokens to a pool and labels", async () => {
    const bound = { pool: "gpu-eu", labels: ["gpu", "region:eu"] };
    const token = { name: "bound", pool: "gpu-eu", labels: ["region:eu", "gpu"] };
    const { body: made } = await admin("POST", "/node-tokens", token);
    expect(made).toMatchObject(bound);
    const { body: plain } = await admin("POST", "/node-tokens", { name: "plain" });
    expect(plain).toMatchObject({ pool: "default", labels: [] });
    const { body } = await admin("GET", "/node-tokens");
    expect(body.node_tokens).toContainEqual(expect.objectContaining({ id: made.id, ...bound }));
    expect(await nodeTokenOf(env.DB, await nodeTokenDigest(made.node_token))).toMatchObject(bound);
  });

  it.each([
    [{ pool: "GPU" }, "`pool` must have 1 to 32 characters: small letters, digits and - after the first"],
    [{ pool: null }, "`pool` must be the name of a pool"],
    [{ labels: "gpu" }, "`labels` must be a list of labels, such as gpu or region:eu"],
    [{ labels: [""] }, expect.stringMatching(/^`labels\.0` must be a label/)],
    [{ label: ["gpu"] }, "The body has no field `label`; did you mean `labels`? Allowed: name, pool, labels"],
  ])("rejects the binding %j of a node token", async (binding, message) => {
    const refused = await admin("POST", "/node-tokens", { name: "x", ...binding });
    expect([refused.status, refused.body]).toEqual([400, { ...NOT_VALID, message }]);
  });

  it("changes an account's limits separately, for the jobs that it creates from then on", async () => {
    const { id, key } = await newAccount();
    const limits = { max_unfinished_jobs: null, max_running: null, max_priority: null, weight: 1 };
    const change = (body: object) => admin("POST", `/accounts/${id}/limits`, body);
    expect((await change({ weight: 3 })).body).toEqual({ account_id: id, ...limits, weight: 3 });
    expect((await change({ max_running: 8 })).body).toEqual({ account_id: id, ...limits, weight: 3, max_running: 8 });
    expect((await change({ max_priority: -10 })).body).toMatchObject({ weight: 3, max_running: 8, max_priority: -10 });
    expect((await admin("GET", "/accounts")).body.accounts).toContainEqual(
      expect.objectContaining({ id, weight: 3, max_running: 8 }),
    );
    const create = vi.spyOn(JobObject.prototype, "create");
    const { body: job } = await send("/v2/jobs", { method: "POST", body: jobBody(), headers: basic(key) });
    expect(create.mock.lastCall?.[0].share).toEqual({ weight: 3, maxRunning: 8, maxPriority: -10 });
    create.mockRestore();
    await send(`/v2/jobs/${job.id}`, { method: "DELETE", headers: basic(key) });
    expect((await change({ max_running: null })).body).toMatchObject({ max_running: null, weight: 3 });
  });

  it.each([
    [{ weight: 0 }, "`weight` must be a whole number from 1 to 1000"],
    [{ weight: null }, "`weight` must be a whole number from 1 to 1000"],
    [{ max_running: 0 }, "`max_running` must be null or a whole number from 1 to 100000"],
    [{ max_priority: 51 }, "`max_priority` must be null or a whole number from -50 to 50"],
    [{}, "The body must have at least one of max_unfinished_jobs, max_running, max_priority, weight"],
  ])("rejects the limits %j", async (body, message) => {
    const { id } = await newAccount();
    const refused = await admin("POST", `/accounts/${id}/limits`, body);
    expect([refused.status, refused.body]).toEqual([400, { ...NOT_VALID, message }]);
  });

  const rejected: [string, string, unknown, number, string][] = [
    ["POST", "/accounts", undefined, 400, "json_not_valid"],
    ["POST", "/accounts/nobody/keys", undefined, 404, "account_not_found"],
    ["GET", "/accounts/nobody/keys", undefined, 404, "account_not_found"],
    ["DELETE", "/keys/000000000000", undefined, 404, "credential_not_found"],
    ["DELETE", "/keys/%25", undefined, 404, "credential_not_found"],
    ["DELETE", "/node-tokens/000000000000", undefined, 404, "credential_not_found"],
  ];
  it.each(rejected)("%s %s %j is rejected", async (method, path, body, status, code) => {
    const refused = await admin(method, path, body);
    expect([refused.status, refused.body.error_code]).toEqual([status, code]);
  });
});
