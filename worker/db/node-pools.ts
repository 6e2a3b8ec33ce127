// The pools that node tokens bind, and the pools in which jobs wait.
import { desc, gt, isNull, lt, sql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/d1";
import { runQuery } from "./run-query.ts";
import { nodeTokens, waitingPools } from "./schema.ts";

/** Jobs that wait advertise at least every 66 minutes. */
const WAITING_MS = 2 * 60 * 60_000;
/** Many jobs that wait cost a row in this time, not a row each. */
const RENEW_MS = 10 * 60_000;
/** Maximum number of reported pools without a token: clients choose the names. */
const MAX_WAITING = 20;

/** The pools of tokens that are not revoked. */
export async function listPools(db: D1Database): Promise<string[]> {
  const { pool, revokedAt } = nodeTokens;
  const rows = await runQuery(drizzle(db).selectDistinct({ pool }).from(nodeTokens).where(isNull(revokedAt)));
  return rows.map((row) => row.pool);
}

/** The pools in which jobs waited last for a node that the pool did not have. */
export async function listWaitingPools(db: D1Database, now: number): Promise<string[]> {
  const { name, until } = waitingPools;
  const waiting = drizzle(db).select({ name }).from(waitingPools).where(gt(until, now));
  return (await runQuery(waiting.orderBy(desc(until)).limit(MAX_WAITING))).map((row) => row.name);
}

export async function noteWaitingPool(db: D1Database, name: string, now: number): Promise<void> {
  const until = now + WAITING_MS;
  const renewed = {
    target: waitingPools.name,
    set: { until },
    setWhere: sql`${waitingPools.until} < ${until - RENEW_MS}`,
  };
  const insert = drizzle(db).insert(waitingPools).values({ name, until }).onConflictDoUpdate(renewed);
  await runQuery(drizzle(db).batch([insert, drizzle(db).delete(waitingPools).where(lt(waitingPools.until, now))]));
}
