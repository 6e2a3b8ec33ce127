// Idempotency keys of earlier requests.
import { and, eq, inArray, lt, sql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/d1";
import { runQuery } from "./run-query.ts";
import { idempotencyKeys, jobs } from "./schema.ts";

export type KeyedRequest = typeof idempotencyKeys.$inferSelect;

/** How long a key is remembered (api-v2 §3). */
const KEEP_MS = 24 * 60 * 60 * 1000;

/**
 * Claims a key for a request. Returns the request that holds the key: this one, or an earlier one that has not expired.
 */
export async function claimKey(db: D1Database, request: KeyedRequest): Promise<KeyedRequest> {
  const { bodyDigest, jobId, createdAt } = request;
  await runQuery(
    drizzle(db)
      .insert(idempotencyKeys)
      .values(request)
      .onConflictDoUpdate({
        target: [idempotencyKeys.accountId, idempotencyKeys.key],
        set: { bodyDigest, jobId, createdAt },
        setWhere: sql`${idempotencyKeys.createdAt} < ${createdAt - KEEP_MS}`,
      }),
  );
  const same = and(eq(idempotencyKeys.accountId, request.accountId), eq(idempotencyKeys.key, request.key));
  const rows = await runQuery(drizzle(db).select().from(idempotencyKeys).where(same));
  return rows[0] ?? request;
}

/** Whether a key belongs to a job that is in the index. */
export async function keyHasJob(db: D1Database, accountId: string, key: string): Promise<boolean> {
  const same = and(eq(idempotencyKeys.accountId, accountId), eq(idempotencyKeys.key, key));
  const job = eq(jobs.id, idempotencyKeys.jobId);
  const found = drizzle(db).select({ id: jobs.id }).from(idempotencyKeys).innerJoin(jobs, job).where(same);
  return (await runQuery(found)).length > 0;
}

/** Removes expired keys, the oldest first, at most `limit` of them. */
export async function forgetKeys(db: D1Database, now: number, limit: number): Promise<void> {
  const client = drizzle(db);
  const rowid = sql`rowid`;
  const old = client
    .select({ rowid })
    .from(idempotencyKeys)
    .where(lt(idempotencyKeys.createdAt, now - KEEP_MS))
    .orderBy(idempotencyKeys.createdAt)
    .limit(limit);
  await runQuery(client.delete(idempotencyKeys).where(inArray(rowid, old)));
}
