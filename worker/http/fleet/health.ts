// GET /v2/health: the service is alive, and the number of connected nodes. GET /v2/health/ready: whether the service
// can do its work, with reasons. Both are public. Their responses are cached for a second.

import type { Health, Ready } from "#shared/api/job-responses.ts";
import type { Env } from "../../bindings.ts";
import { listPools } from "../../db/node-pools.ts";
import { mount } from "../operation/mount.ts";
import { errorResponse, jsonResponse } from "../responses/json-response.ts";
import { askHubs } from "./ask-hubs.ts";
import { HEALTH_OPERATIONS } from "./health.operations.ts";
import { type Readiness, readiness } from "./readiness.ts";

/** Cache time of the hubs' answers: the routes are public. */
const KEEP_MS = 1000;
/** Cache time of the pools with node tokens. */
const KEEP_POOLS_MS = 60_000;

type Cached<Value> = { readonly at: number; readonly value: Value };
let pools: Cached<readonly string[]> | null = null;
let nodes: Cached<number> | null = null;
let ready: Cached<Readiness> | null = null;

export const health = mount(HEALTH_OPERATIONS, {
  health: async (context) => {
    const now = Date.now();
    if (!nodes || now - nodes.at > KEEP_MS) nodes = { at: now, value: await countNodes(context.env, now) };
    return jsonResponse(context, { status: "ok", nodes: nodes.value } satisfies Health);
  },
  ready: async (context) => {
    const now = Date.now();
    if (!ready || now - ready.at > KEEP_MS) ready = { at: now, value: await readiness(context.env) };
    const { reasons, nodes } = ready.value;
    if (reasons.length === 0) return jsonResponse(context, { status: "ready", nodes } satisfies Ready);
    return errorResponse(context, "service_unavailable", `The service is not ready: ${reasons.join("; ")}`);
  },
});

/**
 * Asks only the hubs of pools with a node token. These hubs have existed since the token was created. An object is
 * placed near its first caller, who must not be a stranger.
 */
async function countNodes(env: Env, now: number): Promise<number> {
  if (!pools?.value.length || now - pools.at > KEEP_POOLS_MS) pools = { at: now, value: await listPools(env.DB) };
  const counts = await askHubs(env, pools.value, async (hub) => (await hub.stats()).nodes);
  return counts.reduce((sum, count) => sum + count, 0);
}
