// Tables of D1: accounts, credentials by digest, and the index of jobs. Times in ms since 1970.
import { sql } from "drizzle-orm";
import { index, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";

export const accounts = sqliteTable("accounts", {
  id: text("id").primaryKey(),
  name: text("name").notNull(),
  /** Signs the account's notifications; sealed to `account:<id>`. */
  sealedWebhookSecret: text("sealed_webhook_secret").notNull(),
  /** The one before, which signs beside it until then. */
  sealedPreviousSecret: text("sealed_previous_secret"),
  previousUntil: integer("previous_until"),
  /** Null: as MAX_UNFINISHED_JOBS says. */
  maxUnfinishedJobs: integer("max_unfinished_jobs"),
  createdAt: integer("created_at").notNull(),
});

/** Of credentials, whose digest changes when they are used after a change of the pepper. */
const digestedAgain = {
  /** What the operator calls it, once its digest no longer says that. */
  id: text("id"),
  /** Name of the pepper of the digest; null where that has none. */
  pepper: text("pepper"),
};

export const apiKeys = sqliteTable("api_keys", {
  /** HMAC-SHA-256 of the key under the operator's pepper, in hex. */
  digest: text("digest").primaryKey(),
  accountId: text("account_id")
    .notNull()
    .references(() => accounts.id),
  createdAt: integer("created_at").notNull(),
  revokedAt: integer("revoked_at"),
  ...digestedAgain,
});

export const nodeTokens = sqliteTable("node_tokens", {
  digest: text("digest").primaryKey(),
  name: text("name").notNull(),
  createdAt: integer("created_at").notNull(),
  revokedAt: integer("revoked_at"),
  ...digestedAgain,
});

/** Keys that clients gave to requests, so that one sent twice begins one job. */
export const idempotencyKeys = sqliteTable(
  "idempotency_keys",
  {
    accountId: text("account_id").notNull(),
    key: text("key").notNull(),
    /** HMAC-SHA-256 under the operator's pepper of the SHA-256 of the request's body, both in hex. */
    bodyDigest: text("body_digest").notNull(),
    jobId: text("job_id").notNull(),
    createdAt: integer("created_at").notNull(),
  },
  (table) => [primaryKey({ columns: [table.accountId, table.key] }), index("keys_by_age").on(table.createdAt)],
);

/** One row a job, written a few times in its life; the job's object is the truth. */
export const jobs = sqliteTable(
  "jobs",
  {
    id: text("id").primaryKey(),
    accountId: text("account_id").notNull(),
    status: text("status").notNull(),
    /** Guards against writes that arrive out of order. */
    version: integer("version").notNull(),
    createdAt: integer("created_at").notNull(),
    completedAt: integer("completed_at"),
    /** The job as clients see it, in JSON: the answer for an ended job. */
    view: text("view").notNull(),
    /** When the sweeper asks the object how the job is; null once nothing is kept of the job but this row. */
    checkAt: integer("check_at").default(0),
  },
  (table) => [
    index("jobs_by_account").on(table.accountId, table.createdAt),
    index("jobs_to_check").on(table.checkAt).where(sql`${table.checkAt} IS NOT NULL`),
    index("jobs_unfinished").on(table.accountId).where(sql`${table.completedAt} IS NULL`),
  ],
);
