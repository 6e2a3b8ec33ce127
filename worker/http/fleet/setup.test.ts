import { reset } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, it, vi } from "vitest";
import type { Env } from "../../bindings.ts";
import { ADMIN } from "../../testing/jobs.ts";
import { ROUTES } from "../../testing/routes.ts";

/** The service after a plain `wrangler deploy`. */
const bare = (): Env => ({ ...env, ADMIN_TOKEN: "", MASTER_SECRET: "", SEALING_KEYS: "" });

/** The Worker in a new isolate. */
async function start() {
  vi.resetModules();
  return (await import("../../index.ts")).default;
}
let worker = await start();

const send = (to: Env, path: string, init: RequestInit = {}) =>
  worker.fetch(new Request(`https://copra.test${path}`, init), to, {} as ExecutionContext);

const COMMANDS = ["MASTER_SECRET", "ADMIN_TOKEN"].map(
  (name) => `openssl rand -base64 32 | tee /dev/stderr | npx wrangler secret put ${name}`,
);
/** Pages and files of the build, which need no secret. */
const PUBLIC = /^\/(docs|guides|llms|v2\/openapi)/;
const SET_UP = ROUTES.filter(({ path }) => !PUBLIC.test(path));

it("names the missing secrets and their commands on every route of a plain deploy", async () => {
  expect(SET_UP.length).toBeGreaterThan(60);
  const service = bare();
  for (const { method, path } of [...SET_UP, { method: "GET", path: "/v2/no-such-route" }]) {
    const response = await send(service, path.replace(/:\w+(\{[^}]*\})?/g, "a"), { method });
    expect([method, path, response.status]).toEqual([method, path, 503]);
    expect(await response.json()).toEqual({
      status: "error",
      error_code: "service_unavailable",
      message: `The service is not ready: MASTER_SECRET is not set: ${COMMANDS[0]}; ADMIN_TOKEN is not set: ${COMMANDS[1]}`,
    });
    expect(response.headers.get("retry-after")).toBe("5");
  }
});

it.each(["/", "/dashboard", "/dashboard/jobs"])("shows browsers a page with the commands at %s", async (path) => {
  const response = await send(bare(), path, { headers: { accept: "text/html,*/*" } });
  expect([response.status, response.headers.get("content-type")]).toEqual([503, "text/html; charset=utf-8"]);
  const text = await response.text();
  expect(COMMANDS.filter((command) => !text.includes(`<pre>${command}</pre>`))).toEqual([]);
});

it.each(["/docs", "/docs/concepts", "/llms.txt", "/v2/openapi.json"])("serves %s without secrets", async (path) => {
  expect((await send(bare(), path)).status).toBe(200);
});

it("skips the scheduled work without secrets", async () => {
  await expect(worker.scheduled({} as ScheduledController, bare())).resolves.toBeUndefined();
});

it("names no value of a setting that is not valid", async () => {
  const response = await send({ ...env, ADMIN_TOKEN: "short" }, "/v2/health");
  expect(await response.json()).toMatchObject({
    message: "The service is not ready: a setting is not valid, which the log names",
  });
});

it("migrates an empty database at the first request", async () => {
  await reset();
  worker = await start();
  expect((await send(env, "/v2/health")).status).toBe(200);
  const init = {
    method: "POST",
    body: '{"name":"a"}',
    headers: { authorization: `Bearer ${ADMIN}`, "content-type": "application/json" },
  };
  expect((await send(env, "/v2/admin/accounts", init)).status).toBe(201);
});

it("names a failed migration, and applies it at a later request", async () => {
  await reset();
  await env.DB.exec("CREATE TABLE accounts (a)");
  worker = await start();
  expect(await (await send(env, "/v2/health")).json()).toMatchObject({
    message: "The service is not ready: a migration of the database failed, which the log names",
  });
  await env.DB.exec("DROP TABLE accounts");
  expect((await send(env, "/v2/health")).status).toBe(200);
});
