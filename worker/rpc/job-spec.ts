// The specification of a job: its validated request, with sealed secrets.
import * as z from "zod";
import { RequestView } from "#shared/api/command-responses.ts";
import { isJobId, type JobId } from "#shared/ids.ts";
import { OutputSpec } from "#shared/job/output-spec.ts";
import { Tags } from "#shared/job/tags.ts";
import { TraceContext } from "#shared/network/trace-context.ts";
import { InputSpec } from "#shared/request/input-section.ts";
import { NotificationSpec } from "#shared/request/notification-section.ts";
import { SettingsSpec } from "#shared/request/settings-section.ts";
import { StorageSpec } from "#shared/request/storage/storage-spec.ts";

/** The body of a job's request: with the sections of its template, without its secrets. */
export const RequestBody = z.object({
  body: RequestView.shape.request,
  /** Fields that are missing because they are secret, or lack a secret part, by their names in error messages. */
  leftOut: z.array(z.string()),
});
export type RequestBody = z.infer<typeof RequestBody>;

export const JobSpec = z.object({
  id: z.custom<JobId>((value) => typeof value === "string" && isJobId(value)),
  accountId: z.string(),
  /** ms since 1970. */
  createdAt: z.number(),
  input: InputSpec,
  storage: StorageSpec,
  outputs: z.array(OutputSpec),
  notification: NotificationSpec,
  /** All receivers but the first. */
  moreReceivers: z.array(NotificationSpec).exactOptional(),
  settings: SettingsSpec,
  /** The template of the request, such as `web@3`. */
  template: z.string().exactOptional(),
  tags: Tags.exactOptional(),
  /** The account's weight and limit of running tasks at the creation of the job. */
  share: z.object({ weight: z.int(), maxRunning: z.int().nullable(), maxPriority: z.int().nullable() }),
  /** The trace of the request that created the job, or of the last request that restarted it. */
  trace: TraceContext.exactOptional(),
  /** The storage's credentials, the account's webhook secret and other secrets, sealed to this job. */
  sealedSecrets: z.string(),
  /** True for a probe: the source is inspected, but nothing is encoded. Probes are in no index and no list. */
  isProbe: z.literal(true).exactOptional(),
});
export type JobSpec = z.infer<typeof JobSpec>;

/** A specification that starts a job. Its object stores the body in an entry of its own. Probes have no body. */
export const NewJobSpec = JobSpec.extend({ requested: RequestBody.exactOptional() });
export type NewJobSpec = z.infer<typeof NewJobSpec>;
