import { describe, expect, it } from "vitest";
import { ADMIN, basic, bearer, newAccount, send } from "../../testing/jobs.ts";

describe("/v2/admin", () => {
  const admin = (method: string, path: string, body?: unknown) =>
    send(`/v2/admin${path}`, { method, body, headers: bearer(ADMIN) });

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
  ])("rejects the name in %j with one sentence", async (body, message) => {
    for (const path of ["/accounts", "/node-tokens"]) {
      const refused = await admin("POST", path, body);
      expect([refused.status, refused.body]).toEqual([
        400,
        { message, error_code: "request_not_valid", status: "error" },
      ]);
    }
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
