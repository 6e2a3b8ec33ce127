// The secrets of a job, sealed together. They are opened only where a request is signed or a task is assigned.
import * as z from "zod";
import type { RandomBytes } from "#shared/ids.ts";
import type { RequestedStreamKey } from "#shared/request/outputs/stream-keys.ts";
import { AccessKeys, AccessSecret, NotificationSecret } from "#shared/request/storage/storage-spec.ts";
import { hex } from "../../crypto/bytes.ts";
import { reseal, type SealingKeys, seal, unseal } from "../../crypto/sealed-secret.ts";
import type { JobSpec } from "../../rpc/job-spec.ts";
import { ExtraUrls } from "./extra-urls.ts";

const JobSecrets = z.object({
  /** Null for an upload to the service. */
  input: AccessSecret.nullable(),
  /** Null for a storage that needs no keys. */
  storage: AccessKeys.nullable(),
  notification: NotificationSecret,
  moreReceivers: z.array(NotificationSecret).default([]),
  /** Signs notifications of type `http` while the account's own secret cannot be read. */
  webhook: z.string(),
  /** Keys that encrypt segments, by the index of their output. */
  streamKeys: z
    .array(
      z.object({
        output: z.int(),
        key: z.string(),
        /** True if the service generated it; otherwise the client did. */
        isGenerated: z.boolean(),
      }),
    )
    .default([]),
  extraUrls: ExtraUrls.default({}),
});
export type JobSecrets = z.infer<typeof JobSecrets>;

/** Bytes of an AES-128 key. */
const STREAM_KEY_BYTES = 16;

/** The keys that encrypt streams: the client's keys, and generated keys for the other streams. */
export const settleStreamKeys = (
  requested: readonly RequestedStreamKey[],
  random: RandomBytes,
): JobSecrets["streamKeys"] =>
  requested.map(({ output, key }) => ({
    output,
    key: key ?? hex(random(STREAM_KEY_BYTES)),
    isGenerated: key === null,
  }));

const contextOf = (jobId: string): string => `job:${jobId}`;

export const sealJobSecrets = (
  jobId: string,
  secrets: z.input<typeof JobSecrets>,
  keys: SealingKeys,
): Promise<string> => seal(JSON.stringify(secrets), contextOf(jobId), keys);

/** The job's secrets, sealed with the newest key. */
export const resealJobSecrets = ({ id, sealedSecrets }: JobSpec, keys: SealingKeys): Promise<string> =>
  reseal(sealedSecrets, contextOf(id), keys);

/** Opened secrets, while the specification is in memory. */
const opened = new WeakMap<JobSpec, JobSecrets>();

/** Throws AppError(sealing_key_missing). */
export async function openJobSecrets(spec: JobSpec, keys: SealingKeys): Promise<JobSecrets> {
  const secrets =
    opened.get(spec) ?? JobSecrets.parse(JSON.parse(await unseal(spec.sealedSecrets, contextOf(spec.id), keys)));
  opened.set(spec, secrets);
  return secrets;
}
