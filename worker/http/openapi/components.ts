// The named schemas of the document: what clients send, what they are answered, what they are notified of.
import * as z from "zod";
import { FormatHash } from "#shared/format/format-hash.ts";
import { InputView, JobView, OutputView, PlaylistUrl } from "#shared/job/job-view.ts";
import { HlsMetadata, HttpStreamMetadata } from "#shared/job/metadata.ts";
import { InputPayload, JobPayload, OutputPayload } from "#shared/job/notification-payload.ts";
import { MediaProbe, ProbedStream } from "#shared/media/media-probe.ts";
import { InputBody } from "#shared/request/input-section.ts";
import { SettingsBody } from "#shared/request/job-request.ts";
import { NotificationBody } from "#shared/request/notification-section.ts";
import { HttpStreamParams } from "#shared/request/outputs/httpstream-params.ts";
import { ImageParams } from "#shared/request/outputs/image-params.ts";
import { VideoParams } from "#shared/request/outputs/video-params.ts";
import { StorageBody } from "#shared/request/storage/storage-section.ts";
import { DeliveryView } from "../../notify/outbox.ts";
import * as answers from "../response-schemas.ts";
import { NamedBody } from "../routes/admin.ts";
import { LimitsBody, ResealBody } from "../routes/admin-rotation.ts";
import { JOB_REQUEST, OUTPUTS } from "./job-request.ts";
import { type JsonSchema, jsonSchemas } from "./json-schema.ts";

/** Bodies of answers. */
export const ANSWERS = {
  Job: JobView,
  JobList: answers.JobList,
  DryRunPlan: answers.DryRunPlan,
  NotificationLog: answers.NotificationLog,
  Delivery: DeliveryView,
  JobMetadata: answers.JobMetadata,
  KeyMetadata: answers.KeyMetadata,
  Health: answers.Health,
  NewAccount: answers.NewAccount,
  AccountList: answers.AccountList,
  NewKey: answers.NewKey,
  KeyList: answers.KeyList,
  NewNodeToken: answers.NewNodeToken,
  NodeTokenList: answers.NodeTokenList,
  Revoked: answers.Revoked,
  AccountLimits: answers.AccountLimits,
  RotatedSecret: answers.RotatedSecret,
  Resealed: answers.Resealed,
  Error: answers.ErrorBody,
} as const satisfies Record<string, z.ZodType>;

/** Bodies of notifications. */
export const PAYLOADS = { InputPayload, OutputPayload, JobPayload } as const satisfies Record<string, z.ZodType>;

/** Bodies of requests; that of a job has a parser of its own, which reports what is wrong section by section. */
export type RequestName = "JobRequest" | "Named" | "Limits" | "Reseal";
export type AnswerName = keyof typeof ANSWERS;
export type PayloadName = keyof typeof PAYLOADS;

const PARTS = {
  Input: InputView,
  Output: OutputView,
  PlaylistUrl,
  MediaMetadata: MediaProbe,
  StreamMetadata: ProbedStream,
  HttpStreamMetadata,
  HlsMetadata,
};

const requests = () => ({
  Settings: SettingsBody.describe("Of the job as a whole"),
  InputRequest: InputBody.describe("Where the source comes from"),
  ...members("Input", InputBody.options),
  Storage: StorageBody.describe("Where the outputs go"),
  ...members("Storage", StorageBody.options),
  VideoParams,
  ImageParams,
  HttpStreamParams,
  FormatHash,
  Notification: NotificationBody.describe("Who is told of the job's events, and how"),
  ...members("Notification", NotificationBody.options),
  Named: NamedBody.describe("What a new account or token is called"),
  Limits: LimitsBody.describe("What an account may have"),
  Reseal: ResealBody.describe("Where to go on"),
});

/** All of them as JSON Schema, requests first. */
export function componentSchemas(): Record<string, JsonSchema> {
  return {
    JobRequest: JOB_REQUEST,
    Outputs: OUTPUTS,
    ...jsonSchemas({ ...requests(), ...ANSWERS, ...PARTS, ...PAYLOADS }),
  };
}

/** Names for the members of a union: after the `service` or `type` that tells them apart, or `Url`. */
function members(prefix: string, options: readonly z.core.$ZodType[]): Record<string, z.ZodType> {
  const named = options.filter((option) => option instanceof z.ZodObject);
  return Object.fromEntries(named.map((option) => [prefix + capitalized(tagOf(option)), option]));
}

function tagOf({ shape }: z.ZodObject): string {
  const tag = shape.service ?? shape.type;
  return tag instanceof z.ZodLiteral ? String(tag.value) : "url";
}

const capitalized = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);
