// Missing secrets of the Worker, and the sources of their values. Cloudflare lists names and never values.
import { randomBytes } from "node:crypto";
import type { Config } from "./configs.ts";

export type SecretsPlan = {
  /** Secrets with random values. */
  readonly make: readonly string[];
  /** Secrets that only the operator knows. */
  readonly ask: readonly string[];
  /** Secrets that the Worker gets. */
  readonly put: readonly string[];
};

export const MASTER_SECRET = "MASTER_SECRET";
/** The keys of the scratch bucket, which wrangler.toml names. */
const SCRATCH = ["SCRATCH_ACCESS_KEY_ID", "SCRATCH_SECRET_ACCESS_KEY"];

/** True if a secret of the service can have this name. */
export const isSecretName = (name: string): boolean =>
  [MASTER_SECRET, "ADMIN_TOKEN", "KEY_PEPPER", "SEALING_KEYS", "METRICS_TOKEN", ...SCRATCH].includes(name);

/** `has`: the Worker's secrets, which stay. `known`: secrets whose values are known. */
export function planSecrets(
  { vars }: Pick<Config, "vars">,
  has: readonly string[],
  known: ReadonlySet<string>,
): SecretsPlan {
  const isMissing = (name: string): boolean => !has.includes(name);
  const hasKeys = !isMissing(MASTER_SECRET) || !(isMissing("KEY_PEPPER") || isMissing("SEALING_KEYS"));
  const own = [...(hasKeys ? [] : [MASTER_SECRET]), ...["ADMIN_TOKEN"].filter(isMissing)];
  const scratch = vars.SCRATCH_BUCKET ? SCRATCH.filter((name) => vars[name] === undefined && isMissing(name)) : [];
  const isUnknown = (name: string): boolean => !known.has(name);
  return { make: own.filter(isUnknown), ask: scratch.filter(isUnknown), put: [...own, ...scratch] };
}

/** A new secret: 256 bits. */
export const newSecret = (): string => randomBytes(32).toString("base64url");
