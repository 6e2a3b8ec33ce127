// Checks whether a service that is set up can do its work: its database and its hubs answer.
import { AppError } from "#shared/errors.ts";
import { messageOf } from "#shared/log.ts";
import type { Env } from "../../bindings.ts";
import { listPools } from "../../db/node-pools.ts";
import { log } from "../../log.ts";
import { askAvailableHubs } from "./ask-hubs.ts";

export type Readiness = {
  /** Reasons why it is not ready; empty if it is. Public: details are in the log. */
  readonly reasons: readonly string[];
  /** Number of nodes connected to the hubs that answer. */
  readonly nodes: number;
};

/** Never throws. */
export async function readiness(env: Env): Promise<Readiness> {
  const pools = await poolsOf(env);
  if (typeof pools === "string") return { reasons: [pools], nodes: 0 };
  // Only hubs of pools with a token: a call creates a missing hub, near the sender of the request (routes/health.ts).
  const { answers, unavailable } = await askAvailableHubs(env, pools, async (hub) => (await hub.stats()).nodes);
  const hubs = unavailable === 0 ? [] : [`${unavailable} of ${unavailable + answers.length} hubs do not answer`];
  return { reasons: hubs, nodes: answers.reduce((sum, count) => sum + count, 0) };
}

/** The pools of node tokens, or the reason why they cannot be read. */
async function poolsOf({ DB }: Env): Promise<string[] | string> {
  try {
    return await listPools(DB);
  } catch (error) {
    if (error instanceof AppError) return "the database does not answer";
    log.error("database not usable", { error: messageOf(error) });
    return "the database lacks a table that this version needs, which the log names";
  }
}
