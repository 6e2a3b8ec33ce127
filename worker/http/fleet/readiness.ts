// Checks whether the control plane can do its work: its settings are valid, its database answers with the tables that
// this version expects, and its hubs answer.
import { AppError } from "#shared/errors.ts";
import { messageOf } from "#shared/log.ts";
import type { Env } from "../../bindings.ts";
import { listPools } from "../../db/node-pools.ts";
import { log } from "../../log.ts";
import { settingsOf } from "../../settings.ts";
import { askAvailableHubs } from "./ask-hubs.ts";

export type Readiness = {
  /** Reasons why it is not ready; empty if it is. Public: details are in the log. */
  readonly reasons: readonly string[];
  /** Number of nodes connected to the hubs that answer. */
  readonly nodes: number;
};

/** Never throws. */
export async function readiness(env: Env): Promise<Readiness> {
  const settings = settingsReason(env);
  const pools = await poolsOf(env);
  if (typeof pools === "string") return { reasons: [...settings, pools], nodes: 0 };
  // Only hubs of pools with a token: a call creates a missing hub, near the sender of the request (routes/health.ts).
  const { answers, unavailable } = await askAvailableHubs(env, pools, async (hub) => (await hub.stats()).nodes);
  const hubs = unavailable === 0 ? [] : [`${unavailable} of ${unavailable + answers.length} hubs do not answer`];
  return { reasons: [...settings, ...hubs], nodes: answers.reduce((sum, count) => sum + count, 0) };
}

/** The step that a deploy by wrangler alone leaves to the operator. */
const putSecret = (name: string): string =>
  `${name} is not set: openssl rand -base64 32 | npx wrangler secret put ${name}`;

function settingsReason(env: Env): string[] {
  const hasKeys = env.MASTER_SECRET || (env.KEY_PEPPER && env.SEALING_KEYS);
  const missing = [...(hasKeys ? [] : ["MASTER_SECRET"]), ...(env.ADMIN_TOKEN ? [] : ["ADMIN_TOKEN"])];
  if (missing.length > 0) return missing.map(putSecret);
  try {
    settingsOf(env);
    return [];
  } catch (error) {
    log.error("settings not valid", { error: messageOf(error) });
    return ["a setting is not valid, which the log names"];
  }
}

/** The pools of node tokens, or the reason why they cannot be read. */
async function poolsOf({ DB }: Env): Promise<string[] | string> {
  try {
    return await listPools(DB);
  } catch (error) {
    if (error instanceof AppError) return "the database does not answer";
    log.error("database not usable", { error: messageOf(error) });
    return "the database lacks a migration: npx wrangler d1 migrations apply DB --remote";
  }
}
