// The Worker's bindings (wrangler.toml).
import type { AccountBinding } from "./rpc/account.ts";
import type { HubBinding } from "./rpc/hub.ts";
import type { JobBinding } from "./rpc/job.ts";
import type { SettingsVariables } from "./settings.ts";
import type { StorageBinding } from "./storage/object-store.ts";

/** What the hub needs. */
export type HubEnv = JobBinding & Pick<SettingsVariables, "MASTER_SECRET" | "SEALING_KEYS" | "LOG_LEVEL">;

export type Env = {
  DB: D1Database;
  /** Requests that one API key may make. */
  CLIENT_RATE: RateLimit;
  /** Unknown API keys and node tokens, and wrong admin tokens, that one network may send. */
  REFUSED_RATE: RateLimit;
  ADMIN_REFUSED_RATE: RateLimit;
  SEND_RATE: RateLimit;
  /** The dashboard's files; none where it is not built. */
  ASSETS?: Fetcher;
} & JobBinding &
  HubBinding &
  AccountBinding &
  StorageBinding &
  SettingsVariables;
