// Asks the hubs of all pools: of the default pool, of the pools that node tokens bind, and of pools with waiting jobs.
import { messageOf } from "#shared/log.ts";
import { DEFAULT_POOL } from "#shared/placement.ts";
import type { Env } from "../../bindings.ts";
import { listPools, listWaitingPools } from "../../db/node-pools.ts";
import { withDeadline } from "../../deadline.ts";
import { log } from "../../log.ts";
import { type HubRpc, hubOf } from "../../rpc/hub.ts";

export type HubStub = DurableObjectStub<HubRpc>;

let lastPools: readonly string[] | null = null;

/**
 * The names of all pools that may have nodes or waiting jobs, in order. While D1 does not answer, returns the last
 * known names.
 */
export async function allPools(env: Env): Promise<string[]> {
  try {
    lastPools = (await Promise.all([listPools(env.DB), listWaitingPools(env.DB, Date.now())])).flat();
  } catch (error) {
    if (lastPools === null) throw error;
    log.warn("pools not listed", { error: messageOf(error) });
  }
  return [...new Set([DEFAULT_POOL, ...lastPools])].sort();
}

/** The answers of all hubs of some pools. Throws if a hub does not answer in time. */
export async function askHubs<Answer>(
  env: Env,
  pools: readonly string[],
  ask: (hub: HubStub) => Promise<Answer>,
): Promise<Answer[]> {
  return Promise.all(pools.map((pool) => withDeadline("hub", ask(hubOf(env, pool)))));
}

/** The answers of the hubs of all pools. Throws like `askHubs`. */
export const askAllHubs = async <Answer>(env: Env, ask: (hub: HubStub) => Promise<Answer>): Promise<Answer[]> =>
  askHubs(env, await allPools(env), ask);

/** The answers of the hubs that answer, and the number of hubs that do not. */
export async function askAvailableHubs<Answer>(
  env: Env,
  pools: readonly string[],
  ask: (hub: HubStub) => Promise<Answer>,
): Promise<{ answers: Answer[]; unavailable: number }> {
  const responses = await askHubs(env, pools, async (hub) => {
    try {
      return { answer: await ask(hub) };
    } catch (error) {
      log.warn("hub not reachable", { error: messageOf(error) });
      return null;
    }
  });
  const answers = responses.flatMap((response) => (response === null ? [] : [response.answer]));
  return { answers, unavailable: responses.length - answers.length };
}
