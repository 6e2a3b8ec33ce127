import { applyD1Migrations } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeAll, expect, it } from "vitest";
import { ADMIN, bearer, send } from "../../testing/jobs.ts";
import { readiness } from "./readiness.ts";

beforeAll(() => applyD1Migrations(env.DB, env.MIGRATIONS));

const fails = (error: Error): D1Database =>
  ({ ...env.DB, prepare: () => ({ bind: () => ({ raw: () => Promise.reject(error) }) }) }) as unknown as D1Database;

it("names each reason, but no setting's value", async () => {
  expect(await readiness(env)).toEqual({ reasons: [], nodes: 0 });
  expect(await readiness({ ...env, ADMIN_TOKEN: "short" })).toEqual({
    reasons: ["a setting is not valid, which the log names"],
    nodes: 0,
  });
  const lost = await readiness({ ...env, DB: fails(new Error("D1_ERROR: Network connection lost.")) });
  expect(lost.reasons).toEqual(["the database does not answer"]);
});

it("shows commands that set the missing secrets of a new service", async () => {
  const bare = { ...env, ADMIN_TOKEN: "", MASTER_SECRET: "", KEY_PEPPER: "", SEALING_KEYS: "" };
  expect((await readiness(bare)).reasons).toEqual([
    "MASTER_SECRET is not set: openssl rand -base64 32 | npx wrangler secret put MASTER_SECRET",
    "ADMIN_TOKEN is not set: openssl rand -base64 32 | npx wrangler secret put ADMIN_TOKEN",
  ]);
});

it("asks the hubs of pools with a node token", async () => {
  const body = { name: "rack", pool: "attic" };
  await send("/v2/admin/node-tokens", { method: "POST", body, headers: bearer(ADMIN) });
  const HUB = { ...env.HUB, getByName: () => ({ stats: () => Promise.reject(new Error("overloaded")) }) };
  const { reasons } = await readiness({ ...env, HUB: HUB as unknown as typeof env.HUB });
  expect(reasons).toEqual(["1 of 1 hubs do not answer"]);
});

it("responds 503 with the reason until the service can work", async () => {
  expect(await send("/v2/health/ready")).toMatchObject({ status: 200, body: { status: "ready", nodes: 0 } });
  await env.DB.exec("ALTER TABLE node_tokens RENAME TO away");
  await expect
    .poll(() => send("/v2/health/ready"))
    .toMatchObject({
      status: 503,
      body: {
        error_code: "service_unavailable",
        message:
          "The service is not ready: the database lacks a migration: npx wrangler d1 migrations apply DB --remote",
      },
    });
  expect((await send("/v2/health/ready")).headers.get("retry-after")).toBe("5");
});
