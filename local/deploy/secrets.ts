// Which secrets the two Workers lack, and where their values come from. Cloudflare lists names and never values.
import { randomBytes } from "node:crypto";
import type { Config } from "./configs.ts";

/** Names of the secrets that each Worker has. */
export type SecretNames = { readonly main: readonly string[]; readonly hub: readonly string[] };

export type SecretsPlan = {
  /** Nobody needs to choose their values. */
  readonly make: readonly string[];
  /** Only the operator knows them. */
  readonly ask: readonly string[];
  /** Those that each Worker gets. */
  readonly put: SecretNames;
};

export const MASTER_SECRET = "MASTER_SECRET";
/** The secrets that seal what is stored; the hub checks the tokens of leases by them. */
const SEALING = [MASTER_SECRET, "SEALING_KEYS"];
/** The keys of the scratch bucket, which is in wrangler.toml. */
const SCRATCH = ["SCRATCH_ACCESS_KEY_ID", "SCRATCH_SECRET_ACCESS_KEY"];

/** `known`: secrets with values that are at hand. What a service has is left alone. */
export function planSecrets(
  { vars }: Pick<Config, "vars">,
  { main, hub }: SecretNames,
  known: ReadonlySet<string>,
): SecretsPlan {
  const hasKeys = main.includes(MASTER_SECRET) || (main.includes("KEY_PEPPER") && main.includes("SEALING_KEYS"));
  const newForMain = [...(hasKeys ? [] : [MASTER_SECRET]), ...["ADMIN_TOKEN"].filter((name) => !main.includes(name))];
  const scratch = vars.SCRATCH_BUCKET ? SCRATCH.filter((name) => vars[name] === undefined && !main.includes(name)) : [];
  // A hub that has another value is that of an interrupted deploy whose state was lost: both must get the same.
  const forHub = SEALING.filter((name) => newForMain.includes(name) || (main.includes(name) && !hub.includes(name)));
  const needed = new Set([...newForMain, ...scratch, ...forHub].filter((name) => !known.has(name)));
  return {
    make: newForMain.filter((name) => needed.has(name)),
    ask: [...scratch, ...forHub.filter((name) => !newForMain.includes(name))].filter((name) => needed.has(name)),
    put: { main: [...newForMain, ...scratch], hub: forHub },
  };
}

/** A new secret: 256 bits. */
export const newSecret = (): string => randomBytes(32).toString("base64url");
