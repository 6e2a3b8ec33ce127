// Accounts: their names, the secrets that sign their notifications, and their limits.
import { and, asc, eq, gt, sql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/d1";
import { AppError } from "#shared/errors.ts";
import type { JobStatus } from "#shared/job/job-status.ts";
import type { Account } from "./credentials.ts";
import { runQuery } from "./run-query.ts";
import { accounts, jobs } from "./schema.ts";

export type AccountSummary = Pick<Account, "id" | "name" | "createdAt" | keyof AccountLimits>;

/** Limits of an account that the operator can change. */
export type AccountLimits = Pick<Account, "maxUnfinishedJobs" | "weight" | "maxRunning" | "maxPriority">;

export const listAccounts = (db: D1Database): Promise<AccountSummary[]> => {
  const { id, name, createdAt, maxUnfinishedJobs, weight, maxRunning, maxPriority } = accounts;
  const summary = { id, name, createdAt, maxUnfinishedJobs, weight, maxRunning, maxPriority };
  return runQuery(drizzle(db).select(summary).from(accounts).orderBy(createdAt));
};

export async function findAccount(db: D1Database, id: string): Promise<Account | null> {
  return (await runQuery(drizzle(db).select().from(accounts).where(eq(accounts.id, id))))[0] ?? null;
}

/** Accounts in the order of their ids, after the given id. */
export const accountsAfter = (db: D1Database, id: string, limit: number): Promise<Account[]> =>
  runQuery(drizzle(db).select().from(accounts).where(gt(accounts.id, id)).orderBy(asc(accounts.id)).limit(limit));

export async function changeAccount(db: D1Database, id: string, changes: Partial<AccountLimits>): Promise<void> {
  await runQuery(drizzle(db).update(accounts).set(changes).where(eq(accounts.id, id)));
}

type Secrets = Pick<Account, "sealedWebhookSecret" | "sealedPreviousSecret" | "previousUntil">;

/**
 * Replaces the secrets of an account; `read` is its row. Throws AppError(account_state_conflict) when another request
 * replaced them meanwhile.
 */
export async function replaceSecrets(db: D1Database, read: Account, secrets: Partial<Secrets>): Promise<void> {
  const unchanged = and(eq(accounts.id, read.id), eq(accounts.sealedWebhookSecret, read.sealedWebhookSecret));
  const { meta } = await runQuery(drizzle(db).update(accounts).set(secrets).where(unchanged).run());
  if (meta.changes > 0) return;
  throw new AppError("account_state_conflict", "The webhook secret of the account was replaced meanwhile: try again");
}

const UNFINISHED: JobStatus = "job.starting";

/**
 * The number of the account's unfinished jobs, at most `most`. Reads at most `most` entries of an index. An unfinished
 * job always has the status `job.starting`.
 */
export async function countUnfinished(db: D1Database, accountId: string, most: number): Promise<number> {
  const rows = await runQuery(
    drizzle(db).get<{ n: number }>(sql`
      SELECT count(*) AS n FROM (
        SELECT 1 FROM ${jobs} WHERE account_id = ${accountId} AND status = ${UNFINISHED} LIMIT ${most})`),
  );
  return rows.n;
}
