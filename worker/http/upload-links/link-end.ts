// The end of an upload link: its job and its event. The account's object sends the webhook.
import * as z from "zod";
import { UPLOAD_EVENTS, type UploadPayload } from "#shared/api/upload-links.ts";
import { AppError, errorTraits, type Failure } from "#shared/errors.ts";
import { messageOf } from "#shared/log.ts";
import { isObject } from "#shared/request/parse-section.ts";
import type { Env } from "../../bindings.ts";
import { seal, unseal } from "../../crypto/sealed-secret.ts";
import { findAccount } from "../../db/accounts.ts";
import type { Account } from "../../db/credentials.ts";
import { changeLink, type UploadLinkRow } from "../../db/upload-links.ts";
import { withDeadline } from "../../deadline.ts";
import { log } from "../../log.ts";
import { accountOf } from "../../rpc/account.ts";
import { settingsOf } from "../../settings.ts";
import { createJob, readRequest } from "../jobs/create/create-job.ts";
import { ownKey } from "../jobs/create/new-job.ts";
import { tagsOf, uploadOf, viewData } from "./link-view.ts";

/** The sweeper repeats a failed step after this time. */
export const LATER_MS = 60_000;

/** The body of the job without its input, and the URL of the receiver; null: none. */
const LinkSecrets = z.object({ job: z.record(z.string(), z.unknown()).nullable(), webhook: z.string().nullable() });
export type LinkSecrets = z.infer<typeof LinkSecrets>;

const contextOf = (id: string): string => `upload link:${id}`;

export const sealLink = (id: string, secrets: LinkSecrets, env: Env): Promise<string> =>
  seal(JSON.stringify(secrets), contextOf(id), settingsOf(env).sealingKeys);

const secretsOf = async (id: string, sealed: string, env: Env): Promise<LinkSecrets> =>
  LinkSecrets.parse(JSON.parse(await unseal(sealed, contextOf(id), settingsOf(env).sealingKeys)));

/** The Idempotency-Key of the link's job. */
const jobKey = (linkId: string): string => ownKey("upload-link", linkId);

/** The body of the link's job. It has the link's tags, too. */
export const jobBody = (link: UploadLinkRow, job: Readonly<Record<string, unknown>>, uploadId: string): object => ({
  ...job,
  input: { upload: uploadId },
  ...(isObject(job.tags ?? {}) && link.tags !== null ? { tags: { ...tagsOf(link)?.tags, ...Object(job.tags) } } : {}),
});

/**
 * Does the steps that are due after the end of a link: its job and its event. Its sealed body is dropped then. The
 * sweeper repeats a step that fails.
 */
export async function settleLink(env: Env, link: UploadLinkRow, now: number): Promise<void> {
  if (link.sealed === null) return void (await changeLink(env.DB, link, { checkAt: deletedAt(link, env) }));
  try {
    const account = await findAccount(env.DB, link.accountId);
    const secrets = await secretsOf(link.id, link.sealed, env);
    const hasJob = account !== null && link.status === "completed" && link.jobId === null && link.jobError === null;
    const started = hasJob && secrets.job ? await startJob(env, account, link, secrets.job) : null;
    const after = { ...link, ...started };
    if (account && !link.isAnnounced) await announce(env, after, secrets.webhook);
    const isLate = started !== null && after.jobId === null && after.jobError === null;
    const next = isLate ? { checkAt: now + LATER_MS } : { sealed: null, checkAt: deletedAt(link, env) };
    await changeLink(env.DB, link, { ...started, isAnnounced: true, ...next });
  } catch (error) {
    log.warn("upload link not settled", { link: link.id, error: messageOf(error) });
    await changeLink(env.DB, link, { checkAt: now + LATER_MS });
  }
}

export const deletedAt = ({ endedAt }: UploadLinkRow, env: Env): number =>
  (endedAt ?? Number.POSITIVE_INFINITY) + settingsOf(env).retentionMs;

/** Creates the job once: its Idempotency-Key is the link's. A temporary failure changes nothing. */
async function startJob(
  env: Env,
  account: Account,
  link: UploadLinkRow,
  job: Readonly<Record<string, unknown>>,
): Promise<Partial<UploadLinkRow>> {
  const creator = { env, account, origin: link.origin, sender: { actor: link.keyId ?? "operator", ip: null } };
  try {
    const request = jobBody(link, job, link.uploadId ?? "");
    const key = jobKey(link.id);
    const body = new TextEncoder().encode(JSON.stringify(request));
    const spec = await createJob(creator, await readRequest(creator, request), { body, key, trace: null });
    return { jobId: spec.id };
  } catch (error) {
    if (error instanceof AppError && isFinal(error)) {
      return { jobError: JSON.stringify({ error_code: error.code, message: error.message }) };
    }
    log.warn("job not started", { link: link.id, error: messageOf(error) });
    return {};
  }
}

function isFinal({ code }: Failure): boolean {
  const { http } = errorTraits(code);
  return http !== null && http < 500 && http !== 429;
}

/** The event of the end, for the account's stream and the receiver of the link. */
async function announce(env: Env, link: UploadLinkRow, receiver: string | null): Promise<void> {
  const event = UPLOAD_EVENTS.find((name) => name === `upload.${link.status}`);
  if (!event) return;
  const payload: UploadPayload = { event, upload_link_id: link.id, data: viewData(link, await uploadOf(env, link)) };
  const id = `${link.id}-${link.status}`;
  const account = accountOf(env, link.accountId);
  await withDeadline("record", account.record([{ kind: "upload", key: id, data: payload }]));
  if (receiver === null) return;
  await withDeadline("sendLater", account.sendLater({ id, body: JSON.stringify(payload) }, receiver));
}
