// @copra/client: a typed client for Node, Bun, Deno, Workers and browsers, without dependencies.
export type {
  AssumedSource,
  FollowOptions,
  JobFilter,
  JobListOptions,
  JobSelection,
  JobStatus,
} from "./calls/job-options.ts";
export { JobFailed } from "./calls/job-options.ts";
export type { WaitOptions } from "./calls/probes.ts";
export type { PutOptions } from "./calls/templates.ts";
export type { UploadLinkRequest } from "./calls/upload-links.ts";
export { type LinkTarget, type SendOptions, type SlicedSource, upload } from "./calls/uploads.ts";
export { Copra, type CopraOptions, type EventOptions } from "./copra.ts";
export type { Bytes, CallOptions, Fetch, SizedStream } from "./http/caller.ts";
export { type ClientErrorCode, CopraError } from "./http/copra-error.ts";
export type * from "./types/api.ts";
export type * from "./types/facts.ts";
export type { CommonFormat, FormatKind } from "./types/format-key.ts";
export type { AnyOutputParams, JobRequest, Outputs, ParamsOf, TemplateJob } from "./types/job-request.ts";
export { type HeadersLike, type VerifyOptions, verifyWebhook, WebhookError, type WebhookRequest } from "./webhook.ts";
