// Tables of D1: accounts, digests of credentials, and the index of jobs. Times in ms since 1970.
import { sql } from "drizzle-orm";
import { index, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";

export const accounts = sqliteTable("accounts", {
  id: text("id").primaryKey(),
  name: text("name").notNull(),
  /** Signs the account's notifications; sealed to `account:<id>`. */
  sealedWebhookSecret: text("sealed_webhook_secret").notNull(),
  /** The previous secret, which also signs until `previousUntil`. */
  sealedPreviousSecret: text("sealed_previous_secret"),
  previousUntil: integer("previous_until"),
  /** Null: MAX_UNFINISHED_JOBS applies. */
  maxUnfinishedJobs: integer("max_unfinished_jobs"),
  /** Share of the nodes among accounts that wait: twice the weight gets twice the encoding time. */
  weight: integer("weight").notNull().default(1),
  /** How many of its tasks may run at a time; null: any number. */
  maxRunning: integer("max_running"),
  createdAt: integer("created_at").notNull(),
});

/** The digest of a credential changes when it is used after a change of the pepper. */
const redigested = {
  /** The operator's id, once it can no longer be read from the digest. */
  id: text("id"),
  /** Name of the pepper of the digest; null if the pepper has no name. */
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
  ...redigested,
});

export const nodeTokens = sqliteTable("node_tokens", {
  digest: text("digest").primaryKey(),
  name: text("name").notNull(),
  createdAt: integer("created_at").notNull(),
  revokedAt: integer("revoked_at"),
  ...redigested,
  /** The only pool that a node with this token is in. */
  pool: text("pool").notNull().default("default"),
  /** Labels of every node with this token: a JSON array of texts. */
  labels: text("labels").notNull().default("[]"),
});

/**
 * Idempotency keys of requests: a repeated request does not start a second job. WITHOUT ROWID (migration 0009), so that
 * a key is one row and not three; expired keys are found by reading the table in portions (expired-rows.ts).
 */
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
  (table) => [primaryKey({ columns: [table.accountId, table.key] })],
);

/** One row per job, which is written a few times; the job's object has the authoritative state. */
export const jobs = sqliteTable(
  "jobs",
  {
    id: text("id").primaryKey(),
    accountId: text("account_id").notNull(),
    status: text("status").notNull(),
    /** Prevents writes out of order. */
    version: integer("version").notNull(),
    createdAt: integer("created_at").notNull(),
    completedAt: integer("completed_at"),
    /** The job as clients see it, in JSON: the response for an ended job. */
    view: text("view").notNull(),
    /** When the sweeper checks the job's object; null once only this row is kept of the job. */
    checkAt: integer("check_at").default(0),
    /** What lists search in (views/search-text.ts); null for jobs from before migration 0006. */
    search: text("search"),
    /** What the job has used, once it has ended (usage.ts), and how much of that was added to its account's days. */
    usage: text("usage"),
    usageCounted: text("usage_counted"),
  },
  (table) => [
    // For lists of one status, for lists of all (merged), and for the number of unfinished jobs. `id` is in it so that
    // the next page starts with a search.
    index("jobs_by_status").on(table.accountId, table.status, table.createdAt, table.id),
    index("jobs_to_check").on(table.checkAt).where(sql`${table.checkAt} IS NOT NULL`),
  ],
);

/** What accounts have used by day, in the days of their jobs' ends (usage.ts). WITHOUT ROWID. */
export const usageDays = sqliteTable(
  "usage_days",
  {
    /** Since 1970, in UTC. Before the account, so that what all have used since a day is one range. */
    day: integer("day").notNull(),
    accountId: text("account_id").notNull(),
    completed: integer("completed").notNull(),
    failed: integer("failed").notNull(),
    aborted: integer("aborted").notNull(),
    audioMs: integer("audio_ms").notNull(),
    sdMs: integer("sd_ms").notNull(),
    hdMs: integer("hd_ms").notNull(),
    uhdMs: integer("uhd_ms").notNull(),
    nodeMs: integer("node_ms").notNull(),
    storedBytes: integer("stored_bytes").notNull(),
    lastedMs: integer("lasted_ms").notNull(),
  },
  (table) => [primaryKey({ columns: [table.day, table.accountId] })],
);

/** How far each search for expired rows has come in its table (expired-rows.ts). WITHOUT ROWID. */
export const sweepPositions = sqliteTable("sweep_positions", {
  /** The table. */
  name: text("name").primaryKey(),
  /** The last row that was read, in JSON; null: the search has reached the end. */
  position: text("position"),
  /** When the search began at the first row. */
  startedAt: integer("started_at").notNull(),
});

/** Files that clients upload, to be the sources of jobs. */
export const uploads = sqliteTable(
  "uploads",
  {
    id: text("id").primaryKey(),
    accountId: text("account_id").notNull(),
    /** The name of the file, as the client knows it. */
    name: text("name").notNull(),
    sizeBytes: integer("size_bytes").notNull(),
    partBytes: integer("part_bytes").notNull(),
    status: text("status").notNull(),
    /** Which of the service's own storages holds it. */
    store: text("store").notNull(),
    /** The storage's id of its multipart upload. */
    multipartId: text("multipart_id").notNull(),
    createdAt: integer("created_at").notNull(),
    /** When the sweeper removes it; later with each write, and while a job needs it. */
    expiresAt: integer("expires_at").notNull(),
    /** The newest jobs that read it: a JSON array of their ids. */
    jobs: text("jobs").notNull().default("[]"),
  },
  (table) => [
    index("uploads_by_account").on(table.accountId, table.createdAt, table.id),
    index("uploads_by_expiry").on(table.expiresAt),
  ],
);

/** The stored parts of uploads: R2's binding does not list them. WITHOUT ROWID. */
export const uploadParts = sqliteTable(
  "upload_parts",
  {
    uploadId: text("upload_id").notNull(),
    /** From 1. */
    number: integer("number").notNull(),
    sizeBytes: integer("size_bytes").notNull(),
    /** As the storage returned it. */
    etag: text("etag").notNull(),
  },
  (table) => [primaryKey({ columns: [table.uploadId, table.number] })],
);

/** One-time links to the dashboard, for a minute each. */
export const sessionLinks = sqliteTable("session_links", {
  /** SHA-256 of the link's secret, in hex. */
  digest: text("digest").primaryKey(),
  /** The session that it begins, sealed. */
  sealed: text("sealed").notNull(),
  expiresAt: integer("expires_at").notNull(),
});

/** Sessions that were signed out of, until they would have expired. */
export const endedSessions = sqliteTable("ended_sessions", {
  id: text("id").primaryKey(),
  expiresAt: integer("expires_at").notNull(),
});
