// The Worker's bindings and settings.

import * as z from "zod";
import type { AllowPrivate } from "#shared/address-policy.ts";
import { createLogger, type Logger } from "#shared/log.ts";
import type { NodeHub } from "./dispatch/node-hub.ts";
import type { JobObject } from "./job/job-object.ts";
import { parseSealingKeys, type SealingKeys } from "./storage/sealed-secret.ts";

export type Env = {
  DB: D1Database;
  JOB: DurableObjectNamespace<JobObject>;
  HUB: DurableObjectNamespace<NodeHub>;
  /** Secrets, set by the operator. */
  ADMIN_TOKEN: string;
  KEY_PEPPER: string;
  SEALING_KEYS: string;
  /** Variables of wrangler.toml. */
  ALLOW_PRIVATE: string;
};

const Settings = z.object({
  ADMIN_TOKEN: z.string().trim().min(8),
  KEY_PEPPER: z.string().trim().min(8),
  SEALING_KEYS: z.string().transform(parseSealingKeys),
  ALLOW_PRIVATE: z.enum(["none", "loopback", "all"]).default("none"),
});

export type Settings = { adminToken: string; keyPepper: string; sealingKeys: SealingKeys; allowPrivate: AllowPrivate };

/** The settings, parsed. Throws a sentence for the operator that names the one that is wrong. */
export function settingsOf(env: Env): Settings {
  const parsed = Settings.safeParse(env);
  if (!parsed.success) throw new Error(`The Worker's settings are not valid: ${z.prettifyError(parsed.error)}`);
  const { ADMIN_TOKEN, KEY_PEPPER, SEALING_KEYS, ALLOW_PRIVATE } = parsed.data;
  return { adminToken: ADMIN_TOKEN, keyPepper: KEY_PEPPER, sealingKeys: SEALING_KEYS, allowPrivate: ALLOW_PRIVATE };
}

export const log: Logger = createLogger({ write: (line) => console.log(line), now: Date.now, level: "info" });

/** The hub that holds the sockets of a pool's nodes: `hub:<pool>:<shard>`, so that more can come without moving data. */
export const hubOf = (env: Env): DurableObjectStub<NodeHub> => env.HUB.getByName("hub:default:0");
export const jobOf = (env: Env, id: string): DurableObjectStub<JobObject> => env.JOB.getByName(id);
