import { env } from "cloudflare:workers";
import { expect, it } from "vitest";
import { operator, send } from "../../testing/jobs.ts";
import { readiness } from "./readiness.ts";

const fails = (error: Error): D1Database =>
  ({ ...env.DB, prepare: () => ({ bind: () => ({ raw: () => Promise.reject(error) }) }) }) as unknown as D1Database;

it("names a database that does not answer", async () => {
  expect(await readiness(env)).toEqual({ reasons: [], nodes: 0 });
  const lost = await readiness({ ...env, DB: fails(new Error("D1_ERROR: Network connection lost.")) });
  expect(lost.reasons).toEqual(["the database does not answer"]);
});

it("asks the hubs of pools with a node token", async () => {
  const body = { name: "rack", pool: "attic" };
  await operator.post("/v2/admin/node-tokens", body);
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
        message: "The service is not ready: the database lacks a table that this version needs, which the log names",
      },
    });
  expect((await send("/v2/health/ready")).headers.get("retry-after")).toBe("5");
});
