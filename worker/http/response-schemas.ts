// What the service answers, beside the job itself (shared/job/job-view.ts).
import * as z from "zod";
import { ERRORS } from "#shared/errors.ts";
import { ContractDate, JobView, PlaylistUrl } from "#shared/job/job-view.ts";
import { OutputMetadata, UltrafastReceipt } from "#shared/job/metadata.ts";
import { OUTPUT_TYPES } from "#shared/job/output-status.ts";
import { MediaProbe } from "#shared/media/media-probe.ts";
import { DeliveryView } from "../notify/outbox.ts";

/** Codes that answer requests, as against those that only statuses carry. */
export const REQUEST_ERROR_CODES = Object.entries(ERRORS)
  .filter(([, { http }]) => http !== null)
  .map(([code]) => code);

export const ErrorBody = z
  .object({
    message: z.string().describe("One sentence for people; it names the field that is wrong"),
    error_code: z.enum(REQUEST_ERROR_CODES).describe("The same for people's programs"),
    status: z.literal("error"),
  })
  .describe("Why a request was refused");
export type ErrorBody = z.infer<typeof ErrorBody>;

export const JobList = z
  .object({
    jobs: z.array(JobView).describe("Newest first"),
    next_cursor: z.string().nullable().describe("What to ask the next page with; null on the last one"),
  })
  .describe("A page of the account's jobs");
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
  .describe("The source that was assumed");

const Rendition = z
  .object({
    video: z
      .string()
      .nullable()
      .describe("Its track, by the name that is in the addresses of segments; null: sound alone"),
    audio: z.string().nullable().describe("Likewise; null: silent"),
    width: z.int().exactOptional(),
    height: z.int().exactOptional(),
    fps: z.number().exactOptional(),
    packages: z.array(z.enum(["hls", "dash"])).describe("Which have it: hls is without HEVC"),
  })
  .describe("What players of a stream choose from");
export type Rendition = z.infer<typeof Rendition>;

export const DryRunPlan = z
  .object({
    dry_run: z.literal(true),
    assumed_source: AssumedSource,
    input: z.looseObject({}).describe("Where the source would be fetched from"),
    storage: z.looseObject({}).describe("Where outputs would be stored"),
    outputs: z.array(
      z.object({
        key: z.string(),
        type: z.enum(OUTPUT_TYPES),
        format: z.string().describe("In its canonical form"),
        path: z.string().exactOptional(),
        condition: z.string().exactOptional(),
        spec: z.looseObject({}).describe("All that follows from format and parameters; null means automatic"),
        url: z.string().exactOptional(),
        urls: z.union([z.array(z.string()), z.array(PlaylistUrl)]).exactOptional(),
        renditions: z.array(Rendition).exactOptional().describe("Of an HTTP stream, in the order of its playlists"),
        skipped: z.literal(true).exactOptional().describe("The condition is false for the assumed source"),
      }),
    ),
    commands: z
      .array(z.object({ outputs: z.array(z.string()), argv: z.array(z.string()) }))
      .describe("What ffmpeg would be given on a node; the encoder may differ there"),
    refusals: z
      .array(z.object({ key: z.string(), error: z.string(), error_code: z.string() }))
      .describe("Outputs that cannot be made of such a source"),
  })
  .describe("What would be made of a job; nothing is begun");
export type DryRunPlan = z.infer<typeof DryRunPlan>;

export const JobMetadata = z
  .object({
    job_id: z.string(),
    metadata: z.object({
      input: z.union([MediaProbe, z.strictObject({})]).describe("Empty until the input was probed"),
      outputs: z
        .array(z.record(z.string(), OutputMetadata))
        .describe("Of each finished output an object with one property, named by its key"),
      ultrafast: UltrafastReceipt.exactOptional(),
    }),
  })
  .describe("All metadata of a job that is known so far");
export type JobMetadata = z.infer<typeof JobMetadata>;

export const KeyMetadata = z
  .object({
    job_id: z.string(),
    metadata: z.record(z.string(), OutputMetadata).describe("One property, named by the key that was asked for"),
  })
  .describe("The metadata of the input or of one output");
export type KeyMetadata = z.infer<typeof KeyMetadata>;

export const NotificationLog = z
  .object({ job_id: z.string(), notifications: z.array(DeliveryView).describe("In the order of the events") })
  .describe("The notifications of a job");
export type NotificationLog = z.infer<typeof NotificationLog>;

export const Health = z
  .object({ status: z.literal("ok"), nodes: z.int().describe("Encoder nodes that are connected") })
  .describe("The service works");
export type Health = z.infer<typeof Health>;

export const NewAccount = z
  .object({
    account_id: z.string(),
    api_key: z.string().describe("Shown this once"),
    webhook_secret: z.string().describe("Verifies the account's notifications; shown this once"),
  })
  .describe("A new account with its first API key");
export type NewAccount = z.infer<typeof NewAccount>;

export const AccountList = z
  .object({
    accounts: z.array(
      z.object({
        id: z.string(),
        name: z.string(),
        created_at: ContractDate,
        max_unfinished_jobs: z.int().nullable().describe("Its own limit; null: the service's"),
      }),
    ),
  })
  .describe("All accounts, oldest first");
export type AccountList = z.infer<typeof AccountList>;

export const AccountLimits = z
  .object({ account_id: z.string(), max_unfinished_jobs: z.int().nullable() })
  .describe("What an account may have; null: as the service's settings say");
export type AccountLimits = z.infer<typeof AccountLimits>;

export const RotatedSecret = z
  .object({
    account_id: z.string(),
    webhook_secret: z.string().describe("The new one; shown this once"),
    previous_until: ContractDate.describe("Until then notifications carry signatures of both"),
  })
  .describe("An account's new webhook secret");
export type RotatedSecret = z.infer<typeof RotatedSecret>;

export const Resealed = z
  .object({
    resealed: z.int().describe("Secrets that were under an older key; the others needed nothing"),
    failed: z
      .array(z.object({ id: z.string(), message: z.string() }))
      .describe("Accounts or jobs that stay as they were"),
    next_cursor: z.string().nullable().describe("What to send next; null when all is done"),
  })
  .describe("A part of what is sealed, under the newest key");
export type Resealed = z.infer<typeof Resealed>;

const credentialView = {
  id: z.string().describe("12 hexadecimal digits that name it"),
  created_at: ContractDate,
  pepper: z.string().nullable().describe("Name of the pepper that it is stored under; null: that has none"),
  revoked_at: ContractDate.nullable().describe("Null while it is good"),
};

export const NewKey = z
  .object({ id: credentialView.id, api_key: z.string().describe("Shown this once") })
  .describe("A new API key");
export type NewKey = z.infer<typeof NewKey>;

export const KeyList = z.object({ keys: z.array(z.object(credentialView)) }).describe("An account's API keys");
export type KeyList = z.infer<typeof KeyList>;

export const NewNodeToken = z
  .object({ id: credentialView.id, node_token: z.string().describe("Shown this once") })
  .describe("A new node token");
export type NewNodeToken = z.infer<typeof NewNodeToken>;

export const NodeTokenList = z
  .object({ node_tokens: z.array(z.object({ ...credentialView, name: z.string() })) })
  .describe("All node tokens");
export type NodeTokenList = z.infer<typeof NodeTokenList>;

export const Revoked = z
  .object({ id: credentialView.id, revoked: z.literal(true) })
  .describe("The credential opens nothing any more");
export type Revoked = z.infer<typeof Revoked>;
