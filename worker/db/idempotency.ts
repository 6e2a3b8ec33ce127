// Idempotency keys of earlier requests.
import { and, eq, gte, isNotNull, sql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/d1";
import * as z from "zod";
import type { JobRow } from "./jobs.ts";
import { runBatch, runQuery } from "./run-query.ts";
import { idempotencyKeys, jobs } from "./schema.ts";
import { packView } from "./stored-view.ts";

export type KeyedRequest = typeof idempotencyKeys.$inferSelect;

/** Lifetime of a key (api-v2 §3). */
export const KEY_LIFE_MS = 24 * 60 * 60 * 1000;

const Holder = z.tuple([z.object({ bodyDigest: z.string(), jobId: z.string(), createdAt: z.int() })]);

/**
 * Claims a key for a request and stores the row of its job, in one transaction. Returns the request that holds the key:
 * this request, or an earlier request. In the second case nothing is stored. A key is free when it has expired or its
 * job was lost. A lost job has no row, or only the row is kept of it; other jobs reach that state only after
 * RETENTION_DAYS.
 */
export async function claimKey(db: D1Database, request: KeyedRequest, job: JobRow): Promise<KeyedRequest> {
  const { accountId, key, bodyDigest, jobId, createdAt } = request;
  const claim = drizzle(db)
    .insert(idempotencyKeys)
    .values(request)
    .onConflictDoUpdate({
      target: [idempotencyKeys.accountId, idempotencyKeys.key],
      set: { bodyDigest, jobId, createdAt },
      setWhere: sql`
        ${idempotencyKeys.createdAt} < ${createdAt - KEY_LIFE_MS} OR NOT EXISTS (
          SELECT 1 FROM ${jobs} WHERE ${jobs.id} = ${idempotencyKeys.jobId} AND ${jobs.checkAt} IS NOT NULL)`,
    });
  const same = and(eq(idempotencyKeys.accountId, accountId), eq(idempotencyKeys.key, key));
  const holder = sql`SELECT body_digest AS bodyDigest, job_id AS jobId, created_at AS createdAt FROM ${idempotencyKeys} WHERE ${same}`;
  const insert = sql`
    INSERT INTO ${jobs} (id, account_id, status, version, created_at, completed_at, view, check_at, search, tags)
    SELECT ${job.id}, ${job.accountId}, ${job.status}, ${job.version}, ${job.createdAt}, ${job.completedAt},
      ${packView(job.view)}, ${job.checkAt}, ${job.search}, ${job.tags}
    WHERE EXISTS (SELECT 1 FROM ${idempotencyKeys} WHERE ${same} AND ${idempotencyKeys.jobId} = ${job.id})
    ON CONFLICT DO NOTHING`;
  const [, found] = await runBatch(db, [claim.getSQL(), holder, insert]);
  return { ...request, ...Holder.parse(found?.results)[0] };
}

/** True if the key belongs to a job that a repeated request would return. */
export async function keyHasJob(db: D1Database, accountId: string, key: string, now: number): Promise<boolean> {
  const same = and(eq(idempotencyKeys.accountId, accountId), eq(idempotencyKeys.key, key));
  const isValid = and(gte(idempotencyKeys.createdAt, now - KEY_LIFE_MS), isNotNull(jobs.checkAt));
  const found = drizzle(db)
    .select({ id: jobs.id })
    .from(idempotencyKeys)
    .innerJoin(jobs, eq(jobs.id, idempotencyKeys.jobId))
    .where(and(same, isValid));
  return (await runQuery(found)).length > 0;
}
