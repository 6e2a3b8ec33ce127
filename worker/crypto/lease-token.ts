// Tokens of leases: a secret followed by a checksum of its job. With the checksum the Worker rejects reports on leases
// that it never made without creating an object for a job that does not exist.
import { createHmac } from "node:crypto";
import { type JobId, newToken, parseLeaseId, type RandomBytes } from "#shared/ids.ts";
import type { LeaseProof } from "#shared/protocol/leases.ts";
import type { SealingKeys } from "./sealed-secret.ts";

/** Hexadecimal: 64 bits. The checksum only filters noise; the secret is the proof. */
const CHECKSUM_CHARS = 16;

/** Derives a key for this purpose first, so that the checksum reveals nothing about the sealing key. */
function checksumOf(job: JobId, { bytes }: SealingKeys[number]): string {
  const key = createHmac("sha256", bytes).update("copra lease token 1").digest();
  return createHmac("sha256", key).update(job).digest("hex").slice(0, CHECKSUM_CHARS);
}

/** New tokens for leases of a job. */
export function newLeaseTokens(count: number, job: JobId, keys: SealingKeys, random: RandomBytes): string[] {
  const key = keys[0];
  if (!key) throw new Error("SEALING_KEYS is empty");
  const checksum = checksumOf(job, key);
  return Array.from({ length: count }, () => newToken(random) + checksum);
}

/** Whether the token was made for a lease of this job, by its checksum. */
export function isLeaseToken({ lease, token }: LeaseProof, keys: SealingKeys): boolean {
  const job = parseLeaseId(lease)?.job;
  return job !== undefined && keys.some((key) => token.endsWith(checksumOf(job, key)));
}
