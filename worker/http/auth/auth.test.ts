// The cost of rejected credentials, and the end of access for revoked credentials.
import { env, exports } from "cloudflare:workers";
import { expect, it, vi } from "vitest";
import { contractDate } from "#shared/job/job-view.ts";
import { PROTOCOL_VERSION } from "#shared/protocol/frames.ts";
import { ADMITTED_HEADER, hubOf } from "../../rpc/hub.ts";
import { settingsOf } from "../../settings.ts";
import { ADMIN, basic, bearer, jobBody, newAccount, newNodeToken, operator, send } from "../../testing/jobs.ts";
import { measuredDatabase } from "../../testing/measured-database.ts";
import { fill, ROUTES } from "../../testing/routes.ts";
import { app } from "../app.ts";

const LEASE = "AAAAAAAAAAAAAA.encode.1";
const PARAMETERS = {
  id: "AAAAAAAAAAAAAA",
  nid: "msg_1",
  key: "input",
  lease: LEASE,
  number: "1",
  name: "web",
  template: "web",
  token: "t",
};
const UNKNOWN = "0123456789012345678901234567890123456789abc";

/** The real database, with a record of its statements. */
function watched(db: D1Database): { db: D1Database; statements: string[] } {
  const statements: string[] = [];
  const prepare = (sql: string): D1PreparedStatement => {
    statements.push(sql);
    return db.prepare(sql);
  };
  return { statements, db: { prepare, batch: db.batch.bind(db) } as D1Database };
}

const rowsOfAllTables = async (): Promise<unknown[]> => {
  const tables = ["accounts", "api_keys", "node_tokens", "jobs", "idempotency_keys"];
  return Promise.all(tables.map((table) => env.DB.prepare(`SELECT count(*) AS n FROM ${table}`).first("n")));
};

it.each<[string, Record<string, string>, number]>([
  ["no credential", {}, 0],
  ["what is no key", basic("k-guess"), 0],
  ["what is no key, and long", basic("k".repeat(300)), 0],
  ["a key of the other kind", basic(`n-${UNKNOWN}`), 0],
  ["what is no token", bearer("n-guess"), 0],
  ["an unknown key", basic(`k-${UNKNOWN}`), 1],
  ["an unknown node token", bearer(`n-${UNKNOWN}`), 1],
])("%s reads no database row and at most one index entry", async (_, headers, most) => {
  const before = await rowsOfAllTables();
  for (const route of ROUTES.filter(({ audience }) => audience !== "anyone")) {
    const { db, statements } = watched(env.DB);
    const answer = await app.request(fill(route, PARAMETERS), { method: route.method, headers }, { ...env, DB: db });
    expect(answer.status).toBe(401);
    expect(statements.length).toBeLessThanOrEqual(most);
    for (const sql of statements) expect(sql).toMatch(/^select .* where \(.*"digest" = \?/);
  }
  expect(await rowsOfAllTables()).toEqual(before);
});

it("limits the request rate per client key, but not for nodes", async () => {
  const tight = { ...env, CLIENT_RATE: env.TIGHT_RATE };
  const [busy, calm, token] = [await newAccount(), await newAccount(), await newNodeToken()];
  const ask = async (path: string, headers: Record<string, string>, method = "GET") =>
    (await app.request(path, { method, headers }, tight)).status;
  const times = async (count: number, path: string, headers: Record<string, string>, method?: string) => {
    const statuses: number[] = [];
    for (let at = 0; at < count; at++) statuses.push(await ask(path, headers, method));
    return statuses;
  };
  // The limit is two a minute. A minute may end and another start meanwhile.
  const refusedAt = async (headers: Record<string, string>) => (await times(5, "/v2/jobs", headers)).indexOf(429);
  expect([2, 3, 4]).toContain(await refusedAt(basic(busy.key)));
  // Unknown keys use up only their own rate.
  expect([2, 3, 4]).toContain(await refusedAt(basic(`k-${UNKNOWN}`)));
  expect(await ask("/v2/jobs", basic(calm.key))).toBe(200);
  expect(await times(4, "/v2/nodes/leases/AAAAAAAAAAAAAA.encode.1/fail", bearer(token), "POST")).not.toContain(429);
  expect(await times(4, "/v2/admin/accounts", bearer(ADMIN))).toEqual([200, 200, 200, 200]);
});

/** Number of unknown credentials that these tests allow from a network. */
const ALLOWED = 2;
const unknownKey = (number: number) => `k-${String(number).padStart(43, "0")}`;
const from = (address: string, headers: Record<string, string>) => ({ ...headers, "cf-connecting-ip": address });

it("looks up no unknown keys of a network that sent many, but looks up valid keys from any address", async () => {
  const { key, put, post } = await newAccount();
  await put("/v2/templates/web", jobBody());
  const { url: eventsUrl } = (await post("/v2/templates/web/tokens")).body;
  const { db, statements } = watched(env.DB);
  const tight = { ...env, DB: db, REFUSED_RATE: env.TIGHT_RATE };
  const ask = async (headers: Record<string, string>, path = "/v2/jobs") => {
    const answer = await app.request(path, { headers }, tight);
    return [answer.status, answer.headers.get("retry-after")];
  };
  const lookUps = () => statements.filter((sql) => /"digest" = \?/.test(sql)).length;
  for (let at = 0; at < 5; at++) await ask(from(`2001:db8:1:2::${at}`, basic(unknownKey(at))));
  const queries = lookUps();
  expect(queries).toBeLessThan(5);
  const refused = [429, "10"];
  expect(await ask(from("2001:db8:1:2:ffff::9", basic(unknownKey(9))))).toEqual(refused);
  expect(await ask(from("2001:db8:1:2:ffff::9", bearer(`n-${"0".repeat(43)}`)), "/v2/nodes/connect")).toEqual(refused);
  expect(lookUps()).toBe(queries);
  // These credentials were not used before, and come from the same network.
  expect(await ask(from("2001:db8:1:2::7", basic(key)))).toEqual([200, null]);
  const events = { method: "POST", body: "{}", headers: from("2001:db8:1:2::8", {}) };
  expect((await app.request(eventsUrl, events, tight)).status).toBe(400);
  expect(await ask(from("2001:db8:1:3::1", basic(unknownKey(9))))).toEqual([401, null]);
  // Without a well-formed credential, the database is not asked, and nothing is charged.
  for (const headers of [{}, basic("k-guess"), {}, basic("k-guess")]) {
    expect(await ask(from("192.0.2.1", headers))).toEqual([401, null]);
  }
});

it("looks up an unknown key once in ten seconds", async () => {
  const { db, statements } = watched(env.DB);
  for (let at = 0; at < 3; at++) {
    const answer = await app.request("/v2/jobs", { headers: basic(unknownKey(77)) }, { ...env, DB: db });
    expect(answer.status).toBe(401);
  }
  expect(statements.length).toBe(1);
});

it("blocks a network that sends wrong admin tokens for a minute, but never the right token", async () => {
  const tight = { ...env, ADMIN_REFUSED_RATE: env.TIGHT_RATE };
  const ask = async (address: string, token: string) => {
    const answer = await app.request("/v2/admin/accounts", { headers: from(address, bearer(token)) }, tight);
    return [answer.status, answer.headers.get("retry-after")];
  };
  const lines = vi.spyOn(console, "log");
  expect(await ask("198.51.100.1", "wrong")).toEqual([401, null]);
  expect(lines.mock.calls.flat().join()).toMatch(/"level":"warn".*"admin token rejected".*"address":"198.51.100.1"/);
  for (let at = 0; at < 2 * ALLOWED; at++) await ask("198.51.100.1", `wrong-${at}`);
  expect(await ask("198.51.100.1", "wrong")).toEqual([429, "60"]);
  expect(await ask("198.51.100.1", ADMIN)).toEqual([200, null]);
  expect(await ask("198.51.100.2", ADMIN)).toEqual([200, null]);
  lines.mockRestore();
});

it.each(["", "short", "x".repeat(31)])("rejects an admin token of less than 32 characters: %j", (token) => {
  expect(() => settingsOf({ ...env, ADMIN_TOKEN: token })).toThrow(/ADMIN_TOKEN must have at least 32 characters/);
});

it("a revoked API key gives no access", async () => {
  const { id, key } = await newAccount();
  const admin = (method: string, path: string) => operator.request(method, `/v2/admin${path}`);
  const { body } = await admin("GET", `/accounts/${id}/keys`);
  expect((await send("/v2/jobs", { headers: basic(key) })).status).toBe(200);
  await admin("DELETE", `/keys/${body.keys[0].id}`);
  for (const route of ROUTES.filter(({ audience }) => audience === "client")) {
    const path = fill(route, PARAMETERS);
    expect([path, (await send(path, { method: route.method, headers: basic(key) })).status]).toEqual([path, 401]);
  }
});

it.each<[string, string, number]>([
  ["an API key a second", "api_keys", 1000],
  ["a node token 30 seconds", "node_tokens", 30_000],
])("gives %s after its revocation through another isolate", async (_, table, keptMs) => {
  const account = await newAccount();
  const token = await newNodeToken();
  const use = async (): Promise<number> =>
    table === "api_keys"
      ? (await send("/v2/jobs", { headers: basic(account.key) })).status
      : (await send(`/v2/nodes/leases/${LEASE}/chunks`, { method: "POST", headers: bearer(token) })).status;
  const now = Date.now();
  vi.useFakeTimers({ toFake: ["Date"], now });
  expect(await use()).not.toBe(401);
  await env.DB.prepare(`UPDATE ${table} SET revoked_at = 1`).run();
  vi.setSystemTime(now + keptMs - 1);
  expect(await use()).not.toBe(401);
  vi.setSystemTime(now + keptMs);
  expect(await use()).toBe(401);
  vi.useRealTimers();
});

it("a revoked node token closes the sockets of its nodes and rejects their reports, without effect on other nodes", async () => {
  const admin = (method: string, path: string, body?: unknown) => operator.request(method, `/v2/admin${path}`, body);
  const { body: lost } = await admin("POST", "/node-tokens", { name: "lost" });
  const [first, second, other] = [
    await connect(lost.node_token, "first"),
    await connect(lost.node_token, "second"),
    await connect(await newNodeToken(), "other"),
  ];
  await vi.waitFor(async () => expect((await hubOf(env).stats()).nodes).toBe(3));
  const report = { method: "POST", headers: bearer(lost.node_token) };
  expect((await send(`/v2/nodes/leases/${LEASE}/chunks`, report)).status).toBe(400);
  const revoked = await admin("DELETE", `/node-tokens/${lost.id}`);
  expect(revoked).toMatchObject({ status: 200, body: { revoked: true } });
  expect(await Promise.all([first.closed, second.closed])).toEqual([1008, 1008]);
  expect((await hubOf(env).stats()).nodes).toBe(1);
  for (const route of ROUTES.filter(({ audience }) => audience === "node")) {
    const { status } = await send(fill(route, PARAMETERS), { method: route.method, headers: bearer(lost.node_token) });
    expect([route.path, status]).toEqual([route.path, 401]);
  }
  // The time of the revocation stays, however often the token is revoked.
  const revokedAt = async () =>
    env.DB.prepare("SELECT revoked_at FROM node_tokens WHERE name = 'lost'").first<number>("revoked_at");
  const at = await revokedAt();
  await admin("DELETE", `/node-tokens/${lost.id}`);
  expect(await revokedAt()).toBe(at);
  other.socket.close();
});

/** The socket of a node that has sent hello. */
async function connect(token: string, nodeId: string) {
  // The Worker overwrites the header if a node sends it.
  const headers = { ...bearer(token), upgrade: "websocket", [ADMITTED_HEADER]: '{"token":"of another"}' };
  const response = await exports.default.fetch(new Request("https://copra.test/v2/nodes/connect", { headers }));
  const socket = response.webSocket;
  if (!socket) throw new Error(`No socket: ${response.status}`);
  const closed = new Promise<number>((resolve) => socket.addEventListener("close", ({ code }) => resolve(code)));
  socket.accept();
  const capabilities = { ffmpegVersion: "7.0", encoders: [], filters: [], muxers: [], hardware: null, cpus: 1 };
  const slots = { inspect: 0, encode: 0 };
  const about = { nodeId, session: nodeId, capabilities, slots, running: [] };
  socket.send(JSON.stringify({ type: "hello", protocol: PROTOCOL_VERSION, ...about }));
  return { socket, closed };
}

it("writes one row an hour for the last use of a key, however many requests use it", async () => {
  const { id, key } = await newAccount();
  const { db, work } = measuredDatabase(env.DB);
  const clock = vi.spyOn(Date, "now");
  const lastUse = async () => (await operator.get(`/v2/admin/accounts/${id}/keys`)).body.keys[0].last_used_at;
  const use = () =>
    app.request("/v2/jobs/AAAAAAAAAAAAAA", { method: "DELETE", headers: basic(key) }, { ...env, DB: db });
  expect(await lastUse()).toBe(null);
  const start = Date.now();
  for (const [at, usedAt, rows] of [
    [start, start, 1],
    [start + 3_599_999, start, 1],
    [start + 3_600_000, start + 3_600_000, 2],
  ] as const) {
    clock.mockReturnValue(at);
    for (let request = 0; request < 3; request++) expect((await use()).status).toBe(404);
    await vi.waitFor(async () => expect(await lastUse()).toBe(contractDate(usedAt)));
    expect(work.rowsWritten).toBe(rows);
  }
  clock.mockRestore();
});

const HOW = "send the API key as the user name of HTTP Basic authentication, as `curl -u KEY:` does";
const NOT_BASIC = "The Authorization header is not valid HTTP Basic authentication";
const pair = (text: string) => ({ authorization: `Basic ${btoa(text)}` });
it.each<[string, Record<string, string>, string]>([
  ["nothing", {}, `The API key is missing; ${HOW}`],
  ["a bearer token", bearer(`k-${UNKNOWN}`), `Bearer tokens are not supported here; ${HOW}`],
  ["the bare key", { authorization: `k-${UNKNOWN}` }, `${NOT_BASIC}; ${HOW}`],
  ["the key as password", pair(`user:k-${UNKNOWN}`), `The API key is in the password; ${HOW}`],
  ["a node token", pair(`n-${UNKNOWN}:`), `The user name is a node token; ${HOW}`],
  ["another name", pair("me:secret"), `The user name is not an API key; API keys start with \`k-\`; ${HOW}`],
  [
    "an unknown key",
    pair(`k-${UNKNOWN}:`),
    "The API key is unknown; it may have expired or been revoked, or belong to another service",
  ],
])("a client that sends %s receives instructions", async (_, headers, message) => {
  const { status, body } = await send("/v2/jobs", { headers });
  expect([status, body]).toEqual([401, { message, error_code: "authentication_failed", status: "error" }]);
});
