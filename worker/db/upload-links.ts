// Upload links: URLs with which browsers upload one file each.
import { and, desc, eq, getTableColumns, type SQL, sql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/d1";
import { runBatch, runQuery } from "./run-query.ts";
import { uploadLinks, uploads } from "./schema.ts";
import { insertingUpload, type Uploaded, type UploadRow, uploadedBy, usable } from "./uploads.ts";

export type UploadLinkRow = typeof uploadLinks.$inferSelect;

/** Number of an account's links that are kept after their end, beside live links. */
export const MAX_KEPT_LINKS = 5000;

/**
 * Stores a new link within the limits of its account, and deletes ended links beyond the newest. Beyond the limits it
 * stores nothing and returns false.
 */
export async function insertLink(db: D1Database, row: UploadLinkRow, limits: Uploaded): Promise<boolean> {
  const inserted = sql`
    INSERT INTO ${uploadLinks} (id, account_id, status, name, tags, max_bytes, origins, origin, sealed, created_at,
      expires_at, is_announced, check_at, key_id)
    SELECT ${row.id}, ${row.accountId}, ${row.status}, ${row.name}, ${row.tags}, ${row.maxBytes}, ${row.origins}, ${row.origin},
      ${row.sealed}, ${row.createdAt}, ${row.expiresAt}, 0, ${row.checkAt}, ${row.keyId}
    FROM (${uploadedBy(row.accountId)}) AS uploaded
    WHERE uploaded.count < ${limits.count} AND uploaded.bytes + ${row.maxBytes} <= ${limits.bytes}`;
  const [stored] = await runBatch(db, [inserted, deletingOldest(row.accountId)]);
  return (stored?.meta.changes ?? 0) > 0;
}

const deletingOldest = (accountId: string): SQL => sql`
  DELETE FROM ${uploadLinks} WHERE account_id = ${accountId} AND sealed IS NULL AND created_at < (
    SELECT created_at FROM ${uploadLinks} WHERE account_id = ${accountId}
    ORDER BY created_at DESC LIMIT 1 OFFSET ${MAX_KEPT_LINKS})`;

export const findLink = async (db: D1Database, id: string): Promise<UploadLinkRow | null> =>
  (await runQuery(drizzle(db).select().from(uploadLinks).where(eq(uploadLinks.id, id))))[0] ?? null;

/** Stores the upload of a link that waits for a file. Returns false and stores nothing if the link has a file. */
export async function startLinkUpload(db: D1Database, linkId: string, upload: UploadRow): Promise<boolean> {
  const waiting = sql`SELECT 1 FROM ${uploadLinks} WHERE id = ${linkId} AND status = 'waiting'`;
  const stored = sql`${insertingUpload(upload)} WHERE EXISTS (${waiting})`;
  const linked = sql`
    UPDATE ${uploadLinks} SET status = 'uploading', upload_id = ${upload.id}
    WHERE id = ${linkId} AND status = 'waiting' AND EXISTS (SELECT 1 FROM ${uploads} WHERE id = ${upload.id})`;
  const [inserted] = await runBatch(db, [stored, linked]);
  return (inserted?.meta.changes ?? 0) > 0;
}

/** Changes a link that still has the status of `link`. Returns false if the status has changed. */
export async function changeLink(
  db: D1Database,
  { id, status, uploadId }: UploadLinkRow,
  changes: Partial<Omit<UploadLinkRow, "id">>,
): Promise<boolean> {
  const sameUpload = uploadId === null ? undefined : eq(uploadLinks.uploadId, uploadId);
  const same = and(eq(uploadLinks.id, id), eq(uploadLinks.status, status), sameUpload);
  return (await runQuery(drizzle(db).update(uploadLinks).set(changes).where(same).run())).meta.changes > 0;
}

/**
 * Links that the sweeper must look at, the longest due first. All accounts have equal shares: each account's first link
 * is before each account's second link.
 */
export function dueLinks(db: D1Database, now: number, limit: number): Promise<UploadLinkRow[]> {
  const turns = sql`
    SELECT id FROM (
      SELECT id, check_at, row_number() OVER (PARTITION BY account_id ORDER BY check_at) AS turn
      FROM ${uploadLinks} WHERE check_at <= ${now})
    ORDER BY turn, check_at LIMIT ${limit}`;
  return runQuery(drizzle(db).select().from(uploadLinks).where(sql`${uploadLinks.id} IN (${turns})`));
}

/** Links that a call deletes, at most. */
const MAX_DELETED = 1000;

/** Deletes links that ended before this time. */
export async function deleteEnded(db: D1Database, before: number): Promise<void> {
  const ended = sql`
    SELECT id FROM ${uploadLinks} WHERE check_at <= ${Date.now()} AND ended_at <= ${before} LIMIT ${MAX_DELETED}`;
  await runQuery(drizzle(db).run(sql`DELETE FROM ${uploadLinks} WHERE id IN (${ended})`));
}

type Page = { readonly after: { createdAt: number; id: string } | null; readonly limit: number; readonly now: number };

/** The account's links after a place with their uploads, newest first. */
export function listLinks(
  db: D1Database,
  accountId: string,
  { after, limit, now }: Page,
): Promise<(UploadLinkRow & { upload: UploadRow | null })[]> {
  const { createdAt, id } = uploadLinks;
  const older = after ? sql`(${createdAt}, ${id}) < (${after.createdAt}, ${after.id})` : undefined;
  const listed = drizzle(db)
    .select({ ...getTableColumns(uploadLinks), upload: uploads })
    .from(uploadLinks)
    .leftJoin(uploads, and(eq(uploads.id, uploadLinks.uploadId), usable(accountId, now)))
    .where(and(eq(uploadLinks.accountId, accountId), older))
    .orderBy(desc(createdAt), desc(id))
    .limit(limit);
  return runQuery(listed);
}
