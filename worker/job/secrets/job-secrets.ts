// The secrets of one job: sealed as one text, opened only where a request is signed.

import * as z from "zod";
import type { RandomBytes } from "#shared/ids.ts";
import type { AskedStreamKey } from "#shared/request/outputs/stream-keys.ts";
import { AccessKeys, AccessSecret, NotificationSecret } from "#shared/request/storage/storage-spec.ts";
import { hex } from "../../hex.ts";
import { reseal, type SealingKeys, seal, unseal } from "../../storage/sealed-secret.ts";
import type { JobSpec } from "../state/job-state.ts";
import { ExtraAddresses } from "./extra-urls.ts";

const JobSecrets = z.object({
  input: AccessSecret,
  /** Null where the storage needs none. */
  storage: AccessKeys.nullable(),
  notification: NotificationSecret,
  /** What http notifications are signed with. */
  webhook: z.string(),
  /** What segments are encrypted with, by the index of their output; `made`: by the service, not given by the client. */
  streamKeys: z.array(z.object({ output: z.int(), key: z.string(), made: z.boolean() })).default([]),
  addresses: ExtraAddresses.default({}),
});
export type JobSecrets = z.infer<typeof JobSecrets>;

/** Bytes of an AES-128 key. */
const STREAM_KEY_BYTES = 16;

/** The keys that streams are encrypted with: those that were given, and fresh ones for the others. */
export const settleStreamKeys = (asked: readonly AskedStreamKey[], random: RandomBytes): JobSecrets["streamKeys"] =>
  asked.map(({ output, key }) => ({ output, key: key ?? hex(random(STREAM_KEY_BYTES)), made: key === null }));

const contextOf = (jobId: string): string => `job:${jobId}`;

export const sealJobSecrets = (
  jobId: string,
  secrets: z.input<typeof JobSecrets>,
  keys: SealingKeys,
): Promise<string> => seal(JSON.stringify(secrets), contextOf(jobId), keys);

/** The job's secrets under the newest key. */
export const resealJobSecrets = ({ id, sealedSecrets }: JobSpec, keys: SealingKeys): Promise<string> =>
  reseal(sealedSecrets, contextOf(id), keys);

export async function openJobSecrets({ id, sealedSecrets }: JobSpec, keys: SealingKeys): Promise<JobSecrets> {
  return JobSecrets.parse(JSON.parse(await unseal(sealedSecrets, contextOf(id), keys)));
}
