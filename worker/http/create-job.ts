// Creates the job of a parsed request: for POST /v2/jobs, and for requests that the service has stored.
import { AppError } from "#shared/errors.ts";
import type { TraceContext } from "#shared/network/trace-context.ts";
import type { InputSpec } from "#shared/request/input-section.ts";
import { type JobRequest, parseJobRequest } from "#shared/request/job-request.ts";
import type { StorageSpec } from "#shared/request/storage/storage-spec.ts";
import { randomBytes } from "../crypto/bytes.ts";
import { unseal } from "../crypto/sealed-secret.ts";
import { hideUrls } from "../job/secrets/extra-urls.ts";
import { sealJobSecrets, settleStreamKeys } from "../job/secrets/job-secrets.ts";
import type { JobSpec } from "../rpc/job-spec.ts";
import { settingsOf } from "../settings.ts";
import { resolveStorage } from "../storage/resolve-storage.ts";
import { keepForJob } from "../storage/source-uploads/remove-uploads.ts";
import { requireJobQuota } from "./job-quota.ts";
import { withTemplate } from "./job-template.ts";
import { type JobCreator, startJob, storeJob } from "./new-job.ts";
import { resolveInput } from "./resolve-input.ts";

/** A request whose input and storage the service has completed. */
export type ResolvedRequest = Omit<ParsedRequest, "input" | "storage"> & { input: InputSpec; storage: StorageSpec };

/** `template`: such as `web@3`. */
export type ParsedRequest = JobRequest & { readonly template?: string };

/**
 * Parses the body of a job, which may name a template. `key` is the Idempotency-Key. Throws AppError for a body that is
 * not valid.
 */
export async function parseRequest(creator: JobCreator, given: unknown, key: string | null): Promise<ParsedRequest> {
  const { body, template, explain } = await withTemplate(creator, given, key);
  const parsed = parseJobRequest(body, settingsOf(creator.env).allowPrivate);
  if (!parsed.ok) throw AppError.from(explain(parsed.error));
  return { ...parsed.value, ...template };
}

/** Parses and completes the body of a job. Throws AppError. */
export const readRequest = async (creator: JobCreator, given: unknown, key: string | null): Promise<ResolvedRequest> =>
  resolveRequest(creator, await parseRequest(creator, given, key));

/** Completes a request. Throws AppError(input_* | storage_*). */
async function resolveRequest(creator: JobCreator, request: ParsedRequest): Promise<ResolvedRequest> {
  const input = await resolveInput(creator, request.input, request.secrets.input);
  const { env, origin } = creator;
  const storage = await resolveStorage(request.storage, { env, origin, keys: request.secrets.storage });
  return { ...request, input, storage };
}

/**
 * Stores and starts a job. `body` is the request in bytes: a repeated `key` must have the same. Throws
 * AppError(too_many_jobs | idempotency_key_* | input_not_valid).
 */
export async function createJob(
  creator: JobCreator,
  { secrets, ...request }: ResolvedRequest,
  keyed: { readonly body: Uint8Array; readonly key: string | null; readonly trace: TraceContext | null },
): Promise<JobSpec> {
  const { env, account } = creator;
  const { sealingKeys } = settingsOf(env);
  await requireJobQuota(creator, keyed.key);
  const webhook = await unseal(account.sealedWebhookSecret, `account:${account.id}`, sealingKeys);
  const streamKeys = settleStreamKeys(secrets.streamKeys, randomBytes);
  const { outputs, extraUrls } = hideUrls(request.outputs);
  const { input } = request;
  const share = { weight: account.weight, maxRunning: account.maxRunning };
  const spec = await storeJob(env, account.id, keyed, async ({ id, createdAt }) => {
    const sealedSecrets = await sealJobSecrets(id, { ...secrets, webhook, streamKeys, extraUrls }, sealingKeys);
    if (input.kind === "upload") await keepForJob(env.DB, input.id, id);
    const sealed = { sealedSecrets, ...(keyed.trace ? { trace: keyed.trace } : {}) };
    return { id, accountId: account.id, createdAt, ...request, outputs, share, ...sealed };
  });
  await startJob(env, spec);
  return spec;
}
