// Accounts: who they are, what signs their notifications, what they may have.
import { asc, eq, gt, sql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/d1";
import { ask } from "./ask.ts";
import type { Account } from "./credentials.ts";
import { accounts, jobs } from "./schema.ts";

export type AccountSummary = Pick<Account, "id" | "name" | "createdAt" | "maxUnfinishedJobs">;

export const listAccounts = (db: D1Database): Promise<AccountSummary[]> => {
  const { id, name, createdAt, maxUnfinishedJobs } = accounts;
  return ask(drizzle(db).select({ id, name, createdAt, maxUnfinishedJobs }).from(accounts).orderBy(createdAt));
};

export async function findAccount(db: D1Database, id: string): Promise<Account | null> {
  return (await ask(drizzle(db).select().from(accounts).where(eq(accounts.id, id))))[0] ?? null;
}

/** Some accounts by their ids, after a given one. */
export const accountsAfter = (db: D1Database, id: string, limit: number): Promise<Account[]> =>
  ask(drizzle(db).select().from(accounts).where(gt(accounts.id, id)).orderBy(asc(accounts.id)).limit(limit));

export async function changeAccount(
  db: D1Database,
  id: string,
  changes: Partial<Omit<Account, "id" | "name" | "createdAt">>,
): Promise<void> {
  await ask(drizzle(db).update(accounts).set(changes).where(eq(accounts.id, id)));
}

/** How many jobs of the account have not ended, `most` at the most: so many entries of an index are read, and no rows. */
export async function countUnfinished(db: D1Database, accountId: string, most: number): Promise<number> {
  const found = await ask(
    drizzle(db).get<{ n: number }>(sql`
      SELECT count(*) AS n FROM (
        SELECT 1 FROM ${jobs} WHERE account_id = ${accountId} AND completed_at IS NULL LIMIT ${most})`),
  );
  return found.n;
}
