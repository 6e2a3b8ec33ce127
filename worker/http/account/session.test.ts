import { env, exports } from "cloudflare:workers";
import { expect, it, vi } from "vitest";
import { ADMIN, basic, bearer, newAccount, operator, send, useAccount } from "../../testing/jobs.ts";
import { app } from "../app.ts";

const SAME = { "sec-fetch-site": "same-origin", "sec-fetch-mode": "cors" };
type Headers = Record<string, string>;

/** The cookie of a response. */
const cookieOf = (headers: globalThis.Headers) => ({ cookie: headers.getSetCookie()[0]?.split(";")[0] ?? "" });
const signIn = async (headers: Headers, body?: unknown) => {
  const answer = await send("/v2/session", { method: "POST", headers: { ...SAME, ...headers }, body });
  return { ...answer, cookie: { ...SAME, ...cookieOf(answer.headers) } };
};
const newLink = async (headers: Headers, body?: unknown) => {
  const answer = await send("/v2/session/links", { method: "POST", headers, body });
  return { ...answer, once: new URL(answer.body.url ?? "https://none").hash.replace("#once=", "") };
};
const revokeKeys = async (id: string) => {
  const { body } = await operator.get(`/v2/admin/accounts/${id}/keys`);
  for (const key of body.keys) await operator.delete(`/v2/admin/keys/${key.id}`);
};

const account = useAccount();

it("signs in with an API key: the cookie acts as the key, and contains nothing readable", async () => {
  const { status, body, headers, cookie } = await signIn(basic(account.key));
  expect([status, body.account, body.operator]).toEqual([200, { id: account.id, name: "test" }, false]);
  expect(Date.parse(body.expires_at) - Date.now()).toBeGreaterThan(11.9 * 3_600_000);
  const [sent = ""] = headers.getSetCookie();
  expect(sent).toMatch(/^__Host-copra=[^;]+; Max-Age=43\d+; Path=\/; HttpOnly; Secure; SameSite=Strict$/);
  expect(decodeURIComponent(sent)).not.toContain(account.key.slice(2, 12));
  expect((await send("/v2/jobs", { headers: cookie })).body).toMatchObject({ jobs: [] });
  expect((await send("/v2/session", { headers: cookie })).body).toEqual(body);
  expect((await account.get("/v2/session")).body).toEqual({ ...body, expires_at: null });
  // The cookie does not have the operator's rights.
  expect((await send("/v2/admin/accounts", { headers: cookie })).status).toBe(401);
});

it("names the cookie of plain HTTP by its port", async () => {
  const headers = { ...SAME, ...basic(account.key) };
  const answer = await app.request("http://127.0.0.1:8787/v2/session", { method: "POST", headers }, env);
  expect(answer.headers.get("set-cookie")).toMatch(
    /^copra-8787=[^;]+; Max-Age=43\d+; Path=\/; HttpOnly; SameSite=Strict$/,
  );
});

const OUTSIDE = "https://encode.example.com";
it.each<[string, string, string, RegExp]>([
  [OUTSIDE, "http://encode.example.com", OUTSIDE, /^__Host-copra=.*; Secure/],
  // nginx inserts the host that it forwards to.
  [OUTSIDE, "http://127.0.0.1:8787", OUTSIDE, /^__Host-copra=.*; Secure/],
  [OUTSIDE, "http://backend", OUTSIDE, /^__Host-copra=.*; Secure/],
  [OUTSIDE, "http://localhost.example.com", "http://localhost.example.com", /^__Host-copra=.*; Secure/],
  [OUTSIDE, "http://127.0.0.1:8787", "http://127.0.0.1:8787", /^copra-8787=(?!.*Secure)/],
  [OUTSIDE, "http://[::1]:8787", "http://[::1]:8787", /^copra-8787=(?!.*Secure)/],
  ["http://encode.example.com", "http://encode.example.com", "http://encode.example.com", /^copra-80=(?!.*Secure)/],
])("with the public URL %s, at %s, a page of %s gets a cookie like %s", async (PUBLIC_URL, host, origin, expected) => {
  const behind = { ...env, PUBLIC_URL };
  const headers = { ...SAME, origin, ...basic(account.key) };
  const answer = await app.request(`${host}/v2/session`, { method: "POST", headers }, behind);
  expect(answer.headers.get("set-cookie")).toMatch(expected);
  // Browsers send no Origin with requests that only read.
  const read = await app.request(`${host}/v2/jobs`, { headers: cookieOf(answer.headers) }, behind);
  expect(read.status).toBe(200);
});

it.each<[string, Headers]>([
  ["nothing", {}],
  ["an unknown key", basic(`k-${"0".repeat(43)}`)],
  ["a wrong admin token", bearer("wrong")],
  ["a node token", bearer(`n-${"0".repeat(43)}`)],
])("does not sign in with %s, and asks no browser for a password", async (_, headers) => {
  const { status, headers: answer } = await signIn(headers, "authorization" in headers ? undefined : { once: "guess" });
  expect([status, answer.getSetCookie()]).toEqual([401, []]);
  expect(answer.get("www-authenticate")).toMatch(/^Session /);
});

it("an operator's session acts for the accounts that it names", async () => {
  const { cookie, body } = await signIn(bearer(ADMIN));
  expect(body).toMatchObject({ account: null, operator: true });
  expect((await send("/v2/admin/accounts", { headers: cookie })).status).toBe(200);
  expect((await send("/v2/autoscale", { headers: cookie })).status).toBe(200);
  const jobs = (headers: Headers) => send("/v2/jobs", { headers }).then(({ status }) => status);
  expect(await jobs(cookie)).toBe(401);
  expect(await jobs({ ...cookie, "copra-account": account.id })).toBe(200);
  expect(await jobs({ ...bearer(ADMIN), "copra-account": account.id })).toBe(200);
  expect(await jobs({ ...cookie, "copra-account": "unknown" })).toBe(404);
  expect(await jobs({ ...basic(account.key), "copra-account": account.id })).toBe(401);
  expect(await jobs({ ...bearer("wrong"), "copra-account": account.id })).toBe(401);
  // A new admin token ends the session.
  const other = { ...env, ADMIN_TOKEN: "another-admin-token-of-32-characters" };
  expect((await app.request("/v2/admin/accounts", { headers: cookie }, other)).status).toBe(401);
});

it("a second credential adds its rights to the session, and each credential is lost separately", async () => {
  const mine = await newAccount();
  const first = await signIn(basic(mine.key));
  const { body, cookie } = await signIn({ ...first.cookie, ...bearer(ADMIN) });
  expect(body).toMatchObject({ account: { id: mine.id }, operator: true });
  await revokeKeys(mine.id);
  expect((await send("/v2/session", { headers: cookie })).body).toMatchObject({ account: null, operator: true });
  expect((await send("/v2/session", { headers: first.cookie })).status).toBe(401);
});

it("a revoked key ends its sessions at once", async () => {
  const mine = await newAccount();
  const { cookie } = await signIn(basic(mine.key));
  expect((await send("/v2/jobs", { headers: cookie })).status).toBe(200);
  await revokeKeys(mine.id);
  for (const path of ["/v2/jobs", "/v2/events", "/v2/usage", "/v2/session"]) {
    const { status, headers, body } = await send(path, { headers: cookie });
    expect([path, status, body.error_code]).toEqual([path, 401, "authentication_failed"]);
    expect(headers.get("www-authenticate")).toMatch(/^Session /);
  }
});

it.each<[string, Headers, number]>([
  ["a page of the service", SAME, 200],
  ["a page of the service, over plain HTTP", { origin: "https://copra.test" }, 200],
  ["a page of another site", { "sec-fetch-site": "cross-site", origin: "https://copra.test" }, 403],
  ["a page of a neighbor", { "sec-fetch-site": "same-site" }, 403],
  ["the address bar", { "sec-fetch-site": "none" }, 403],
  ["another origin", { origin: "https://evil.example" }, 403],
  ["no page", {}, 403],
])("with a cookie, a change from %s gets %j: %i", async (_, headers, expected) => {
  const { cookie } = (await signIn(basic(account.key))).cookie;
  const change = (path: string) =>
    send(path, { method: "POST", body: { ids: ["AAAAAAAAAAAAAA"] }, headers: { ...headers, cookie } });
  const { status, body } = await change("/v2/jobs/cancel");
  expect([status, body.error_code]).toEqual([expected, expected === 403 ? "cross_site_request" : undefined]);
  // Reading needs no check: other sites do not send the cookie, and could not read the response.
  expect((await send("/v2/jobs", { headers: { ...headers, cookie } })).status).toBe(200);
});

it("another site cannot sign a person in or out", async () => {
  const cross = { "sec-fetch-site": "cross-site" };
  const { once } = await newLink(basic(account.key));
  const attempt = { method: "POST", headers: cross, body: { once } };
  expect((await send("/v2/session", attempt)).body.error_code).toBe("cross_site_request");
  const { cookie } = await signIn({}, { once });
  expect((await send("/v2/session", { method: "DELETE", headers: { ...cookie, ...cross } })).status).toBe(403);
  const out = await send("/v2/session", { method: "DELETE", headers: cookie });
  expect([out.status, out.headers.getSetCookie()[0]]).toEqual([
    200,
    expect.stringMatching(/^__Host-copra=; Max-Age=0/),
  ]);
});

it("signing out ends the session: a copy of its cookie gives no access, and other sessions continue", async () => {
  const [mine, other] = [await signIn(basic(account.key)), await signIn(basic(account.key))];
  const { once } = await newLink(mine.cookie);
  const device = await signIn({}, { once });
  expect((await send("/v2/session", { method: "DELETE", headers: mine.cookie })).status).toBe(200);
  for (const path of ["/v2/jobs", "/v2/session"]) {
    expect([path, (await send(path, { headers: mine.cookie })).status]).toEqual([path, 401]);
  }
  expect((await newLink(mine.cookie)).status).toBe(401);
  for (const { cookie } of [other, device]) expect((await send("/v2/jobs", { headers: cookie })).status).toBe(200);
  // Signing in again replaces the session, and the old cookie ends, too.
  const again = await signIn({ ...other.cookie, ...bearer(ADMIN) });
  expect((await send("/v2/jobs", { headers: other.cookie })).status).toBe(401);
  expect((await send("/v2/jobs", { headers: again.cookie })).status).toBe(200);
});

it("a link signs in once, with the rights of its credential, and for the account that the operator chose", async () => {
  const { once, body, status } = await newLink(bearer(ADMIN), { account: account.id });
  expect([status, body.url]).toEqual([200, `https://copra.test/dashboard#once=${once}`]);
  const responses = await Promise.all([1, 2, 3].map(() => signIn({}, { once })));
  expect(responses.map(({ status }) => status).sort()).toEqual([200, 401, 401]);
  const won = responses.find(({ status }) => status === 200);
  expect(won?.body).toMatchObject({ account: { id: account.id, name: "test" }, operator: true });
  expect((await send("/v2/jobs", { headers: won?.cookie ?? {} })).status).toBe(200);
  // A session also makes links, for another device.
  expect((await newLink(won?.cookie ?? {})).status).toBe(200);
  expect((await newLink({ cookie: won?.cookie.cookie ?? "" })).body.error_code).toBe("cross_site_request");
});

it("a session lasts twelve hours, whatever credential renews it", async () => {
  const first = await signIn(basic(account.key));
  const { once } = await newLink(first.cookie);
  const other = await newAccount();
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 5000 });
  try {
    expect((await signIn({}, { once })).body.expires_at).toBe(first.body.expires_at);
    const operator = await signIn({ ...first.cookie, ...bearer(ADMIN) });
    expect(operator.body.expires_at).toBe(first.body.expires_at);
    // Otherwise the operator's rights would last longer beside the person's own key.
    const twice = await signIn({ ...operator.cookie, ...basic(other.key) });
    expect(twice.body).toMatchObject({ account: { id: other.id }, expires_at: first.body.expires_at });
    const again = await signIn({ ...first.cookie, ...basic(account.key) });
    expect(again.body.expires_at > first.body.expires_at).toBe(true);
  } finally {
    vi.useRealTimers();
  }
});

it("a preview of a link changes nothing", async () => {
  const mine = await newAccount();
  const before = (await signIn(basic(account.key))).cookie;
  const { once } = await newLink(basic(mine.key));
  const look = () => send("/v2/session", { method: "POST", headers: before, body: { once, preview: true } });
  for (const { status, body, headers } of [await look(), await look()]) {
    expect([status, body.account.id, body.operator, headers.getSetCookie()]).toEqual([200, mine.id, false, []]);
  }
  expect((await signIn(before, { once })).body.account.id).toBe(mine.id);
  // An invalid link ends no session.
  const revoked = await newLink(basic(mine.key));
  await revokeKeys(mine.id);
  for (const secret of [once, revoked.once]) {
    const body = { once: secret, preview: true };
    const answer = await send("/v2/session", { method: "POST", headers: before, body });
    expect([answer.status, answer.headers.getSetCookie()]).toEqual([401, []]);
  }
  const foreign = { ...before, "sec-fetch-site": "cross-site" };
  const refused = await send("/v2/session", { method: "POST", headers: foreign, body: { once, preview: true } });
  expect(refused.body.error_code).toBe("cross_site_request");
  const wrong = await send("/v2/session", { method: "POST", headers: before, body: { once, preview: "yes" } });
  expect(wrong.body).toMatchObject({ error_code: "request_not_valid", message: expect.stringContaining("preview") });
});

it("a link lasts a minute, and at most as long as its credential", async () => {
  const mine = await newAccount();
  const late = await newLink(basic(mine.key));
  await env.DB.prepare("UPDATE session_links SET expires_at = expires_at - 61000").run();
  // Before another link: the next link removes expired links.
  expect((await signIn({}, { once: late.once, preview: true })).status).toBe(401);
  expect((await signIn({}, { once: late.once })).status).toBe(401);
  const revoked = await newLink(basic(mine.key));
  await revokeKeys(mine.id);
  expect((await signIn({}, { once: revoked.once })).status).toBe(401);
});

it("the stored data of a link serves neither as a cookie nor as another link", async () => {
  const sealedOf = () => env.DB.prepare("SELECT digest, sealed FROM session_links").all<Record<string, string>>();
  await env.DB.prepare("DELETE FROM session_links").run();
  await newLink(bearer(ADMIN));
  const [stolen] = (await sealedOf()).results;
  const cookie = `__Host-copra=${encodeURIComponent(stolen?.sealed ?? "")}`;
  expect((await send("/v2/session", { headers: { ...SAME, cookie } })).status).toBe(401);
  const mine = await newLink(basic(account.key));
  await env.DB.prepare("UPDATE session_links SET sealed = ?").bind(stolen?.sealed).run();
  expect((await signIn({}, { once: mine.once })).status).toBe(401);
});

it.each<[string, () => Headers, unknown, string]>([
  ["no credential", () => SAME, {}, "authentication_failed"],
  ["an account with an API key", () => basic(account.key), { account: "other" }, "request_not_valid"],
  ["an account that does not exist", () => bearer(ADMIN), { account: "unknown" }, "account_not_found"],
  ["another field", () => bearer(ADMIN), { name: "x" }, "request_not_valid"],
])("rejects a new link with %s", async (_, headers, body, code) => {
  expect((await newLink(headers(), body)).body.error_code).toBe(code);
});

it.each(["x", "s1.t1.AAAA", "s1.gone.AAAA", "", "x".repeat(5000)])(
  "a cookie of another service gives no access: %#",
  async (text) => {
    const response = await exports.default.fetch(
      new Request("https://copra.test/v2/jobs", { headers: { cookie: `__Host-copra=${text}` } }),
    );
    expect(response.status).toBe(401);
  },
);

it("parses no more than 4 kB of a body without credentials", async () => {
  const link = JSON.stringify({ once: "a".repeat(40) });
  const [fits, tooLarge] = [link.padEnd(4096), link.padEnd(4097)];
  expect(await send("/v2/session", { method: "POST", headers: SAME, raw: fits })).toMatchObject({ status: 401 });
  const refused = await send("/v2/session", { method: "POST", headers: SAME, raw: tooLarge });
  expect(refused).toMatchObject({ status: 413, body: { error_code: "body_too_large" } });
});
