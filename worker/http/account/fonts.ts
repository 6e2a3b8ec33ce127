// GET /v2/fonts: fonts for burnt-in captions.
import { Hono } from "hono";
import type { FontList } from "#shared/api/account-responses.ts";
import { type ClientEnv, clientAuth } from "../auth/auth.ts";
import { allPools, askAvailableHubs } from "../fleet/ask-hubs.ts";
import { jsonResponse } from "../responses/json-response.ts";

export const fonts = new Hono<ClientEnv>({ strict: false }).use(clientAuth).get("/", async (context) => {
  const { answers } = await askAvailableHubs(context.env, await allPools(context.env), (hub) => hub.demand());
  const names = new Set(answers.flatMap((report) => report.fonts));
  return jsonResponse(context, { fonts: [...names].sort() } satisfies FontList);
});
