// The secrets of one job: sealed as one text, opened only where a request is signed.

import * as z from "zod";
import { StorageCredentials } from "#shared/job-request.ts";
import { type SealingKeys, seal, unseal } from "../storage/sealed-secret.ts";

const JobSecrets = z.object({ credentials: StorageCredentials, webhookSecret: z.string() });
export type JobSecrets = z.infer<typeof JobSecrets>;

const contextOf = (jobId: string): string => `job:${jobId}`;

export const sealJobSecrets = (jobId: string, secrets: JobSecrets, keys: SealingKeys): Promise<string> =>
  seal(JSON.stringify(secrets), contextOf(jobId), keys);

export const openJobSecrets = async (jobId: string, sealed: string, keys: SealingKeys): Promise<JobSecrets> =>
  JobSecrets.parse(JSON.parse(await unseal(sealed, contextOf(jobId), keys)));
