// /v2/admin: limits and webhook secrets of accounts, and the keys that encrypt stored secrets.

import { LimitsBody, ResealBody } from "#shared/api/operator-requests.ts";
import type { AccountLimits, Resealed } from "#shared/api/operator-responses.ts";
import { AppError } from "#shared/errors.ts";
import { messageOf } from "#shared/log.ts";
import { templateRef } from "#shared/template/expand-template.ts";
import type { Env } from "../../bindings.ts";
import { reseal } from "../../crypto/sealed-secret.ts";
import {
  type AccountLimits as AccountLimitsOf,
  accountsAfter,
  changeAccount,
  findAccount,
  replaceSecrets,
} from "../../db/accounts.ts";
import { changeAlert, listAlerts } from "../../db/alerts.ts";
import type { Account } from "../../db/credentials.ts";
import { jobsAfter } from "../../db/jobs/jobs.ts";
import { replaceSealed, templatesAfter } from "../../db/templates.ts";
import { withDeadline } from "../../deadline.ts";
import { log } from "../../log.ts";
import { sealedFor } from "../../notify/webhook-secrets.ts";
import { type JobResult, jobOf } from "../../rpc/job.ts";
import { settingsOf } from "../../settings.ts";
import { alertContext } from "../alerts/send-alert.ts";
import { readBody } from "../body/read-body.ts";
import { templateContext } from "../jobs/create/job-template.ts";
import type { Handlers } from "../operation/mount.ts";
import { jsonResponse } from "../responses/json-response.ts";
import { rotateWebhookSecret } from "../webhooks/webhook-secrets.ts";
import type { ADMIN_OPERATIONS } from "./admin.operations.ts";

/** Jobs or accounts that a request encrypts again, within the subrequest limit of Workers. */
const PAGE = 200;
/** A template has up to 64 KiB. */
const TEMPLATE_PAGE = 50;
const AT_A_TIME = 20;

export const rotation = {
  setAccountLimits: async (context) => {
    const body = await readBody(context.req, LimitsBody, "request_not_valid");
    const account = await knownAccount(context.env.DB, context.req.param("id"));
    const {
      max_unfinished_jobs: maxUnfinishedJobs = account.maxUnfinishedJobs,
      max_running: maxRunning = account.maxRunning,
      max_priority: maxPriority = account.maxPriority,
      weight = account.weight,
    } = body;
    const limits = { maxUnfinishedJobs, maxRunning, maxPriority, weight };
    await changeAccount(context.env.DB, account.id, limits);
    return jsonResponse(context, { account_id: account.id, ...viewLimits(limits) } satisfies AccountLimits);
  },
  rotateWebhookSecret: async (context) => {
    const account = await knownAccount(context.env.DB, context.req.param("id"));
    return jsonResponse(context, await rotateWebhookSecret(context.env, account));
  },
  reseal: async (context) => {
    const { cursor = null } = await readBody(context.req, ResealBody, "request_not_valid");
    const [what = "accounts", after = ""] = (cursor ?? "").split(":");
    if (cursor !== null && !/^(accounts|templates|alerts|jobs):[A-Za-z0-9]{0,30}$/.test(cursor)) {
      throw new AppError("request_not_valid", "`cursor` must be the `next_cursor` of a response");
    }
    const resealPage = RESEAL[what] ?? resealAccounts;
    return jsonResponse(context, (await resealPage(context.env, after)) satisfies Resealed);
  },
} satisfies Partial<Handlers<typeof ADMIN_OPERATIONS>>;

export const viewLimits = ({ maxUnfinishedJobs, maxRunning, maxPriority, weight }: AccountLimitsOf) => ({
  max_unfinished_jobs: maxUnfinishedJobs,
  max_running: maxRunning,
  max_priority: maxPriority,
  weight,
});

export async function knownAccount(db: D1Database, id: string): Promise<Account> {
  const account = await findAccount(db, id);
  if (!account) throw new AppError("account_not_found", "There is no account with this id");
  return account;
}

async function resealAccounts(env: Env, after: string): Promise<Resealed> {
  const page = await accountsAfter(env.DB, after, PAGE);
  const { sealingKeys } = settingsOf(env);
  const done = await eachOf(page, async (account) => {
    const { sealedWebhookSecret, sealedPreviousSecret } = account;
    const current = await reseal(sealedWebhookSecret, sealedFor(account), sealingKeys);
    const previous = sealedPreviousSecret && (await reseal(sealedPreviousSecret, sealedFor(account), sealingKeys));
    if (current === sealedWebhookSecret && previous === sealedPreviousSecret) return false;
    await replaceSecrets(env.DB, account, { sealedWebhookSecret: current, sealedPreviousSecret: previous });
    return true;
  });
  const last = page.length === PAGE ? page.at(-1) : undefined;
  return { ...done, next_cursor: last ? `accounts:${last.id}` : "templates:" };
}

async function resealTemplates(env: Env, after: string): Promise<Resealed> {
  const page = await templatesAfter(env.DB, Number(after), TEMPLATE_PAGE);
  const items = page.map((version) => ({ ...version, id: templateRef(version) }));
  const done = await eachOf(items, async (version) => {
    const sealed = await reseal(version.sealed, templateContext(version), settingsOf(env).sealingKeys);
    if (sealed !== version.sealed) await replaceSealed(env.DB, version, sealed);
    return sealed !== version.sealed;
  });
  const last = page.length === TEMPLATE_PAGE ? page.at(-1) : undefined;
  return { ...done, next_cursor: last ? `templates:${last.row}` : "alerts:" };
}

async function resealAlerts(env: Env): Promise<Resealed> {
  const items = (await listAlerts(env.DB)).map((row) => ({ ...row, id: row.name }));
  const done = await eachOf(items, async (row) => {
    const sealed = await reseal(row.sealed, alertContext(row.name), settingsOf(env).sealingKeys);
    return sealed !== row.sealed && (await changeAlert(env.DB, row, { sealed }));
  });
  return { ...done, next_cursor: "jobs:" };
}

async function resealJobs(env: Env, after: string): Promise<Resealed> {
  const page = await jobsAfter(env.DB, after, PAGE);
  const done = await eachOf(
    // Only the row remains of the other jobs.
    page.filter(({ checkAt }) => checkAt !== null),
    async ({ id }) => {
      const resealed = await withDeadline<JobResult<boolean>>("reseal", jobOf(env, id).reseal());
      if (!resealed.ok) throw AppError.from(resealed.error);
      return resealed.value;
    },
  );
  const last = page.length === PAGE ? page.at(-1) : undefined;
  return { ...done, next_cursor: last ? `jobs:${last.id}` : null };
}

const RESEAL: Readonly<Record<string, typeof resealAccounts>> = {
  templates: resealTemplates,
  alerts: resealAlerts,
  jobs: resealJobs,
};

/** Encrypts secrets again, a few at a time. Lists failures, and continues with the other items. */
async function eachOf<Item extends { id: string }>(
  items: readonly Item[],
  resealOne: (item: Item) => Promise<boolean>,
): Promise<Pick<Resealed, "resealed" | "failed">> {
  let resealed = 0;
  const failed: Resealed["failed"] = [];
  for (let at = 0; at < items.length; at += AT_A_TIME) {
    const some = items.slice(at, at + AT_A_TIME).map(async (item) => {
      try {
        if (await resealOne(item)) resealed += 1;
      } catch (error) {
        failed.push({ id: item.id, message: error instanceof AppError ? error.message : "Cannot be decrypted" });
        log.warn("secret not resealed", { id: item.id, error: messageOf(error) });
      }
    });
    await Promise.all(some);
  }
  return { resealed, failed };
}
