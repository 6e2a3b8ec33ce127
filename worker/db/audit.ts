// The audit. The creation of a job has no entry, which would cost three rows: the job's row has its sender.
import { type SQL, sql } from "drizzle-orm";
import * as z from "zod";
import { AuditEntry } from "#shared/api/audit.ts";
import { ANY_JOB, searchesOf } from "./jobs/job-filter.ts";
import { MAX_SEARCHED } from "./jobs/job-list.ts";
import { runBatch } from "./run-query.ts";
import { apiKeys, audit, jobs } from "./schema.ts";

export type AuditRow = typeof audit.$inferSelect;
/** The sender of a request. `actor`: the id of the API key, or `operator`. */
export type Sender = Pick<AuditRow, "actor" | "ip">;

/** Entries of each action of an account: a restricted key must not push out the entries of other changes. */
const MAX_KEPT = 2000;

/** A column of the API key with this id: a search in the primary key. */
const ofKey = (column: SQL, id: SQL): SQL =>
  sql`(SELECT ${column} FROM ${apiKeys} WHERE digest >= ${id} AND digest < ${id} || 'g')`;

/** Stores an entry, and deletes the oldest of its action. The operator's change of a key is of the key's account. */
export async function insertEntry(db: D1Database, row: AuditRow): Promise<void> {
  const { id, createdAt, accountId, actor, ip, action, object, status } = row;
  const changedKey = /^keys\/(.*)/.exec(object)?.[1] ?? null;
  const account = sql`coalesce(${accountId}, ${ofKey(sql`account_id`, sql`${changedKey}`)})`;
  const kind = sql`account_id IS ${account} AND action = ${action}`;
  await runBatch(db, [
    sql`
      INSERT INTO ${audit} (id, created_at, account_id, actor, ip, action, object, status)
      VALUES (${id}, ${createdAt}, ${account}, ${actor}, ${ip}, ${action}, ${object}, ${status})`,
    sql`
      DELETE FROM ${audit} WHERE ${kind} AND created_at < (
        SELECT created_at FROM ${audit} WHERE ${kind} ORDER BY created_at DESC LIMIT 1 OFFSET ${MAX_KEPT - 1})`,
  ]);
}

const Rows = z.array(AuditEntry.omit({ created_at: true }).extend({ createdAt: z.int() }));
type Wanted = { readonly [name in "actor" | "action" | "object"]?: string | undefined } & {
  readonly after: { readonly createdAt: number; readonly id: string } | null;
  readonly limit: number;
};

/** Entries after a place, newest first. `account` null: of all accounts and of the service. */
export async function listEntries(db: D1Database, account: string | null, wanted: Wanted) {
  const [page] = await runBatch(db, [entriesQuery(account, wanted)]);
  return Rows.parse(page?.results);
}

/** The query of a page. Jobs are read for the list of created jobs of an account, and for the list of a job. */
export function entriesQuery(account: string | null, { actor, action, object, after, limit }: Wanted): SQL {
  const place = after && { at: after.createdAt, id: after.id };
  const entries = sql`
    SELECT id, created_at AS createdAt, account_id AS account, actor, ip, action, object, status FROM ${audit}`;
  // The plus makes SQLite search by id, not by account.
  const jobsOf = (ids: SQL): SQL => sql`
    SELECT id, created_at AS createdAt, +account_id AS account, created_by AS actor, created_from AS ip,
      'createJob' AS action, 'jobs/' || id AS object, 201 AS status FROM ${jobs} WHERE id IN (${ids})`;
  let source = entries;
  if (object?.startsWith("jobs/")) source = sql`${entries} UNION ALL ${jobsOf(sql`${object.slice(5)}`)}`;
  else if (account !== null && action === "createJob")
    source = jobsOf(sql`SELECT id FROM (${searchesOf(account, ANY_JOB, place)} LIMIT ${MAX_SEARCHED})`);
  return sql`
    SELECT *, ${ofKey(sql`nullif(name, '')`, sql`actor`)} AS actor_name FROM (${source})
    WHERE ${account === null ? sql`true` : sql`account = ${account}`} AND actor = coalesce(${actor ?? null}, actor)
      AND ${action === undefined ? sql`true` : sql`action = ${action}`}
      AND instr(object || '/', ${object === undefined ? "" : `${object}/`}) = 1
      AND (createdAt, id) < (${after?.createdAt ?? Number.MAX_SAFE_INTEGER}, ${after?.id ?? ""})
    ORDER BY createdAt DESC, id DESC LIMIT ${limit}`;
}
