// The secrets of one job: sealed as one text, opened only where a request is signed.

import * as z from "zod";
import { AccessKeys, AccessSecret } from "#shared/request/storage-spec.ts";
import { type SealingKeys, seal, unseal } from "../storage/sealed-secret.ts";
import type { JobSpec } from "./job-state.ts";

const JobSecrets = z.object({
  input: AccessSecret,
  /** Null where the storage needs none. */
  storage: AccessKeys.nullable(),
  notification: AccessSecret,
  /** What http notifications are signed with. */
  webhook: z.string(),
});
export type JobSecrets = z.infer<typeof JobSecrets>;

const contextOf = (jobId: string): string => `job:${jobId}`;

export const sealJobSecrets = (jobId: string, secrets: JobSecrets, keys: SealingKeys): Promise<string> =>
  seal(JSON.stringify(secrets), contextOf(jobId), keys);

export async function openJobSecrets({ id, sealedSecrets }: JobSpec, keys: SealingKeys): Promise<JobSecrets> {
  return JobSecrets.parse(JSON.parse(await unseal(sealedSecrets, contextOf(id), keys)));
}
