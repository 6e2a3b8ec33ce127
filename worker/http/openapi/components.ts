// The named schemas of the document: requests, responses and notifications.
import * as z from "zod";
import {
  FontList,
  GapEvent,
  JobEvent,
  NotificationEventData,
  Usage,
  UsageDay,
  UsageTotal,
} from "#shared/api/account-responses.ts";
import { AlertBody, AlertList, AlertView } from "#shared/api/alerts.ts";
import {
  CommandList,
  CommandView,
  RequestView,
  RunningCommand,
  RunningCommandList,
} from "#shared/api/command-responses.ts";
import { BatchBody, BatchResult } from "#shared/api/job-batch.ts";
import { BulkBody, BulkResult, JobCounts } from "#shared/api/job-lists.ts";
import * as schemas from "#shared/api/job-responses.ts";
import { Autoscale, Node, NodeDetails, NodeHistory, NodeList } from "#shared/api/node-responses.ts";
import { EndpointResult, ReplayBody, TestBody } from "#shared/api/notification-requests.ts";
import { KeyBody, LimitsBody, NamedBody, NodeTokenBody, ResealBody } from "#shared/api/operator-requests.ts";
import * as operator from "#shared/api/operator-responses.ts";
import { ProbeView } from "#shared/api/probe-responses.ts";
import { LinkBody, OnceBody, SessionLink, SessionView, SignedOut } from "#shared/api/session.ts";
import { SavedStorage, SavedStorageList, StorageTest } from "#shared/api/storages.ts";
import { AttemptView, QueueView, TaskChanges, TaskList, TaskView } from "#shared/api/task-responses.ts";
import {
  IngestResult,
  NewToken,
  TemplateList,
  TemplateSummary,
  TemplateView,
  TokenList,
} from "#shared/api/templates.ts";
import { UploadLink, UploadLinkBody, UploadLinkList, UploadPayload } from "#shared/api/upload-links.ts";
import { Upload, UploadBody, UploadList, UploadPart, UploadSummary } from "#shared/api/uploads.ts";
import { FormatHash } from "#shared/format/format-hash.ts";
import { InputView, JobView, OutputView, PlaylistUrl } from "#shared/job/job-view.ts";
import { LoudnessMetadata } from "#shared/job/loudness.ts";
import { FileMetadata, HlsMetadata, HttpStreamMetadata } from "#shared/job/metadata.ts";
import { InputPayload, JobPayload, OutputPayload } from "#shared/job/notification-payload.ts";
import { MeasuredRendition, QualityMetadata } from "#shared/job/quality.ts";
import { TagsBody } from "#shared/job/tags.ts";
import { MediaProbe, ProbedStream } from "#shared/media/media-probe.ts";
import { InputBody } from "#shared/request/input-section.ts";
import { NotificationBody } from "#shared/request/notification-section.ts";
import { HttpStreamParams } from "#shared/request/outputs/httpstream-params.ts";
import { ImageParams } from "#shared/request/outputs/image-params.ts";
import { TextParams } from "#shared/request/outputs/text-params.ts";
import { VideoParams } from "#shared/request/outputs/video-params.ts";
import { ProbeBody } from "#shared/request/probe-request.ts";
import { JobChanges, SettingsBody } from "#shared/request/settings-section.ts";
import { StorageBody } from "#shared/request/storage/storage-section.ts";
import { JOB_REQUEST, NEW_TEMPLATE, OUTPUTS } from "./job-request.ts";
import { type JsonSchema, jsonSchemas } from "./json-schema.ts";

/** Bodies of schemas. */
export const RESPONSES = {
  Job: JobView,
  JobList: schemas.JobList,
  JobCounts,
  BulkResult,
  BatchResult,
  SavedStorageList,
  SavedStorage,
  StorageTest,
  Template: TemplateView,
  TemplateList,
  TemplateSummary,
  IngestTokenList: TokenList,
  NewIngestToken: NewToken,
  IngestResult,
  Probe: ProbeView,
  Upload,
  UploadList,
  UploadPart,
  UploadLink,
  UploadLinkList,
  TaskList,
  CommandList,
  RunningCommandList,
  RequestView,
  QueueView,
  DryRunPlan: schemas.DryRunPlan,
  NotificationLog: schemas.NotificationLog,
  Delivery: schemas.DeliveryView,
  EndpointResult,
  JobMetadata: schemas.JobMetadata,
  KeyMetadata: schemas.KeyMetadata,
  Usage,
  FontList,
  Session: SessionView,
  SessionLink,
  SignedOut,
  Health: schemas.Health,
  Ready: schemas.Ready,
  NewAccount: operator.NewAccount,
  AccountList: operator.AccountList,
  NewKey: operator.NewKey,
  KeyList: operator.KeyList,
  NewNodeToken: operator.NewNodeToken,
  NodeTokenList: operator.NodeTokenList,
  Revoked: operator.Revoked,
  AccountLimits: operator.AccountLimits,
  RotatedSecret: operator.RotatedSecret,
  Resealed: operator.Resealed,
  NodeList,
  NodeDetails,
  NodeHistory,
  Autoscale,
  Alert: AlertView,
  AlertList,
  Error: schemas.ErrorBody,
} as const satisfies Record<string, z.ZodType>;

/** Bodies of notifications. */
export const PAYLOADS = { InputPayload, OutputPayload, JobPayload } as const satisfies Record<string, z.ZodType>;

/** Bodies of requests. Job requests have a separate parser, which reports errors section by section. */
export type RequestName =
  | "JobRequest"
  | "NotificationTest"
  | "Replay"
  | "Named"
  | "NodeToken"
  | "Limits"
  | "KeyRestrictions"
  | "Reseal"
  | "NewAlert"
  | "Bulk"
  | "Batch"
  | "ChangedJob"
  | "NewTemplate"
  | "Storage"
  | "NewProbe"
  | "NewUpload"
  | "NewUploadLink"
  | "Once"
  | "NewSessionLink";
export type ResponseName = keyof typeof RESPONSES;
export type PayloadName = keyof typeof PAYLOADS;

const NESTED = {
  JobEvent,
  NotificationEvent: NotificationEventData,
  GapEvent,
  UploadPayload,
  UploadSummary,
  Task: TaskView,
  Attempt: AttemptView,
  Command: CommandView,
  RunningCommand,
  TaskChanges,
  UsageDay,
  UsageTotal,
  Node,
  Input: InputView,
  Output: OutputView,
  PlaylistUrl,
  MediaMetadata: MediaProbe,
  StreamMetadata: ProbedStream,
  FileMetadata,
  HttpStreamMetadata,
  HlsMetadata,
  QualityMetadata,
  MeasuredRendition,
  LoudnessMetadata,
};

const requests = () => ({
  Settings: SettingsBody.describe("Settings of the job"),
  Tags: TagsBody,
  InputRequest: InputBody.describe("The source"),
  ...members("Input", InputBody.options),
  Storage: StorageBody.describe("Where to store the outputs"),
  ...members("Storage", StorageBody.options),
  VideoParams,
  ImageParams,
  TextParams,
  HttpStreamParams,
  FormatHash,
  Notification: NotificationBody.describe("Where to send the events of the job"),
  ...members("Notification", NotificationBody.options),
  Bulk: BulkBody.describe("The jobs"),
  Batch: BatchBody.describe("New jobs"),
  ChangedJob: JobChanges.describe("A change of a job"),
  NewProbe: ProbeBody.describe("A source to inspect"),
  NewUpload: UploadBody.describe("The name and size of a file"),
  NewUploadLink: UploadLinkBody.describe("The limits of the link, and what happens with its file"),
  Once: OnceBody.describe("A one-time link that was opened"),
  NewSessionLink: LinkBody.describe("Who the link signs in"),
  NotificationTest: TestBody.describe("The request to send, and its URL"),
  Replay: ReplayBody.describe("Where to send it; without a body to the URL of the job"),
  Named: NamedBody.describe("The name of a new account"),
  NodeToken: NodeTokenBody.describe("A new node token, with its pool and labels"),
  Limits: LimitsBody.describe("The limits of an account"),
  KeyRestrictions: KeyBody.describe("The restrictions of a new API key"),
  Reseal: ResealBody.describe("Where to continue"),
  NewAlert: AlertBody.describe("The condition and the receiver of an alert"),
});

/** All schemas as JSON Schema, requests first. */
export function componentSchemas(): Record<string, JsonSchema> {
  return {
    JobRequest: JOB_REQUEST,
    NewTemplate: NEW_TEMPLATE,
    Outputs: OUTPUTS,
    ...jsonSchemas({ ...requests(), ...RESPONSES, ...NESTED, ...PAYLOADS }),
  };
}

/** Names for the members of a union: the `service` or `type` that distinguishes them, or `Url`. */
function members(prefix: string, options: readonly z.core.$ZodType[]): Record<string, z.ZodType> {
  const named = options.filter((option) => option instanceof z.ZodObject);
  return Object.fromEntries(named.map((option) => [prefix + capitalized(tagOf(option)), option]));
}

function tagOf({ shape }: z.ZodObject): string {
  if (shape.upload) return "upload";
  const tag = shape.service ?? shape.type;
  return tag instanceof z.ZodLiteral ? String(tag.value) : "url";
}

const capitalized = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);
