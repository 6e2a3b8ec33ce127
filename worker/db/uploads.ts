// Uploads of source files, and their parts.
import { and, asc, desc, eq, gt, lte, ne, type SQL, sql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/d1";
import { runBatch, runQuery } from "./run-query.ts";
import { jobs, uploadLinks, uploadParts, uploads } from "./schema.ts";

export type UploadRow = typeof uploads.$inferSelect;
export type PartRow = typeof uploadParts.$inferSelect;

/** The number of an account's uploads, and their total size. */
export type Uploaded = { readonly count: number; readonly bytes: number };

/**
 * All uploads that are not removed yet, and links that wait for a file of at most `max_bytes`. Their number is limited,
 * and so is the number of rows read.
 */
export const uploadedBy = (accountId: string) => sql`
  SELECT count(*) AS count, coalesce(sum(bytes), 0) AS bytes FROM (
    SELECT size_bytes AS bytes FROM ${uploads} WHERE account_id = ${accountId}
    UNION ALL SELECT max_bytes FROM ${uploadLinks} WHERE account_id = ${accountId} AND status = 'waiting')`;

export const countUploads = (db: D1Database, accountId: string): Promise<Uploaded> =>
  runQuery(drizzle(db).get<Uploaded>(uploadedBy(accountId)));

/** Stores a new upload within the limits of its account. Beyond them it stores nothing and returns false. */
export async function insertUpload(db: D1Database, row: UploadRow, limits: Uploaded): Promise<boolean> {
  const inserted = sql`
    ${insertingUpload(row)} FROM (${uploadedBy(row.accountId)}) AS uploaded
    WHERE uploaded.count < ${limits.count} AND uploaded.bytes + ${row.sizeBytes} <= ${limits.bytes}`;
  return (await runQuery(drizzle(db).run(inserted))).meta.changes > 0;
}

/** The start of an INSERT of an upload. The caller appends `FROM` or `WHERE` with its condition. */
export function insertingUpload(row: UploadRow): SQL {
  const { id, accountId, name, sizeBytes, partBytes, status, store, multipartId, createdAt, expiresAt } = row;
  return sql`
    INSERT INTO ${uploads}
      (id, account_id, name, size_bytes, part_bytes, status, store, multipart_id, created_at, expires_at, jobs)
    SELECT ${id}, ${accountId}, ${name}, ${sizeBytes}, ${partBytes}, ${status}, ${store}, ${multipartId}, ${createdAt},
      ${expiresAt}, ${row.jobs}`;
}

/** The account's uploads that have not expired and are not being removed. */
export const usable = (accountId: string, now: number) =>
  and(eq(uploads.accountId, accountId), gt(uploads.expiresAt, now), ne(uploads.status, "removing"));

/** The account's upload with this id, if it has not expired; else null. */
export async function findUpload(
  db: D1Database,
  accountId: string,
  id: string,
  now: number,
): Promise<UploadRow | null> {
  const mine = and(eq(uploads.id, id), usable(accountId, now));
  return (await runQuery(drizzle(db).select().from(uploads).where(mine)))[0] ?? null;
}

/** The account's uploads after a place, newest first, without expired uploads. */
export function listUploads(
  db: D1Database,
  accountId: string,
  { after, limit, now }: { after: { createdAt: number; id: string } | null; limit: number; now: number },
): Promise<UploadRow[]> {
  const older = after ? sql`(${uploads.createdAt}, ${uploads.id}) < (${after.createdAt}, ${after.id})` : undefined;
  const mine = and(usable(accountId, now), older);
  const order = [desc(uploads.createdAt), desc(uploads.id)];
  return runQuery(
    drizzle(db)
      .select()
      .from(uploads)
      .where(mine)
      .orderBy(...order)
      .limit(limit),
  );
}

/** The stored parts of an upload, by number. */
export const partsOf = (db: D1Database, uploadId: string): Promise<PartRow[]> =>
  runQuery(
    drizzle(db).select().from(uploadParts).where(eq(uploadParts.uploadId, uploadId)).orderBy(asc(uploadParts.number)),
  );

/** A part does not move the expiry by less than this: that would cost three more rows. */
const EXPIRY_STEP_MS = 10 * 60_000;

/**
 * Records a stored part, and that the upload is in use until `expiresAt`. Returns false and records nothing when the
 * upload was completed or removed meanwhile, or has another part size. The first part may set `partBytes`.
 */
export async function recordPart(
  db: D1Database,
  part: PartRow,
  { expiresAt, partBytes }: { readonly expiresAt: number; readonly partBytes: number },
): Promise<boolean> {
  const { uploadId, number, sizeBytes, etag } = part;
  const open = sql`SELECT 1 FROM ${uploads} WHERE id = ${uploadId} AND status = 'open' AND part_bytes = ${partBytes}`;
  const sized = sql`
    UPDATE ${uploads} SET part_bytes = ${partBytes} WHERE id = ${uploadId} AND part_bytes <> ${partBytes}
    AND NOT EXISTS (SELECT 1 FROM ${uploadParts} WHERE upload_id = ${uploadId})`;
  const stored = sql`
    INSERT INTO ${uploadParts} (upload_id, number, size_bytes, etag)
    SELECT ${uploadId}, ${number}, ${sizeBytes}, ${etag} WHERE EXISTS (${open})
    ON CONFLICT (upload_id, number) DO UPDATE SET size_bytes = excluded.size_bytes, etag = excluded.etag`;
  const used = sql`
    UPDATE ${uploads} SET expires_at = ${expiresAt}
    WHERE id = ${uploadId} AND status = 'open' AND expires_at < ${expiresAt - EXPIRY_STEP_MS}`;
  const [, inserted] = await runBatch(db, [sized, stored, used]);
  return (inserted?.meta.changes ?? 0) > 0;
}

/** Completes an upload. A repeated call changes nothing. */
export async function completeUpload(db: D1Database, id: string, expiresAt: number): Promise<void> {
  const open = and(eq(uploads.id, id), eq(uploads.status, "open"));
  await runQuery(drizzle(db).update(uploads).set({ status: "completed", expiresAt }).where(open));
}

/** An upload keeps the ids of this many jobs, the newest. */
const MAX_JOBS = 500;

/**
 * Records that a job reads a completed upload. The upload is kept until `expiresAt`, and longer while the job has not
 * ended. Returns false when the upload was removed.
 */
export async function holdUpload(
  db: D1Database,
  { id, jobId, expiresAt }: { id: string; jobId: string; expiresAt: number },
): Promise<boolean> {
  const others = sql`SELECT key, value FROM json_each(uploads.jobs) WHERE value <> ${jobId} ORDER BY key DESC LIMIT ${MAX_JOBS - 1}`;
  const list = sql`json_insert((SELECT json_group_array(value) FROM (SELECT value FROM (${others}) ORDER BY key)), '$[#]', ${jobId})`;
  const held = sql`
    UPDATE ${uploads} SET jobs = ${list}, expires_at = max(expires_at, ${expiresAt})
    WHERE id = ${id} AND status = 'completed'`;
  return (await runQuery(drizzle(db).run(held))).meta.changes > 0;
}

/**
 * True if a job that reads the upload has not ended. With `countUnknown`, jobs without a row count, too: they are being
 * created.
 */
export async function isHeld(
  db: D1Database,
  { jobs: ids }: Pick<UploadRow, "jobs">,
  countUnknown: boolean,
): Promise<boolean> {
  const unfinished = sql`
    SELECT 1 AS held FROM json_each(${ids}) AS holder LEFT JOIN ${jobs} AS job ON job.id = holder.value
    WHERE CASE WHEN job.id IS NULL THEN ${countUnknown ? 1 : 0} ELSE job.completed_at IS NULL END LIMIT 1`;
  return (await runQuery(drizzle(db).all(unfinished))).length > 0;
}

/** Expired uploads, the longest expired first. */
export const expiredUploads = (db: D1Database, now: number, limit: number): Promise<UploadRow[]> =>
  runQuery(
    drizzle(db).select().from(uploads).where(lte(uploads.expiresAt, now)).orderBy(asc(uploads.expiresAt)).limit(limit),
  );

type Changes = { readonly expiresAt: number; readonly status?: "removing" };

/** Changes an upload that nobody needs. Returns false if the upload was needed meanwhile, and changes nothing. */
export async function changeUnused(db: D1Database, unused: UploadRow, changes: Changes): Promise<boolean> {
  const { id, expiresAt, jobs: known } = unused;
  const unchanged = and(eq(uploads.id, id), eq(uploads.expiresAt, expiresAt), eq(uploads.jobs, known));
  return (await runQuery(drizzle(db).update(uploads).set(changes).where(unchanged).run())).meta.changes > 0;
}

/** Deletes an upload's rows, once the storage has nothing of it anymore. */
export async function deleteUpload(db: D1Database, id: string): Promise<void> {
  const client = drizzle(db);
  await runQuery(
    client.batch([
      client.delete(uploadParts).where(eq(uploadParts.uploadId, id)),
      client.delete(uploads).where(eq(uploads.id, id)),
    ]),
  );
}
