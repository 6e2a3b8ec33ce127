// The master secrets of a service: a list with the newest first, and its changes. A lost master secret makes all data
// that it sealed unreadable.
import { MASTER_SECRET, newSecret } from "./secrets.ts";
import type { Service } from "./state.ts";

/** `add` puts a new master secret before the others; `drop` removes all but the first. */
export type Rotation = "add" | "drop" | null;

export type Rotated = {
  /** The secrets separated by commas, as the Worker gets them. */
  readonly value: string;
  readonly dropped: readonly string[];
};

/** Throws a message for people if there is no secret to remove. */
export function rotate(secrets: string, rotation: Rotation): Rotated {
  if (rotation === null) return { value: secrets, dropped: [] };
  if (rotation === "add") return { value: `${newSecret()},${secrets}`, dropped: [] };
  const [newest = "", ...others] = listOf(secrets);
  if (others.length === 0)
    throw new Error(`There is one ${MASTER_SECRET}: --rotate-master-secret puts a new secret before it`);
  return { value: newest, dropped: others };
}

/**
 * The known master secrets of a service, or undefined. `given`: the value in the environment, which may be from before
 * a rotation. Throws a message for people if the right secrets are unclear.
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

/** True if the Worker may lack the master secrets of the last deploy. */
export const isPending = (pending: Service["pending"]): boolean => pending.includes(MASTER_SECRET);

const listOf = (secrets: string): string[] => secrets.split(",").map((secret) => secret.trim());
