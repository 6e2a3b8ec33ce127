// Creates the job of a parsed request: for POST /v2/jobs, and for requests that the service has stored.

import { AppError } from "#shared/errors.ts";
import type { TraceContext } from "#shared/network/trace-context.ts";
import type { InputSpec } from "#shared/request/input-section.ts";
import { type JobRequest, parseJobRequest } from "#shared/request/job-request.ts";
import { fieldOf, isObject } from "#shared/request/parse-section.ts";
import type { StorageSpec } from "#shared/request/storage/storage-spec.ts";
import { err, type Result } from "#shared/result.ts";
import type { Template } from "#shared/template/expand-template.ts";
import { hideSecrets } from "#shared/template/template-secrets.ts";
import { randomBytes } from "../../../crypto/bytes.ts";
import { unseal } from "../../../crypto/sealed-secret.ts";
import { hideUrls } from "../../../job/secrets/extra-urls.ts";
import { sealJobSecrets, settleStreamKeys } from "../../../job/secrets/job-secrets.ts";
import { sealedFor } from "../../../notify/webhook-secrets.ts";
import type { JobSpec, NewJobSpec, RequestBody } from "../../../rpc/job-spec.ts";
import { settingsOf } from "../../../settings.ts";
import { resolveStorage } from "../../../storage/resolve-storage.ts";
import { keepForJob } from "../../../storage/source-uploads/remove-uploads.ts";
import { requestsAboveQuota } from "./job-quota.ts";
import { findOwnTemplate, withTemplate } from "./job-template.ts";
import { type JobCreator, type NewJob, settle, shareOf, startJob, storeJobs } from "./new-job.ts";
import { resolveInput } from "./resolve-input.ts";
import { withSavedStorage } from "./saved-storage.ts";

/** A request whose input and storage the service has completed. */
export type ResolvedRequest = Omit<ParsedRequest, "input" | "storage"> & { input: InputSpec; storage: StorageSpec };

/** `template`: such as `web@3`. */
export type ParsedRequest = JobRequest & { readonly template?: string; readonly requested: RequestBody };

/** Parses the body of a job, which may name a template. Throws AppError for a body that is not valid. */
export async function parseRequest(
  creator: JobCreator,
  given: unknown,
  find: FindTemplate = (ref) => findOwnTemplate(creator, ref),
): Promise<ParsedRequest> {
  const { body, template, explain } = await withSavedStorage(creator, await withTemplate(given, find));
  const parsed = parseJobRequest(body, settingsOf(creator.env).allowPrivate);
  if (!parsed.ok) throw AppError.from(explain(parsed.error));
  return { ...parsed.value, ...template, requested: withoutSecrets(body) };
}

/** The body to show to clients. */
export function withoutSecrets(body: unknown): RequestBody {
  const { value, leftOut } = hideSecrets(body);
  return { body: isObject(value) ? value : {}, leftOut: leftOut.map((path) => fieldOf("", path)) };
}

/** Parses and completes the body of a job. Throws AppError. */
export const readRequest = async (creator: JobCreator, given: unknown, find?: FindTemplate): Promise<ResolvedRequest> =>
  resolveRequest(creator, await parseRequest(creator, given, find));

/** Finds the template that a job names. */
type FindTemplate = (ref: unknown) => Promise<Template>;

/** Completes a request. Throws AppError(input_* | storage_*). */
async function resolveRequest(creator: JobCreator, request: ParsedRequest): Promise<ResolvedRequest> {
  const input = await resolveInput(creator, request.input, request.secrets.input);
  const storage = await resolveStorage(request.storage, { ...creator, keys: request.secrets.storage });
  return { ...request, input, storage };
}

/** A request to create a job. `body` is the request in bytes: a repeated `key` must have the same. */
export type NewRequest = {
  readonly request: ResolvedRequest;
  readonly body: Uint8Array;
  readonly key: string | null;
  readonly trace: TraceContext | null;
};

/** Stores and starts a job. Throws AppError(too_many_jobs | idempotency_key_* | input_not_valid). */
export async function createJob(
  creator: JobCreator,
  request: ResolvedRequest,
  keyed: Omit<NewRequest, "request">,
): Promise<JobSpec> {
  const [created] = (await createJobs(creator, [{ request, ...keyed }])).values();
  if (!created?.ok) throw created?.error;
  return created.value;
}

/** Stores and starts jobs, with a query for all together. Returns the job or the error of each request. */
export async function createJobs(
  creator: JobCreator,
  requests: readonly NewRequest[],
): Promise<Map<NewRequest, Result<JobSpec, unknown>>> {
  const { env, account, sender } = creator;
  const { refused, isListened } = await requestsAboveQuota(creator, requests);
  const webhook = await unseal(account.sealedWebhookSecret, sealedFor(account), settingsOf(env).sealingKeys);
  const admitted = requests.filter((request) => !refused.has(request));
  const stored = await storeJobs({ env, sender }, admitted, (request, job) => specOf(creator, request, webhook, job));
  const specs = new Map<NewRequest, Result<NewJobSpec, unknown>>([...refused, ...stored]);
  const started = requests.map(async (request) => {
    const spec = specs.get(request) ?? err(null);
    return [
      request,
      spec.ok ? await settle(startJob(env, spec.value, isListened).then(() => spec.value)) : spec,
    ] as const;
  });
  return new Map(await Promise.all(started));
}

async function specOf(
  { env, account }: JobCreator,
  { request: { secrets, ...request }, trace }: NewRequest,
  webhook: string,
  { id, createdAt }: NewJob,
): Promise<NewJobSpec> {
  const streamKeys = settleStreamKeys(secrets.streamKeys, randomBytes);
  const { outputs, extraUrls } = hideUrls(request.outputs);
  const { input } = request;
  const sealing = { ...secrets, webhook, streamKeys, extraUrls };
  const sealedSecrets = await sealJobSecrets(id, sealing, settingsOf(env).sealingKeys);
  if (input.kind === "upload") await keepForJob(env.DB, input.id, id);
  return {
    id,
    accountId: account.id,
    createdAt,
    ...request,
    outputs,
    share: shareOf(account),
    sealedSecrets,
    ...(trace ? { trace } : {}),
  };
}
