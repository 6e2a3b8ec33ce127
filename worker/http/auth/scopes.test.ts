// Each scope of an API key against each route of clients; keys that expire.
import { env } from "cloudflare:workers";
import { afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { SCOPE_NAMES, type Scope } from "#shared/api/scopes.ts";
import { basic, jobBody, operator, send, useAccount } from "../../testing/jobs.ts";
import { fill } from "../../testing/routes.ts";
import { app } from "../app.ts";
import { OPERATIONS } from "../openapi/operations.ts";
import { isForKeys, routeParts } from "../operation/operation.ts";
import type { KeyAccess } from "./scopes.ts";

const PARAMETERS = {
  id: "AAAAAAAAAAAAAA",
  nid: "msg_1",
  key: "input",
  number: "1",
  name: "web",
  template: "web",
  token: "t",
};
type Route = { readonly id: string; readonly method: string; readonly path: string; readonly access: KeyAccess };
const CLIENT_ROUTES = OPERATIONS.flatMap(({ id, route, access }): Route[] => {
  const [method, path] = routeParts(route);
  return isForKeys(access) ? [{ id, method, path, access }] : [];
});

const account = useAccount();
const restricted = new Map<Scope, string>();
beforeAll(async () => {
  for (const scope of SCOPE_NAMES) restricted.set(scope, await newKey({ scopes: [scope] }));
});
afterEach(() => vi.useRealTimers());

const createKey = (body?: unknown) => operator.post(`/v2/admin/accounts/${account.id}/keys`, body);
const newKey = async (body?: unknown): Promise<string> => (await createKey(body)).body.api_key;

async function codeOf(route: Route, key: string): Promise<string | null> {
  const path = fill(route, PARAMETERS);
  const response = await app.request(path, { method: route.method, headers: basic(key) }, env);
  const isStream = response.headers.get("content-type")?.startsWith("text/event-stream");
  if (isStream) await response.body?.cancel();
  return isStream ? null : (((await response.json()) as { error_code?: string }).error_code ?? null);
}

/** Scopes that allow jobs of some kind. */
const JOBS: readonly Scope[] = ["jobs:create", "templates:use"];
const isOnly = (needed: readonly Scope[], scope: Scope): boolean =>
  needed.every((neededScope) => neededScope === scope);

describe("operations of clients", () => {
  it.each(CLIENT_ROUTES)("$id takes a key with each scope only if it needs no other scope", async (route) => {
    const { access } = route;
    for (const [scope, key] of restricted) {
      const isAllowed =
        typeof access === "string" ? access === "job-key" && JOBS.includes(scope) : isOnly(access, scope);
      const code = await codeOf(route, key);
      expect([scope, code === "scope_missing"]).toEqual([scope, !isAllowed]);
    }
  });

  it.each(CLIENT_ROUTES)("$id takes a key with all scopes, unless it needs a key without scopes", async (route) => {
    const all = await newKey({ scopes: SCOPE_NAMES });
    expect((await codeOf(route, all)) === "scope_missing").toBe(route.access === "unscoped-key");
  });
});

describe("a key with scopes", () => {
  it("gets an error that names the missing scope and its own scopes", async () => {
    const key = await newKey({ scopes: ["jobs:read", "usage:read"] });
    const refused = await send("/v2/jobs", { method: "POST", body: jobBody(), headers: basic(key) });
    expect([refused.status, refused.body.error_code, refused.body.message]).toEqual([
      403,
      "scope_missing",
      "The API key has no scope `jobs:create`; its scopes: jobs:read, usage:read",
    ]);
  });

  it("creates a job that it cannot read", async () => {
    const headers = basic(restricted.get("jobs:create") ?? "");
    const created = await send("/v2/jobs", { method: "POST", body: jobBody(), headers });
    expect(created.status).toBe(201);
    expect((await send(`/v2/jobs/${created.body.id}`, { headers })).status).toBe(403);
    expect((await send(`/v2/jobs/${created.body.id}`, { method: "DELETE", headers })).status).toBe(200);
  });

  it.each<[string, string, object | undefined]>([
    ["PATCH", "", { tags: { tenant: "b" } }],
    ["PATCH", "", { settings: { priority: 1 } }],
    ["DELETE", "", undefined],
    ["POST", "/retry", undefined],
  ])("learns only the status of a job that it changes by %s %s", async (method, path, body) => {
    const created = await account.post("/v2/jobs", jobBody());
    const url = `/v2/jobs/${created.body.id}`;
    if (path === "/retry") await account.delete(url);
    const headers = basic(restricted.get("jobs:create") ?? "");
    const changed = await send(`${url}${path}`, { method, body, headers });
    const status = method === "DELETE" ? "job.aborted" : "job.starting";
    expect([changed.status, changed.body]).toEqual([200, { id: created.body.id, status }]);
    const reader = basic(await newKey({ scopes: ["jobs:create", "jobs:read"] }));
    const tagged = await send(url, { method: "PATCH", body: { tags: { tenant: "c" } }, headers: reader });
    expect(tagged.body).toMatchObject({ id: created.body.id, outputs: expect.any(Array) });
  });

  it.each([
    ["GET", "/v2/nothing", 404],
    ["PUT", "/v2/jobs", 405],
    ["HEAD", "/v2/jobs", 200],
    ["GET", "/v2/jobs/", 200],
  ])("gets the usual response for %s %s", async (method, path, status) => {
    const headers = basic(restricted.get("jobs:read") ?? "");
    expect((await app.request(path, { method, headers }, env)).status).toBe(status);
  });

  it("starts sessions and links with the same scopes", async () => {
    const key = basic(restricted.get("jobs:read") ?? "");
    const same = { "sec-fetch-site": "same-origin" };
    const signedIn = await send("/v2/session", { method: "POST", headers: { ...same, ...key } });
    expect(signedIn.body).toMatchObject({ account: { id: account.id }, scopes: ["jobs:read"], operator: false });
    const cookie = { ...same, cookie: signedIn.headers.getSetCookie()[0]?.split(";")[0] ?? "" };
    expect((await send("/v2/jobs", { headers: cookie })).status).toBe(200);
    const refused = await send("/v2/jobs", { method: "POST", body: jobBody(), headers: cookie });
    expect(refused.body.error_code).toBe("scope_missing");
    const link = await send("/v2/session/links", { method: "POST", headers: cookie });
    const once = new URL(link.body.url).hash.replace("#once=", "");
    const opened = await send("/v2/session", { method: "POST", headers: same, body: { once } });
    expect(opened.body.scopes).toEqual(["jobs:read"]);
  });

  it("has only the rights of known scopes after a downgrade", async () => {
    const { body: made } = await createKey({ scopes: ["jobs:read"] });
    const change = env.DB.prepare("UPDATE api_keys SET scopes = ? WHERE digest LIKE ?");
    await change.bind('["of:tomorrow"]', `${made.id}%`).run();
    for (const route of CLIENT_ROUTES) expect(await codeOf(route, made.api_key)).toBe("scope_missing");
  });
});

describe("a key that may only use templates", () => {
  const put = (body: object) => account.put("/v2/templates/web", body);
  const create = (body: object, path = "/v2/jobs") =>
    send(path, { method: "POST", body, headers: basic(restricted.get("templates:use") ?? "") });

  it("creates jobs of templates with variables, and plans them", async () => {
    await put(jobBody({ input: { url: "https://media.example.com/{{ vars.name }}.mp4" } }));
    const created = await create({ template: "web", vars: { name: "a" } });
    expect([created.status, created.body.template]).toEqual([201, "web@1"]);
    expect((await create({ template: "web", vars: { name: "a" } }, "/v2/jobs?dry_run=true")).status).toBe(200);
    const headers = basic(restricted.get("templates:use") ?? "");
    expect((await send("/v2/templates/web", { headers })).body).toMatchObject({ variables: ["name"] });
    expect((await send(`/v2/jobs/${created.body.id}`, { headers })).status).toBe(403);
  });

  it.each<[string, object, RegExp]>([
    ["no template", jobBody(), /with the scope `templates:use` alone, .*, and it names no template$/],
    ["another source", { template: "web", vars: {}, input: {} }, /, and it has `input`$/],
    ["another storage", { template: "web", storage: { endpoint: "https://evil.example" } }, /, and it has `storage`$/],
    ["a removed section", { template: "web", notification: null }, /, and it has `notification`$/],
    ["other tags", { template: "web", tags: { tenant: "b" } }, /, and it has `tags`$/],
  ])("creates no job with %s, and plans none", async (_, body, message) => {
    for (const path of ["/v2/jobs", "/v2/jobs?dry_run=true"]) {
      const refused = await create(body, path);
      expect([refused.status, refused.body.error_code, refused.body.message]).toEqual([
        403,
        "scope_missing",
        expect.stringMatching(message),
      ]);
    }
  });
});

describe("a key that expires", () => {
  it("is valid until its end, and its sessions with it", async () => {
    const end = Date.now() + 3_600_000;
    const key = await newKey({ expires_at: new Date(end).toISOString() });
    const same = { "sec-fetch-site": "same-origin" };
    const { body, headers } = await send("/v2/session", { method: "POST", headers: { ...same, ...basic(key) } });
    expect(Date.parse(body.expires_at)).toBe(end);
    const cookie = { cookie: headers.getSetCookie()[0]?.split(";")[0] ?? "" };
    const statuses = async () => [
      (await send("/v2/jobs", { headers: basic(key) })).status,
      (await send("/v2/jobs", { headers: cookie })).status,
    ];
    vi.useFakeTimers({ toFake: ["Date"], now: end - 1 });
    expect(await statuses()).toEqual([200, 200]);
    vi.setSystemTime(end);
    expect(await statuses()).toEqual([401, 401]);
  });

  it.each([
    ["in an hour", 1, 1],
    ["in a month", 720, 12],
  ])("has sessions until its end, and for twelve hours at most: it ends %s", async (_, hours, expected) => {
    const key = await newKey({ expires_at: new Date(Date.now() + hours * 3_600_000).toISOString() });
    const headers = { "sec-fetch-site": "same-origin", ...basic(key) };
    const { body } = await send("/v2/session", { method: "POST", headers });
    expect(Math.round((Date.parse(body.expires_at) - Date.now()) / 3_600_000)).toBe(expected);
  });

  it.each([
    ["an end in the past", { expires_at: "2020-01-01T00:00:00Z" }],
    ["an end without a time zone", { expires_at: "2100-01-01T00:00:00" }],
    ["an unknown scope", { scopes: ["jobs:write"] }],
    ["no scope", { scopes: [] }],
    ["a misspelled field", { scope: ["jobs:read"] }],
    ["an empty name", { name: "" }],
  ])("is not created with %s", async (_, body) => {
    const refused = await createKey(body);
    expect([refused.status, refused.body.error_code]).toEqual([400, "request_not_valid"]);
  });

  it("is listed with its name, its scopes and its end", async () => {
    const body = { name: " reports ", scopes: ["usage:read", "usage:read"], expires_at: "2100-01-01T02:00:00+02:00" };
    const { body: made } = await createKey(body);
    const limits = { name: "reports", scopes: ["usage:read"], expires_at: "2100-01-01 00:00:00 +0000" };
    expect(made).toMatchObject(limits);
    const { body: list } = await operator.get(`/v2/admin/accounts/${account.id}/keys`);
    expect(list.keys.find(({ id }: { id: string }) => id === made.id)).toMatchObject(limits);
    expect(list.keys[0]).toMatchObject({ name: "", scopes: null, expires_at: null });
  });
});
