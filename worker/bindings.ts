// The Worker's bindings (wrangler.toml).
import type { AccountBinding } from "./rpc/account.ts";
import type { HubBinding } from "./rpc/hub.ts";
import type { JobBinding } from "./rpc/job.ts";
import type { SettingsVariables } from "./settings.ts";
import type { StorageBinding } from "./storage/object-store.ts";

/** Bindings that the hub needs. */
export type HubEnv = JobBinding & Pick<SettingsVariables, "MASTER_SECRET" | "SEALING_KEYS" | "LOG_LEVEL">;

export type Env = {
  DB: D1Database;
  /** Limits the requests of an API key. */
  CLIENT_RATE: RateLimit;
  /** Limits unknown API keys, unknown node tokens and wrong admin tokens per network. */
  REFUSED_RATE: RateLimit;
  ADMIN_REFUSED_RATE: RateLimit;
  SEND_RATE: RateLimit;
  /** Limits an account's new upload links. */
  LINK_RATE: RateLimit;
  /** The dashboard's files; none where it is not built. */
  ASSETS?: Fetcher;
  /** Sends e-mail; none without SMTP_URL of `copra serve` (local/control-plane/mail.ts). */
  MAIL?: Fetcher;
} & JobBinding &
  HubBinding &
  AccountBinding &
  StorageBinding &
  SettingsVariables;
