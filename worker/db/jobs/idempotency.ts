// Idempotency keys of earlier requests.
import { and, eq, gte, isNotNull, sql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/d1";
import * as z from "zod";
import { runBatch, runQuery } from "../run-query.ts";
import { idempotencyKeys, jobs } from "../schema.ts";
import { eachOf, insertRows, type JobRow } from "./jobs.ts";

export type KeyedRequest = typeof idempotencyKeys.$inferSelect;

/** Lifetime of a key (api-v2 §3). */
export const KEY_LIFE_MS = 24 * 60 * 60 * 1000;

const Holders = z.array(z.object({ key: z.string(), bodyDigest: z.string(), jobId: z.string(), createdAt: z.int() }));
export type KeyHolder = z.infer<typeof Holders>[number];

/**
 * Claims keys for requests of an account and stores the rows of their jobs, in one transaction. Returns the request
 * that holds each key: this request, or an earlier request. In the second case nothing is stored. A key is free when it
 * has expired or its job was lost. A lost job has no row, or only the row is kept of it; other jobs reach that state
 * only after RETENTION_DAYS.
 */
export async function claimKeys(
  db: D1Database,
  requests: readonly { readonly request: KeyedRequest; readonly job: JobRow }[],
): Promise<ReadonlyMap<string, KeyHolder>> {
  if (requests.length === 0) return new Map();
  const list = eachOf(requests.map(({ request }) => request));
  const claim = sql`
    INSERT INTO ${idempotencyKeys} (account_id, key, body_digest, job_id, created_at)
    SELECT one.value ->> 'accountId', one.value ->> 'key', one.value ->> 'bodyDigest', one.value ->> 'jobId',
      one.value ->> 'createdAt'
    FROM ${list} WHERE true ON CONFLICT (account_id, key)
    DO UPDATE SET body_digest = excluded.body_digest, job_id = excluded.job_id, created_at = excluded.created_at
    WHERE ${idempotencyKeys.createdAt} < excluded.created_at - ${KEY_LIFE_MS} OR NOT EXISTS (
      SELECT 1 FROM ${jobs} WHERE ${jobs.id} = ${idempotencyKeys.jobId} AND ${jobs.checkAt} IS NOT NULL)`;
  const holders = sql`
    SELECT held.key, held.body_digest AS bodyDigest, held.job_id AS jobId, held.created_at AS createdAt
    FROM ${list} CROSS JOIN ${idempotencyKeys} AS held
    WHERE held.account_id = one.value ->> 'accountId' AND held.key = one.value ->> 'key'`;
  const holds = sql`EXISTS (SELECT 1 FROM ${idempotencyKeys} AS held
    WHERE held.account_id = one.value ->> 'accountId' AND held.key = one.value ->> 'key' AND held.job_id = one.value ->> 'id')`;
  const rows = requests.map(({ request: { key }, job }) => ({ ...job, key }));
  const [, found] = await runBatch(db, [claim, holders, insertRows(rows, holds, sql`DO NOTHING`)]);
  return new Map(Holders.parse(found?.results).map((holder) => [holder.key, holder]));
}

/** The keys that belong to jobs that a repeated request would return. */
export async function keysWithJobs(
  db: D1Database,
  accountId: string,
  keys: readonly string[],
  now: number,
): Promise<ReadonlySet<string>> {
  const { key, jobId, createdAt } = idempotencyKeys;
  const among = sql`${key} IN (SELECT value FROM json_each(${JSON.stringify(keys)}))`;
  const isValid = and(gte(createdAt, now - KEY_LIFE_MS), isNotNull(jobs.checkAt));
  const rows = drizzle(db)
    .select({ key })
    .from(idempotencyKeys)
    .innerJoin(jobs, eq(jobs.id, jobId))
    .where(and(eq(idempotencyKeys.accountId, accountId), among, isValid));
  return new Set((await runQuery(rows)).map((row) => row.key));
}
