// The secrets of one job: sealed as one text, opened only where a request is signed.

import * as z from "zod";
import { StorageCredentials } from "#shared/request/storage-section.ts";
import type { Bucket } from "../storage/s3.ts";
import { type SealingKeys, seal, unseal } from "../storage/sealed-secret.ts";
import type { JobSpec } from "./job-state.ts";

const JobSecrets = z.object({ credentials: StorageCredentials, webhookSecret: z.string() });
type JobSecrets = z.infer<typeof JobSecrets>;

const contextOf = (jobId: string): string => `job:${jobId}`;

export const sealJobSecrets = (jobId: string, secrets: JobSecrets, keys: SealingKeys): Promise<string> =>
  seal(JSON.stringify(secrets), contextOf(jobId), keys);

/** The job's storage, ready for requests to be signed, and what its notifications are signed with. */
export async function openJobSecrets(
  { id, storage, sealedSecrets }: JobSpec,
  keys: SealingKeys,
): Promise<{ bucket: Bucket; webhookSecret: string }> {
  const text = await unseal(sealedSecrets, contextOf(id), keys);
  const { credentials, webhookSecret } = JobSecrets.parse(JSON.parse(text));
  return { bucket: { storage, credentials }, webhookSecret };
}
