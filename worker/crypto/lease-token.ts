// Lease tokens: a secret, which is the proof, then a checksum of the lease and a checksum of its job. With the
// checksums the Worker rejects reports on invented leases without creating an object for a job that does not exist. The
// hub uses them to check that a node was given the lease that it names, before it asks the job.
import { type LeaseId, newToken, parseLeaseId, type RandomBytes } from "#shared/ids.ts";
import type { LeaseProof } from "#shared/protocol/leases.ts";
import { keyedDigest } from "./keyed-digest.ts";
import type { SealingKeys } from "./sealed-secret.ts";

/** Hexadecimal: 64 bits each. */
const CHECKSUM_CHARS = 16;

const checksumOf = (text: string, key: SealingKeys[number]): string =>
  keyedDigest("copra lease token 1", text, key).slice(0, CHECKSUM_CHARS);

/** The end of a lease's tokens: the checksum of the lease, then the checksum of its job. */
const endOf = (lease: string, job: string, key: SealingKeys[number]): string =>
  checksumOf(lease, key) + checksumOf(job, key);

/** A new token for a lease. */
export function newLeaseToken(lease: LeaseId, keys: SealingKeys, random: RandomBytes): string {
  const [key] = keys;
  const job = parseLeaseId(lease)?.job;
  if (!key || job === undefined) throw new Error(key ? `${lease} is no lease` : "SEALING_KEYS is empty");
  return newToken(random) + endOf(lease, job, key);
}

/** True if the token was made for a lease of this job. Only checksums are compared. */
export function isJobToken({ lease, token }: LeaseProof, keys: SealingKeys): boolean {
  const job = parseLeaseId(lease)?.job;
  return job !== undefined && keys.some((key) => token.endsWith(checksumOf(job, key)));
}

/** True if the token was made for this lease. Only checksums are compared. */
export function isLeaseToken({ lease, token }: LeaseProof, keys: SealingKeys): boolean {
  const job = parseLeaseId(lease)?.job;
  return job !== undefined && keys.some((key) => token.endsWith(endOf(lease, job, key)));
}
