// The secrets of the Worker, and the sources of their values. Cloudflare lists names and never values.
import { randomBytes } from "node:crypto";

/** Secrets that a deploy makes. */
const OWN = ["MASTER_SECRET", "ADMIN_TOKEN"];
/** The keys of the scratch bucket, which wrangler.toml names. */
const SCRATCH = ["SCRATCH_ACCESS_KEY_ID", "SCRATCH_SECRET_ACCESS_KEY"];

/** A new secret: 256 bits. */
export const newSecret = (): string => randomBytes(32).toString("base64url");

/**
 * The secrets that the Worker lacks: from the environment, from an earlier deploy, or new. `has`: names of the Worker's
 * secrets, which stay as they are. Throws a message for people if only the operator knows a value.
 */
export function missingSecrets(
  vars: Readonly<Record<string, unknown>>,
  has: readonly string[],
  known: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  const isMissing = (name: string): boolean => !has.includes(name);
  // SEALING_KEYS take the place of MASTER_SECRET.
  const generated = OWN.filter((name) => isMissing(name) && (name !== "MASTER_SECRET" || isMissing("SEALING_KEYS")));
  const scratch = vars.SCRATCH_BUCKET ? SCRATCH.filter((name) => vars[name] === undefined && isMissing(name)) : [];
  const unknown = scratch.filter((name) => !known[name]);
  if (unknown.length > 0)
    throw new Error(`Set the environment variables ${unknown.join(" and ")}: the Worker lacks them`);
  return Object.fromEntries([...generated, ...scratch].map((name) => [name, known[name] || newSecret()]));
}
