// Tables of D1: accounts, digests of credentials, and the index of jobs. Times in ms since 1970.
import { sql } from "drizzle-orm";
import { index, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";

export const accounts = sqliteTable("accounts", {
  id: text("id").primaryKey(),
  name: text("name").notNull(),
  /** Signs the account's notifications; sealed to `account:<id>`. */
  sealedWebhookSecret: text("sealed_webhook_secret").notNull(),
  /** The previous secret. It also signs, until `previousUntil`. */
  sealedPreviousSecret: text("sealed_previous_secret"),
  previousUntil: integer("previous_until"),
  /** Null: MAX_UNFINISHED_JOBS applies. */
  maxUnfinishedJobs: integer("max_unfinished_jobs"),
  /** The account's share of the nodes among waiting accounts: twice the weight gets twice the encoding time. */
  weight: integer("weight").notNull().default(1),
  /** Limit of tasks that run at the same time; null: no limit. */
  maxRunning: integer("max_running"),
  /** Priorities up to this one also count beside other accounts; null: only within the account. */
  maxPriority: integer("max_priority"),
  createdAt: integer("created_at").notNull(),
});

export const apiKeys = sqliteTable("api_keys", {
  /** SHA-256 of the key with its purpose, in hex. The operator's id of the key is the start of it. */
  digest: text("digest").primaryKey(),
  accountId: text("account_id")
    .notNull()
    .references(() => accounts.id),
  createdAt: integer("created_at").notNull(),
  revokedAt: integer("revoked_at"),
  /** The scopes of a restricted key: a JSON array; null: all requests are allowed. */
  scopes: text("scopes"),
  /** Null: the key does not expire. */
  expiresAt: integer("expires_at"),
  /** For people; empty: none. */
  name: text("name").notNull(),
  /** Up to an hour before the last use (noteUse); null: never used. */
  lastUsedAt: integer("last_used_at"),
});

export const nodeTokens = sqliteTable("node_tokens", {
  digest: text("digest").primaryKey(),
  name: text("name").notNull(),
  createdAt: integer("created_at").notNull(),
  revokedAt: integer("revoked_at"),
  /** The pool of all nodes with this token. */
  pool: text("pool").notNull().default("default"),
  /** Labels of every node with this token: a JSON array of texts. */
  labels: text("labels").notNull().default("[]"),
});

/** Pools in which jobs wait for a node, with a token or without. */
export const waitingPools = sqliteTable("waiting_pools", {
  name: text("name").primaryKey(),
  /** Jobs that still wait note their pool again before this time; ms since 1970. */
  until: integer("until").notNull(),
});

/**
 * Idempotency keys of requests: a repeated request does not start a second job. The table is WITHOUT ROWID (edited by
 * hand in migrations/), so that a key costs two rows and not three.
 */
export const idempotencyKeys = sqliteTable(
  "idempotency_keys",
  {
    accountId: text("account_id").notNull(),
    key: text("key").notNull(),
    /** HMAC-SHA-256 of the request's body with a sealing key, in hex. */
    bodyDigest: text("body_digest").notNull(),
    jobId: text("job_id").notNull(),
    createdAt: integer("created_at").notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.accountId, table.key] }),
    index("idempotency_keys_by_age").on(table.createdAt),
  ],
);

/** Jobs, one row each. A row is written a few times; the job's object has the authoritative state. */
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
    /** Time from the start of work to the end; null while the job runs, and in jobs from before this column. */
    tookMs: integer("took_ms"),
    /** The job as clients see it, in JSON. It is the response for an ended job. */
    view: text("view").notNull(),
    /** The time of the sweeper's next check of the job's object; null once only this row is kept of the job. */
    checkAt: integer("check_at").default(0),
    /** The text that lists search (views/search-text.ts); null for jobs from before migration 0006. */
    search: text("search"),
    /** The usage of an ended job, which was added to its account's days (usage.ts). */
    usage: text("usage"),
    /** A JSON object of names and values; null without tags. Triggers keep `job_tags` in step. */
    tags: text("tags"),
    /** The sender of the request that created the job (audit.ts): no index has them, so they cost no row. */
    createdBy: text("created_by"),
    createdFrom: text("created_from"),
  },
  (table) => [
    // For lists of one status, merged lists of all statuses, and the number of unfinished jobs. It contains `id`, so
    // that the next page starts with a search.
    index("jobs_by_status").on(table.accountId, table.status, table.createdAt, table.id),
    // For lists by end and by duration. Unfinished jobs cost no entry.
    index("jobs_by_end")
      .on(table.accountId, table.status, table.completedAt, table.id)
      .where(sql`${table.completedAt} IS NOT NULL`),
    index("jobs_by_duration")
      .on(table.accountId, table.status, table.tookMs, table.id)
      .where(sql`${table.tookMs} IS NOT NULL`),
    index("jobs_to_check").on(table.checkAt).where(sql`${table.checkAt} IS NOT NULL`),
    // For the deletion of old rows. A job gets its entry when only its row is kept.
    index("jobs_to_expire").on(table.completedAt).where(sql`${table.checkAt} IS NULL`),
  ],
);

/**
 * The tags of jobs, for lists. Triggers on the table of jobs are its only writers: a job with three tags costs three
 * rows, and a job without tags none. WITHOUT ROWID.
 */
export const jobTags = sqliteTable(
  "job_tags",
  {
    accountId: text("account_id").notNull(),
    name: text("name").notNull(),
    value: text("value").notNull(),
    /** The job's time and id are in the key, so that a list of a tag is a search in it. */
    createdAt: integer("created_at").notNull(),
    id: text("id").notNull(),
  },
  (table) => [primaryKey({ columns: [table.accountId, table.name, table.value, table.createdAt, table.id] })],
);

/** Sums of usage. */
const usageColumns = {
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
};

/** Usage of accounts per day, on the days when their jobs ended (usage.ts). WITHOUT ROWID. */
export const usageDays = sqliteTable(
  "usage_days",
  {
    /**
     * Days since 1970, in UTC. The first column of the key, so that the usage of all accounts since a day is a single
     * range.
     */
    day: integer("day").notNull(),
    accountId: text("account_id").notNull(),
    ...usageColumns,
  },
  (table) => [primaryKey({ columns: [table.day, table.accountId] })],
);

/** The same by the tags of jobs: up to 1,000 values of a name each day (tag-usage.ts). WITHOUT ROWID. */
export const usageTags = sqliteTable(
  "usage_tags",
  {
    day: integer("day").notNull(),
    accountId: text("account_id").notNull(),
    name: text("name").notNull(),
    value: text("value").notNull(),
    ...usageColumns,
  },
  (table) => [primaryKey({ columns: [table.day, table.accountId, table.name, table.value] })],
);

/** Files that clients upload as sources of jobs. */
export const uploads = sqliteTable(
  "uploads",
  {
    id: text("id").primaryKey(),
    accountId: text("account_id").notNull(),
    /** The client's name of the file. */
    name: text("name").notNull(),
    sizeBytes: integer("size_bytes").notNull(),
    partBytes: integer("part_bytes").notNull(),
    status: text("status").notNull(),
    /** The service's own storage that holds the upload. */
    store: text("store").notNull(),
    /** Id of the multipart upload in the storage. */
    multipartId: text("multipart_id").notNull(),
    createdAt: integer("created_at").notNull(),
    /** When the sweeper removes the upload. Each write, and each job that needs it, moves this time. */
    expiresAt: integer("expires_at").notNull(),
    /** The newest jobs that read the upload: a JSON array of their ids. */
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
    /** Counted from 1. */
    number: integer("number").notNull(),
    sizeBytes: integer("size_bytes").notNull(),
    /** The ETag that the storage returned. */
    etag: text("etag").notNull(),
  },
  (table) => [primaryKey({ columns: [table.uploadId, table.number] })],
);

/** Templates of jobs, a row for each version. */
export const templates = sqliteTable(
  "templates",
  {
    accountId: text("account_id").notNull(),
    name: text("name").notNull(),
    /** Counted from 1. */
    version: integer("version").notNull(),
    createdAt: integer("created_at").notNull(),
    /** Names in the body that lists show, in JSON (TemplateContents); null: a saved storage. */
    contents: text("contents"),
    /** The body of the request, sealed: it may have credentials. The last column, because it is long. */
    sealed: text("sealed").notNull(),
  },
  (table) => [primaryKey({ columns: [table.accountId, table.name, table.version] })],
);

/** Links with which browsers upload one file each. Times in ms since 1970. */
export const uploadLinks = sqliteTable(
  "upload_links",
  {
    id: text("id").primaryKey(),
    accountId: text("account_id").notNull(),
    status: text("status", { enum: ["waiting", "uploading", "completed", "expired", "revoked"] }).notNull(),
    name: text("name"),
    /** In JSON; null: none. */
    tags: text("tags"),
    maxBytes: integer("max_bytes").notNull(),
    /** A JSON array. */
    origins: text("origins").notNull(),
    /** The origin under which clients reach the service. */
    origin: text("origin").notNull(),
    /** The job's body and the receiver of events, sealed; null once the end of the link needs them no more. */
    sealed: text("sealed"),
    uploadId: text("upload_id"),
    jobId: text("job_id"),
    /** Why the job was refused: the error in JSON. */
    jobError: text("job_error"),
    createdAt: integer("created_at").notNull(),
    expiresAt: integer("expires_at").notNull(),
    endedAt: integer("ended_at"),
    /** True if the end needs no event, or has one. */
    isAnnounced: integer("is_announced", { mode: "boolean" }).notNull(),
    /** When the sweeper looks at the link. */
    checkAt: integer("check_at").notNull(),
    /** The id of the API key that made the link and ends with it; null: the operator made it. */
    keyId: text("key_id"),
    /** The origin of the last page that was refused. */
    refusedOrigin: text("refused_origin"),
  },
  (table) => [
    index("upload_links_by_account").on(table.accountId, table.createdAt, table.id),
    index("upload_links_waiting").on(table.accountId).where(sql`${table.status} = 'waiting'`),
    index("upload_links_by_check").on(table.checkAt),
  ],
);

/** Tokens of URLs that receive events of buckets, for a template. */
export const ingestTokens = sqliteTable(
  "ingest_tokens",
  {
    /** SHA-256 of the token, in hex. */
    digest: text("digest").primaryKey(),
    accountId: text("account_id").notNull(),
    /** The name of the template. */
    template: text("template").notNull(),
    createdAt: integer("created_at").notNull(),
    /** The id of the API key that made the token and ends with it; null: the operator made it. */
    keyId: text("key_id"),
    /** The end of that key; null: none. */
    expiresAt: integer("expires_at"),
  },
  (table) => [index("ingest_tokens_by_template").on(table.accountId, table.template)],
);

/** Who changed what (shared/api/audit.ts): an entry costs three rows. WITHOUT ROWID. */
export const audit = sqliteTable(
  "audit",
  {
    id: text("id").notNull(),
    createdAt: integer("created_at").notNull(),
    /** Null: the service itself. */
    accountId: text("account_id"),
    actor: text("actor").notNull(),
    ip: text("ip"),
    action: text("action").notNull(),
    object: text("object").notNull(),
    status: integer("status").notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.createdAt, table.id] }),
    index("audit_by_account").on(table.accountId, table.createdAt),
    index("audit_by_action").on(table.accountId, table.action, table.createdAt),
  ],
);

/** Rules of alerts. */
export const alerts = sqliteTable("alerts", {
  name: text("name").primaryKey(),
  /** The condition and the receiver, sealed to `alert:<name>`. */
  sealed: text("sealed").notNull(),
  /** Results of the last evaluation and the message on its way, in JSON. */
  state: text("state").notNull(),
});

/** Single-use links to the dashboard, valid for a minute. */
export const sessionLinks = sqliteTable("session_links", {
  /** SHA-256 of the link's secret, in hex. */
  digest: text("digest").primaryKey(),
  /** The session that the link starts, sealed. */
  sealed: text("sealed").notNull(),
  expiresAt: integer("expires_at").notNull(),
});

/** Sessions that users have ended, kept until they would have expired. */
export const endedSessions = sqliteTable("ended_sessions", {
  id: text("id").primaryKey(),
  expiresAt: integer("expires_at").notNull(),
});
