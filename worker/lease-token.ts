// Tokens of leases: a secret, and behind it a checksum of the job that it is for. By that the control plane knows without
// asking anyone whether a report can be of a lease of ours: one that cannot makes no object for a job that there never was.
import { createHmac } from "node:crypto";
import { type JobId, newToken, parseLeaseId, type RandomBytes } from "#shared/ids.ts";
import type { LeaseProof } from "#shared/protocol/protocol.ts";
import { hasJob } from "./db/jobs.ts";
import { type Env, settingsOf } from "./env.ts";
import type { SealingKeys } from "./storage/sealed-secret.ts";

/** Hexadecimal: 64 bits. It keeps out noise; the secret before it is the proof. */
const CHECKSUM_CHARS = 16;
/** Earlier versions made tokens without a checksum. */
const UNCHECKED = /^[A-Za-z0-9]{28}$/;

/** Two steps: what is derived for this purpose says nothing of the key that seals secrets. */
function checksumOf(job: JobId, { bytes }: SealingKeys[number]): string {
  const key = createHmac("sha256", bytes).update("copra lease token 1").digest();
  return createHmac("sha256", key).update(job).digest("hex").slice(0, CHECKSUM_CHARS);
}

/** So many tokens for leases of a job. */
export function newLeaseTokens(count: number, job: JobId, keys: SealingKeys, random: RandomBytes): string[] {
  const key = keys[0];
  if (!key) throw new Error("SEALING_KEYS is empty");
  const checksum = checksumOf(job, key);
  return Array.from({ length: count }, () => newToken(random) + checksum);
}

/** Whether the token was made for the job that the lease names, by its checksum; null: by its form it has none. */
export function isLeaseToken({ lease, token }: LeaseProof, keys: SealingKeys): boolean | null {
  const job = parseLeaseId(lease)?.job;
  if (!job) return false;
  if (UNCHECKED.test(token)) return null;
  return keys.some((key) => token.endsWith(checksumOf(job, key)));
}

/**
 * Whether there may be a job that a proof speaks of. A token without a checksum costs a look into the index.
 * Throws AppError(service_unavailable) when that cannot be asked.
 */
export async function mayBeLease(proof: LeaseProof, env: Env): Promise<boolean> {
  const known = isLeaseToken(proof, settingsOf(env).sealingKeys);
  return known ?? (await hasJob(env.DB, parseLeaseId(proof.lease)?.job ?? ""));
}
