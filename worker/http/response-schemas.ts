// The schemas of responses, except the job (shared/job/job-view.ts).
import * as z from "zod";
import { ERRORS } from "#shared/errors.ts";
import { ContractDate, JobView, PlaylistUrl } from "#shared/job/job-view.ts";
import { OutputMetadata, UltrafastReceipt } from "#shared/job/metadata.ts";
import { OUTPUT_TYPES } from "#shared/job/output-status.ts";
import { MediaProbe } from "#shared/media/media-probe.ts";
import { DeliveryView } from "../notify/delivery.ts";

/** Error codes of responses, as opposed to those of failed inputs and outputs. */
export const REQUEST_ERROR_CODES = Object.entries(ERRORS)
  .filter(([, { http }]) => http !== null)
  .map(([code]) => code);

export const ErrorBody = z
  .object({
    message: z.string().describe("One sentence for people; names the field that is wrong"),
    error_code: z.enum(REQUEST_ERROR_CODES).describe("The error code for programs"),
    status: z.literal("error"),
  })
  .describe("An error response");
export type ErrorBody = z.infer<typeof ErrorBody>;

export const JobList = z
  .object({
    jobs: z.array(JobView).describe("Newest first"),
    next_cursor: z.string().nullable().describe("The `cursor` of the next page; null on the last page"),
  })
  .describe("A page of the jobs of the account");
export type JobList = z.infer<typeof JobList>;

const AssumedSource = z
  .object({
    width: z.int(),
    height: z.int(),
    fps: z.number(),
    duration: z.number(),
    rotation: z.int(),
    audio: z.boolean(),
  })
  .describe("The assumed source");

const Rendition = z
  .object({
    video: z.string().nullable().describe("The name of its video track, as in the URLs of segments; null: audio only"),
    audio: z.string().nullable().describe("The name of its audio track; null: no audio"),
    width: z.int().exactOptional(),
    height: z.int().exactOptional(),
    fps: z.number().exactOptional(),
    packages: z.array(z.enum(["hls", "dash"])).describe("The packages that contain it; hls does not contain HEVC"),
  })
  .describe("A rendition that players can choose");
export type Rendition = z.infer<typeof Rendition>;

export const DryRunPlan = z
  .object({
    dry_run: z.literal(true),
    assumed_source: AssumedSource,
    input: z.looseObject({}).describe("The source that would be fetched"),
    storage: z.looseObject({}).describe("The storage of the outputs"),
    outputs: z.array(
      z.object({
        key: z.string(),
        type: z.enum(OUTPUT_TYPES),
        format: z.string().describe("The format in canonical form"),
        path: z.string().exactOptional(),
        condition: z.string().exactOptional(),
        spec: z.looseObject({}).describe("The complete specification from format and parameters; null means automatic"),
        url: z.string().exactOptional(),
        urls: z.union([z.array(z.string()), z.array(PlaylistUrl)]).exactOptional(),
        renditions: z
          .array(Rendition)
          .exactOptional()
          .describe("The renditions of an HTTP stream, in the order of its playlists"),
        skipped: z.literal(true).exactOptional().describe("The condition is false for the assumed source"),
      }),
    ),
    commands: z
      .array(z.object({ outputs: z.array(z.string()), argv: z.array(z.string()) }))
      .describe("The arguments of ffmpeg on a node; the node may use another encoder"),
    refusals: z
      .array(z.object({ key: z.string(), error: z.string(), error_code: z.string() }))
      .describe("Outputs that are not possible with such a source"),
  })
  .describe("The plan of a job that is not created");
export type DryRunPlan = z.infer<typeof DryRunPlan>;

export const JobMetadata = z
  .object({
    job_id: z.string(),
    metadata: z.object({
      input: z.union([MediaProbe, z.strictObject({})]).describe("Empty before the input is probed"),
      outputs: z
        .array(z.record(z.string(), OutputMetadata))
        .describe("For each finished output, an object with one property, whose name is the key"),
      ultrafast: UltrafastReceipt.exactOptional(),
    }),
  })
  .describe("All metadata of a job known so far");
export type JobMetadata = z.infer<typeof JobMetadata>;

export const KeyMetadata = z
  .object({
    job_id: z.string(),
    metadata: z.record(z.string(), OutputMetadata).describe("One property, whose name is the requested key"),
  })
  .describe("The metadata of the input or of one output");
export type KeyMetadata = z.infer<typeof KeyMetadata>;

export const NotificationLog = z
  .object({ job_id: z.string(), notifications: z.array(DeliveryView).describe("In the order of the events") })
  .describe("The notifications of a job");
export type NotificationLog = z.infer<typeof NotificationLog>;

export const Health = z
  .object({ status: z.literal("ok"), nodes: z.int().describe("Number of connected encoder nodes") })
  .describe("The service is healthy");
export type Health = z.infer<typeof Health>;

export const NewAccount = z
  .object({
    account_id: z.string(),
    api_key: z.string().describe("Returned only once"),
    webhook_secret: z.string().describe("Verifies the notifications of the account; returned only once"),
  })
  .describe("A new account with its first API key");
export type NewAccount = z.infer<typeof NewAccount>;

const limits = {
  max_unfinished_jobs: z.int().nullable().describe("The limit of the account; null: the limit of the service"),
  max_running: z.int().nullable().describe("Maximum tasks that run at a time; null: no limit"),
  weight: z.int().describe("The share in the nodes while other accounts wait"),
};

export const AccountList = z
  .object({
    accounts: z.array(
      z.object({
        id: z.string(),
        name: z.string(),
        created_at: ContractDate,
        ...limits,
      }),
    ),
  })
  .describe("All accounts, oldest first");
export type AccountList = z.infer<typeof AccountList>;

export const AccountLimits = z.object({ account_id: z.string(), ...limits }).describe("The limits of an account");
export type AccountLimits = z.infer<typeof AccountLimits>;

export const RotatedSecret = z
  .object({
    account_id: z.string(),
    webhook_secret: z.string().describe("The new secret; returned only once"),
    previous_until: ContractDate.describe("Until then, notifications have signatures with both secrets"),
  })
  .describe("The new webhook secret of an account");
export type RotatedSecret = z.infer<typeof RotatedSecret>;

export const Resealed = z
  .object({
    resealed: z.int().describe("Number of secrets that were encrypted with an older key"),
    failed: z
      .array(z.object({ id: z.string(), message: z.string() }))
      .describe("Accounts or jobs that could not be processed"),
    next_cursor: z.string().nullable().describe("The `cursor` of the next request; null when all secrets are done"),
  })
  .describe("The result for some accounts and jobs");
export type Resealed = z.infer<typeof Resealed>;

const credentialView = {
  id: z.string().describe("12 hexadecimal digits"),
  created_at: ContractDate,
  pepper: z.string().nullable().describe("The name of the pepper of its stored digest; null: a pepper without a name"),
  revoked_at: ContractDate.nullable().describe("Null while it is valid"),
};

export const NewKey = z
  .object({ id: credentialView.id, api_key: z.string().describe("Returned only once") })
  .describe("A new API key");
export type NewKey = z.infer<typeof NewKey>;

export const KeyList = z.object({ keys: z.array(z.object(credentialView)) }).describe("The API keys of an account");
export type KeyList = z.infer<typeof KeyList>;

const tokenPlacement = {
  pool: z.string().describe("The only pool of its nodes"),
  labels: z.array(z.string()).describe("Labels of all its nodes"),
};

export const NewNodeToken = z
  .object({ id: credentialView.id, node_token: z.string().describe("Returned only once"), ...tokenPlacement })
  .describe("A new node token");
export type NewNodeToken = z.infer<typeof NewNodeToken>;

export const NodeTokenList = z
  .object({ node_tokens: z.array(z.object({ ...credentialView, name: z.string(), ...tokenPlacement })) })
  .describe("All node tokens");
export type NodeTokenList = z.infer<typeof NodeTokenList>;

export const Revoked = z
  .object({ id: credentialView.id, revoked: z.literal(true) })
  .describe("The credential is revoked");
export type Revoked = z.infer<typeof Revoked>;
