// Whether the control plane can do its work: its settings are valid, its database answers with the tables that this
// version expects, and its hubs answer.
import { AppError } from "#shared/errors.ts";
import { messageOf } from "#shared/log.ts";
import type { Env } from "../../bindings.ts";
import { listPools } from "../../db/node-pools.ts";
import { log } from "../../log.ts";
import { settingsOf } from "../../settings.ts";
import { askAvailableHubs } from "./ask-hubs.ts";

export type Readiness = {
  /** Why it is not ready; none if it is. Public: details are in the log. */
  readonly reasons: readonly string[];
  /** Nodes that are connected to the hubs that answer. */
  readonly nodes: number;
};

/** Never throws. */
export async function readiness(env: Env): Promise<Readiness> {
  const settings = settingsReason(env);
  const pools = await poolsOf(env);
  if (typeof pools === "string") return { reasons: [...settings, pools], nodes: 0 };
  // Only hubs of pools with a token: asking creates a hub, near whoever asks (routes/health.ts).
  const { answers, unavailable } = await askAvailableHubs(env, pools, async (hub) => (await hub.stats()).nodes);
  const hubs = unavailable === 0 ? [] : [`${unavailable} of ${unavailable + answers.length} hubs do not answer`];
  return { reasons: [...settings, ...hubs], nodes: answers.reduce((sum, count) => sum + count, 0) };
}

function settingsReason(env: Env): string[] {
  try {
    settingsOf(env);
    return [];
  } catch (error) {
    log.error("Settings not valid", { error: messageOf(error) });
    return ["a setting is not valid, which the log names"];
  }
}

/** The pools of node tokens, or why they cannot be read. */
async function poolsOf({ DB }: Env): Promise<string[] | string> {
  try {
    return await listPools(DB);
  } catch (error) {
    if (error instanceof AppError) return "the database does not answer";
    log.error("Database not usable", { error: messageOf(error) });
    return "the database lacks a migration";
  }
}
