import { listDurableObjectIds } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, it } from "vitest";
import { operator, send } from "../../testing/jobs.ts";

it("a health request creates no hub: the operator creates it with the first node token of a pool", async () => {
  // Earlier test files may have left the ids of their hubs.
  const hubs = async (): Promise<string[]> => (await listDurableObjectIds(env.HUB)).map(String);
  const before = await hubs();
  expect(await send("/v2/health")).toMatchObject({ status: 200, body: { status: "ok", nodes: 0 } });
  expect(await hubs()).toEqual(before);
  const body = { name: "rack", pool: "health-route" };
  await operator.post("/v2/admin/node-tokens", body);
  expect((await hubs()).filter((id) => !before.includes(id))).toEqual([String(env.HUB.idFromName("hub:health-route"))]);
});
