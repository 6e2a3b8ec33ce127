// Templates of jobs. Their bodies are sealed.
import { and, eq, sql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/d1";
import * as z from "zod";
import { runBatch, runQuery } from "./run-query.ts";
import { ingestTokens, templates } from "./schema.ts";

export type TemplateRow = typeof templates.$inferSelect;
type Summary = Omit<TemplateRow, "accountId" | "sealed">;

/** Saved storages are rows with such names, which templates cannot have. */
export const STORAGE_PREFIX = "storage/";
/** Number of an account's templates, of its saved storages, and of the versions that are kept of each template. */
export const MAX_TEMPLATES = 200;
const KEPT_VERSIONS = 20;

const named = (accountId: string, name: string) => and(eq(templates.accountId, accountId), eq(templates.name, name));

/** Condition of a write: the newest version must be this one; `any`: there must be one; `none`: there must be none. */
export type Precondition = number | "any" | "none" | null;

type Kind = "templates" | "storages";
const kindOf = (name: string): Kind => (name.startsWith(STORAGE_PREFIX) ? "storages" : "templates");
const isOfKind = (kind: Kind) => sql`(${templates.name} LIKE ${`${STORAGE_PREFIX}%`}) = ${Number(kind === "storages")}`;

const meets = (precondition: Precondition) => {
  if (precondition === null) return sql`1`;
  if (precondition === "none") return sql`max(version) IS NULL`;
  return precondition === "any" ? sql`max(version) IS NOT NULL` : sql`max(version) = ${precondition}`;
};

const Inserted = z.array(z.object({ version: z.int() }));

/**
 * Stores a new version, and deletes versions that are too old. Returns its number; null if the precondition does not
 * hold, or the account has too many templates.
 */
export async function insertTemplate(
  db: D1Database,
  { accountId, name, createdAt, contents, sealed }: Omit<TemplateRow, "version">,
  precondition: Precondition,
  keptVersions = KEPT_VERSIONS,
): Promise<number | null> {
  const mine = sql`account_id = ${accountId} AND name = ${name}`;
  const others = sql`
    SELECT count(DISTINCT name) FROM ${templates} WHERE account_id = ${accountId} AND ${isOfKind(kindOf(name))}`;
  const insert = sql`
    INSERT INTO ${templates} (account_id, name, version, created_at, contents, sealed)
    SELECT ${accountId}, ${name}, coalesce(max(version), 0) + 1, ${createdAt}, ${contents}, ${sealed}
    FROM ${templates} WHERE ${mine}
    HAVING ${meets(precondition)} AND (max(version) IS NOT NULL OR (${others}) < ${MAX_TEMPLATES})
    RETURNING version`;
  const prune = sql`
    DELETE FROM ${templates}
    WHERE ${mine} AND version <= (SELECT max(version) FROM ${templates} WHERE ${mine}) - ${keptVersions}`;
  const [inserted] = await runBatch(db, [insert, prune]);
  return Inserted.parse(inserted?.results)[0]?.version ?? null;
}

/** A version of a template, or the newest version; null if there is none. */
export async function findTemplate(
  db: D1Database,
  accountId: string,
  { name, version }: { readonly name: string; readonly version: number | null },
): Promise<TemplateRow | null> {
  const wanted = and(named(accountId, name), version === null ? undefined : eq(templates.version, version));
  const newest = drizzle(db).select().from(templates).where(wanted).orderBy(sql`version DESC`).limit(1);
  return (await runQuery(newest))[0] ?? null;
}

/** The kept versions of a template, newest first. */
export async function versionsOf(db: D1Database, accountId: string, name: string): Promise<number[]> {
  const { version } = templates;
  const versions = drizzle(db)
    .select({ version })
    .from(templates)
    .where(named(accountId, name))
    .orderBy(sql`version DESC`);
  return (await runQuery(versions)).map((row) => row.version);
}

/** The newest versions of the account's templates or saved storages, by name. */
export function listTemplates(db: D1Database, accountId: string, kind: Kind): Promise<Summary[]> {
  const { name, version, createdAt, contents } = templates;
  const newest = sql<number>`max(${version})`.as("version");
  return runQuery(
    // SQLite takes the other columns from the row with the maximum (SELECT, "Bare columns in an aggregate query").
    drizzle(db)
      .select({ name, version: newest, createdAt, contents })
      .from(templates)
      .where(and(eq(templates.accountId, accountId), isOfKind(kind)))
      .groupBy(name)
      .orderBy(name),
  );
}

/** Deletes all versions of a template. Returns false if the precondition does not hold. */
export async function deleteTemplate(
  db: D1Database,
  accountId: string,
  name: string,
  precondition: Precondition,
): Promise<boolean> {
  const holds = sql`(SELECT ${meets(precondition)} FROM ${templates} WHERE account_id = ${accountId} AND name = ${name})`;
  const deleted = drizzle(db)
    .delete(templates)
    .where(and(named(accountId, name), holds));
  const none = sql`NOT EXISTS (SELECT 1 FROM ${templates} WHERE account_id = ${accountId} AND name = ${name})`;
  const tokens = drizzle(db)
    .delete(ingestTokens)
    .where(and(tokensOf(accountId, name), none));
  const [result] = await runBatch(db, [deleted.getSQL(), tokens.getSQL()]);
  return (result?.meta.changes ?? 0) > 0;
}

const tokensOf = (accountId: string, template: string) =>
  and(eq(ingestTokens.accountId, accountId), eq(ingestTokens.template, template));

/** Versions in the order in which they were stored, after a row. */
export function templatesAfter(db: D1Database, row: number, limit: number): Promise<(TemplateRow & { row: number })[]> {
  const after = sql`
    SELECT rowid AS "row", account_id AS "accountId", name, version, created_at AS "createdAt", sealed
    FROM ${templates} WHERE rowid > ${row} ORDER BY rowid LIMIT ${limit}`;
  return runQuery(drizzle(db).all(after));
}

/** Replaces the sealed body of a version, unless it has changed meanwhile. */
export async function replaceSealed(db: D1Database, row: TemplateRow, sealed: string): Promise<void> {
  const same = and(
    named(row.accountId, row.name),
    eq(templates.version, row.version),
    eq(templates.sealed, row.sealed),
  );
  await runQuery(drizzle(db).update(templates).set({ sealed }).where(same));
}
