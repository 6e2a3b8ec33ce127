// Upload links: URLs with which browsers upload one file each.
import { and, asc, eq, lte, sql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/d1";
import { runBatch, runQuery } from "./run-query.ts";
import { uploadLinks, uploads } from "./schema.ts";
import { insertingUpload, type Uploaded, type UploadRow, uploadedBy } from "./uploads.ts";

export type UploadLinkRow = typeof uploadLinks.$inferSelect;

/** Stores a new link within the limits of its account. Beyond them it stores nothing and returns false. */
export async function insertLink(db: D1Database, row: UploadLinkRow, limits: Uploaded): Promise<boolean> {
  const inserted = sql`
    INSERT INTO ${uploadLinks} (id, account_id, status, name, tags, max_bytes, origins, origin, sealed, has_job, created_at,
      expires_at, is_announced, check_at)
    SELECT ${row.id}, ${row.accountId}, ${row.status}, ${row.name}, ${row.tags}, ${row.maxBytes}, ${row.origins}, ${row.origin},
      ${row.sealed}, ${row.hasJob ? 1 : 0}, ${row.createdAt}, ${row.expiresAt}, 0, ${row.checkAt}
    FROM (${uploadedBy(row.accountId)}) AS uploaded
    WHERE uploaded.count < ${limits.count} AND uploaded.bytes + ${row.maxBytes} <= ${limits.bytes}`;
  return (await runQuery(drizzle(db).run(inserted))).meta.changes > 0;
}

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

/** Links that the sweeper must look at, the longest due first. */
export const dueLinks = (db: D1Database, now: number, limit: number): Promise<UploadLinkRow[]> =>
  runQuery(
    drizzle(db)
      .select()
      .from(uploadLinks)
      .where(lte(uploadLinks.checkAt, now))
      .orderBy(asc(uploadLinks.checkAt))
      .limit(limit),
  );

export async function deleteLink(db: D1Database, id: string): Promise<void> {
  await runQuery(drizzle(db).delete(uploadLinks).where(eq(uploadLinks.id, id)).run());
}
