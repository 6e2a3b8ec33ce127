// Asks all hubs: those of the pools that are laid out, and those of the pools that node tokens bind.
import { messageOf } from "#shared/log.ts";
import type { Env } from "../../bindings.ts";
import { listPools } from "../../db/node-pools.ts";
import { log } from "../../log.ts";
import { withDeadline } from "../../rpc/deadline.ts";
import { type HubRpc, hubNames, hubOf, laidOutPools } from "../../rpc/hub.ts";

export type HubStub = DurableObjectStub<HubRpc>;

let lastPools: readonly string[] | null = null;

/** The names of all pools that may have nodes, in order. While D1 does not answer, those that it named last. */
export async function allPools(env: Env): Promise<string[]> {
  try {
    lastPools = await listPools(env.DB);
  } catch (error) {
    if (lastPools === null) throw error;
    log.warn("Pools not listed", { error: messageOf(error) });
  }
  return [...new Set([...laidOutPools(env), ...lastPools])].sort();
}

/** The answers of all hubs of some pools. Throws if one does not answer in time. */
export async function askHubs<Answer>(
  env: Env,
  pools: readonly string[],
  ask: (hub: HubStub) => Promise<Answer>,
): Promise<Answer[]> {
  const names = [...new Set(pools.flatMap((pool) => hubNames(env, pool)))];
  return Promise.all(names.map((name) => withDeadline("hub", ask(hubOf(env, name)))));
}

/** The answers of the hubs that answer, and the number of the others. */
export async function askAvailableHubs<Answer>(
  env: Env,
  pools: readonly string[],
  ask: (hub: HubStub) => Promise<Answer>,
): Promise<{ answers: Answer[]; unavailable: number }> {
  const asked = await askHubs(env, pools, async (hub) => {
    try {
      return { answer: await ask(hub) };
    } catch (error) {
      log.warn("Hub unavailable", { error: messageOf(error) });
      return null;
    }
  });
  const answers = asked.flatMap((one) => (one === null ? [] : [one.answer]));
  return { answers, unavailable: asked.length - answers.length };
}
