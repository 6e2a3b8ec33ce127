import { applyD1Migrations, listDurableObjectIds } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeAll, expect, it } from "vitest";
import { ADMIN, bearer, send } from "../../testing/jobs.ts";

beforeAll(() => applyD1Migrations(env.DB, env.MIGRATIONS));

it("a health request creates no hub: the operator does, with the first node token of a pool", async () => {
  expect(await send("/v2/health")).toMatchObject({ status: 200, body: { status: "ok", nodes: 0 } });
  expect(await listDurableObjectIds(env.HUB)).toEqual([]);
  const body = { name: "rack", pool: "gpu" };
  await send("/v2/admin/node-tokens", { method: "POST", body, headers: bearer(ADMIN) });
  expect((await listDurableObjectIds(env.HUB)).map(String)).toEqual([String(env.HUB.idFromName("hub:gpu:0"))]);
});
