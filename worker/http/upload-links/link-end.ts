// The end of an upload link: its job, its event and its webhook. The sweeper repeats steps that failed.
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
import { log } from "../../log.ts";
import { afterSending, Message } from "../../notify/outbox.ts";
import { postWebhook } from "../../notify/webhook.ts";
import { accountOf } from "../../rpc/account.ts";
import { withDeadline } from "../../rpc/deadline.ts";
import { settingsOf } from "../../settings.ts";
import { createJob, readRequest } from "../create-job.ts";
import { webhookSecretsOf } from "../webhooks/webhook-secrets.ts";
import { tagsOf, uploadOf, viewData } from "./link-view.ts";

/** The sweeper repeats a failed step after this time. */
export const LATER_MS = 60_000;

/** The body of the job without its input, and the URL of the receiver; null: none. */
const LinkSecrets = z.object({ job: z.record(z.string(), z.unknown()).nullable(), webhook: z.string().nullable() });
export type LinkSecrets = z.infer<typeof LinkSecrets>;

const contextOf = (id: string): string => `upload link:${id}`;

export const sealLink = (id: string, secrets: LinkSecrets, env: Env): Promise<string> =>
  seal(JSON.stringify(secrets), contextOf(id), settingsOf(env).sealingKeys);

const secretsOf = async ({ id, sealed }: UploadLinkRow, env: Env): Promise<LinkSecrets> =>
  LinkSecrets.parse(JSON.parse(await unseal(sealed, contextOf(id), settingsOf(env).sealingKeys)));

/** The Idempotency-Key of the link's job. */
export const jobKey = (linkId: string): string => `upload-link/${linkId}`;

/** The body of the link's job. It has the link's tags, too. */
export const jobBody = (link: UploadLinkRow, job: Readonly<Record<string, unknown>>, uploadId: string): object => ({
  ...job,
  input: { upload: uploadId },
  ...(isObject(job.tags ?? {}) && link.tags !== null ? { tags: { ...tagsOf(link)?.tags, ...Object(job.tags) } } : {}),
});

/** Continues work after the response; without it, callers wait for the work. */
export type WaitUntil = (work: Promise<void>) => void;

/** Does the steps that are due after the end of a link. A step that fails is repeated later. */
export async function settleLink(env: Env, ended: UploadLinkRow, now: number, waitUntil?: WaitUntil): Promise<void> {
  let link = ended;
  const change = async (changes: Partial<UploadLinkRow>): Promise<void> => {
    link = { ...link, ...changes };
    // A webhook that is due is sent next. If that is interrupted, the sweeper repeats it.
    await changeLink(env.DB, link, { ...changes, checkAt: Math.max(nextCheck(link, env, now), now + LATER_MS) });
  };
  const attempt = async (step: () => Promise<void>): Promise<void> => {
    try {
      await step();
    } catch (error) {
      log.warn("upload link not settled", { link: link.id, error: messageOf(error) });
      await changeLink(env.DB, link, { checkAt: now + LATER_MS });
    }
  };
  await attempt(async () => {
    const account = await findAccount(env.DB, link.accountId);
    if (!account) return await change({ webhook: null, isAnnounced: true });
    const secrets = await secretsOf(link, env);
    const started = isJobDue(link) && secrets.job ? await startJob(env, account, link, secrets.job) : {};
    const hasReceiver = secrets.webhook !== null;
    const announced = link.isAnnounced ? {} : await announce(env, { ...link, ...started }, hasReceiver, now);
    await change({ ...started, ...announced });
    const webhook = webhookOf(link);
    const url = secrets.webhook;
    if (!webhook || url === null || webhook.nextAt > now) return;
    const sent = attempt(async () => change({ webhook: await send(env, account, webhook, url) }));
    if (waitUntil) waitUntil(sent);
    else await sent;
  });
}

const isJobDue = ({ status, hasJob, jobId, jobError }: UploadLinkRow): boolean =>
  status === "completed" && hasJob && jobId === null && jobError === null;

/** When the next step is due; at last the link is deleted. */
function nextCheck(link: UploadLinkRow, env: Env, now: number): number {
  const webhook = webhookOf(link);
  const steps = [
    deletedAt(link, env),
    ...(webhook ? [webhook.nextAt] : []),
    ...(isJobDue(link) ? [now + LATER_MS] : []),
  ];
  return Math.min(...steps);
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
  const creator = { env, account, origin: link.origin };
  try {
    const given = jobBody(link, job, link.uploadId ?? "");
    const key = jobKey(link.id);
    const body = new TextEncoder().encode(JSON.stringify(given));
    const spec = await createJob(creator, await readRequest(creator, given, key), { body, key, trace: null });
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

// The event of the end, for the account's stream and its receiver.

const webhookOf = ({ webhook }: UploadLinkRow): Message | null =>
  webhook === null ? null : Message.parse(JSON.parse(webhook));

async function announce(
  env: Env,
  link: UploadLinkRow,
  hasReceiver: boolean,
  now: number,
): Promise<Partial<UploadLinkRow>> {
  const event = UPLOAD_EVENTS.find((name) => name === `upload.${link.status}`);
  if (!event) return { isAnnounced: true };
  const payload: UploadPayload = { event, upload_link_id: link.id, data: viewData(link, await uploadOf(env, link)) };
  const id = `${link.id}-${link.status}`;
  const events = [{ kind: "upload", key: id, data: payload } as const];
  await withDeadline("record", accountOf(env, link.accountId).record(events));
  const webhook: Message = { id, body: JSON.stringify(payload), attempts: 0, nextAt: now };
  return { isAnnounced: true, webhook: hasReceiver ? JSON.stringify(webhook) : null };
}

/** Sends the webhook. Returns it with the time of its next attempt, or null when it needs none. */
async function send(env: Env, account: Account, webhook: Message, url: string): Promise<string | null> {
  const now = Date.now();
  const signWith = await webhookSecretsOf(env, account, now);
  const result = await postWebhook(webhook, { receiver: { url }, signWith, settings: settingsOf(env), now });
  const after = afterSending(webhook, result, now);
  return after && JSON.stringify(after);
}
