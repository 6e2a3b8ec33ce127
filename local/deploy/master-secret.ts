// The master secrets of a service, a list with the newest first, and how it changes. Without all of them, what was
// sealed by the others is lost.
import { MASTER_SECRET, newSecret } from "./secrets.ts";
import type { Service } from "./state.ts";

/** A new master secret is put before the others, or all but the first are removed. */
export type Rotation = "add" | "drop" | null;

export type Rotated = {
  /** Separated by commas, as the Worker gets them. */
  readonly value: string;
  readonly dropped: readonly string[];
};

/** Throws a message for people when there is none to remove. */
export function rotate(secrets: string, rotation: Rotation): Rotated {
  if (rotation === null) return { value: secrets, dropped: [] };
  if (rotation === "add") return { value: `${newSecret()},${secrets}`, dropped: [] };
  const [newest = "", ...others] = listOf(secrets);
  if (others.length === 0)
    throw new Error(`There is one ${MASTER_SECRET}: --rotate-master-secret puts a new one before it`);
  return { value: newest, dropped: others };
}

/**
 * The master secrets that are known of a service, or undefined. `given`: by the environment, which may be as it was
 * before a rotation. Throws a message for people when nobody can say which are right.
 */
export function knownMasterSecrets(
  given: string | undefined,
  { secrets, pending, dropped }: Pick<Service, "secrets" | "pending" | "dropped">,
): string | undefined {
  const stored = secrets[MASTER_SECRET];
  if (!given || !stored) return given || stored;
  if (isPending(pending)) return stored;
  const [ofEnvironment, ofState] = [listOf(given), listOf(stored)];
  if (ofEnvironment.every((secret) => ofState.includes(secret) || dropped.includes(secret))) return stored;
  if (ofState.every((secret) => ofEnvironment.includes(secret))) return given;
  throw new Error(
    `${MASTER_SECRET} in the environment differs from that in .wrangler/copra.json. Unset it, or set it to all ` +
      "master secrets of the service, the newest first, separated by commas",
  );
}

/** True if the Worker may lack the master secrets that were stored last. */
export const isPending = (pending: Service["pending"]): boolean => pending.includes(MASTER_SECRET);

const listOf = (secrets: string): string[] => secrets.split(",").map((secret) => secret.trim());
