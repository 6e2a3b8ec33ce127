// API keys and node tokens. Only their digests are stored, so that a leaked database does not reveal them.
import { and, eq, gt, gte, inArray, isNull, lt, or, sql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/d1";
import type { SQLiteColumn } from "drizzle-orm/sqlite-core";
import * as z from "zod";
import { runBatch, runQuery } from "./run-query.ts";
import { accounts, apiKeys, ingestTokens, nodeTokens, uploadLinks, uploads } from "./schema.ts";

export type Account = typeof accounts.$inferSelect;

/** Restrictions of an API key. `scopes` null: all requests; `expiresAt` null: no end. */
export type KeyLimits = { readonly scopes: readonly string[] | null; readonly expiresAt: number | null };

/** A valid API key. `id`: its id for the operator, which stays the same when its digest changes. */
export type ValidKey = { readonly account: Account; readonly id: string; readonly digest: string } & KeyLimits;

/** The valid API key with one of these digests, and its account; null if no account has the key. */
export async function accountOfKey(db: D1Database, digests: readonly string[], now: number): Promise<ValidKey | null> {
  const { digest, id, scopes, expiresAt } = apiKeys;
  const [row] = await runQuery(
    drizzle(db)
      .select({ account: accounts, digest, id, scopes, expiresAt })
      .from(apiKeys)
      .innerJoin(accounts, eq(accounts.id, apiKeys.accountId))
      .where(and(inArray(digest, [...digests]), isNull(apiKeys.revokedAt), or(isNull(expiresAt), gt(expiresAt, now)))),
  );
  return row ? { ...row, id: idOf(row), scopes: readScopes(row.scopes) } : null;
}

/** The placement that a node token binds: the pool of its nodes, and the labels that all of them have. */
export type TokenPlacement = { readonly pool: string; readonly labels: readonly string[] };

/** The id and placement of a valid node token, and its stored digest; null if the token is unknown or revoked. */
export async function nodeTokenOf(
  db: D1Database,
  digests: readonly string[],
): Promise<({ id: string; digest: string } & TokenPlacement) | null> {
  const { digest, id, pool, labels } = nodeTokens;
  const mine = and(inArray(digest, [...digests]), isNull(nodeTokens.revokedAt));
  const row = (await runQuery(drizzle(db).select({ digest, id, pool, labels }).from(nodeTokens).where(mine)))[0];
  return row ? { id: idOf(row), digest: row.digest, pool: row.pool, labels: readLabels(row.labels) } : null;
}

const StoredTexts = z.array(z.string());
const readLabels = (stored: string): string[] => StoredTexts.parse(JSON.parse(stored));
const readScopes = (stored: string | null): string[] | null => (stored === null ? null : readLabels(stored));

/** Replaces a credential's digest by a digest of the newest pepper. Its id stays the same. */
export async function updateDigest(
  db: D1Database,
  table: typeof apiKeys | typeof nodeTokens,
  before: string,
  after: { digest: string; pepper: string | null },
): Promise<void> {
  const id = sql<string>`coalesce(${table.id}, ${credentialId(before)})`;
  await runQuery(
    drizzle(db)
      .update(table)
      .set({ ...after, id })
      .where(eq(table.digest, before)),
  );
}

/**
 * The length of a credential's id for the operator, in characters of its digest. It distinguishes thousands of
 * credentials, and reveals nothing.
 */
const ID_CHARS = 12;
export const credentialId = (digest: string): string => digest.slice(0, ID_CHARS);

/** A credential's id: the start of its first digest. */
const idOf = ({ id, digest }: { id: string | null; digest: string }): string => id ?? credentialId(digest);

/** A credential without its secret. `pepper` is the name of the pepper of its digest. */
export type CredentialView = { id: string; createdAt: number; revokedAt: number | null; pepper: string | null };

/** A new credential in its stored form. */
export type NewCredential = { digest: string; pepper: string | null };

/** Stores an account together with its first API key. */
export async function insertAccount(
  db: D1Database,
  account: typeof accounts.$inferInsert,
  key: NewCredential,
): Promise<void> {
  const client = drizzle(db);
  await runQuery(
    client.batch([
      client.insert(accounts).values(account),
      client.insert(apiKeys).values({ ...key, accountId: account.id, createdAt: account.createdAt }),
    ]),
  );
}

export async function insertKey(
  db: D1Database,
  { scopes, ...key }: NewCredential & KeyLimits & { accountId: string; createdAt: number },
): Promise<void> {
  const stored = scopes && JSON.stringify(scopes);
  await runQuery(
    drizzle(db)
      .insert(apiKeys)
      .values({ ...key, scopes: stored }),
  );
}

export async function listKeys(db: D1Database, accountId: string): Promise<(CredentialView & KeyLimits)[]> {
  const rows = await runQuery(
    drizzle(db).select().from(apiKeys).where(eq(apiKeys.accountId, accountId)).orderBy(apiKeys.createdAt),
  );
  return rows.map(({ createdAt, revokedAt, pepper, expiresAt, ...row }) => {
    return { id: idOf(row), createdAt, revokedAt, pepper, expiresAt, scopes: readScopes(row.scopes) };
  });
}

/**
 * Revokes an API key permanently, and with it the upload links and ingest tokens that it made. The sweeper removes the
 * unfinished files of the links. Returns false when no key has this id.
 */
export async function revokeKey(db: D1Database, id: string, now: number): Promise<boolean> {
  const key = sql`
    SELECT account_id, coalesce(id, substr(digest, 1, ${ID_CHARS})) FROM ${apiKeys} WHERE ${named(apiKeys, id)}`;
  const live = sql`(account_id, key_id) IN (${key}) AND status IN ('waiting', 'uploading')`;
  const [revoked] = await runBatch(db, [
    sql`UPDATE ${apiKeys} SET revoked_at = coalesce(revoked_at, ${now}) WHERE ${named(apiKeys, id)}`,
    sql`UPDATE ${uploads} SET expires_at = ${now} WHERE id IN (SELECT upload_id FROM ${uploadLinks} WHERE ${live})`,
    sql`UPDATE ${uploadLinks} SET status = 'revoked', ended_at = ${now}, is_announced = 1, sealed = NULL WHERE ${live}`,
    sql`DELETE FROM ${ingestTokens} WHERE (account_id, key_id) IN (${key})`,
  ]);
  return (revoked?.meta.changes ?? 0) > 0;
}

export async function insertNodeToken(
  db: D1Database,
  { labels, ...token }: NewCredential & TokenPlacement & { name: string; createdAt: number },
): Promise<void> {
  await runQuery(
    drizzle(db)
      .insert(nodeTokens)
      .values({ ...token, labels: JSON.stringify(labels) }),
  );
}

export async function listNodeTokens(db: D1Database): Promise<(CredentialView & TokenPlacement & { name: string })[]> {
  const rows = await runQuery(drizzle(db).select().from(nodeTokens).orderBy(nodeTokens.createdAt));
  return rows.map(({ name, createdAt, revokedAt, pepper, pool, labels, ...row }) => {
    return { id: idOf(row), name, pool, labels: readLabels(labels), createdAt, revokedAt, pepper };
  });
}

/** Revokes a node token permanently, and returns its pool; null when no token has this id. */
export async function revokeNodeToken(db: D1Database, id: string, now: number): Promise<string | null> {
  const revoked = drizzle(db)
    .update(nodeTokens)
    .set({ revokedAt: firstOf(nodeTokens.revokedAt, now) })
    .where(named(nodeTokens, id));
  return (await runQuery(revoked.returning({ pool: nodeTokens.pool })))[0]?.pool ?? null;
}

/** A repeated revocation keeps the time of the first revocation. */
const firstOf = (revokedAt: SQLiteColumn, now: number) => sql<number>`coalesce(${revokedAt}, ${now})`;

/**
 * Matches the credential with this id: by the id column, or by a range of the primary key. Ids are hexadecimal, so `g`
 * sorts after them.
 */
const named = ({ id, digest }: typeof apiKeys | typeof nodeTokens, wanted: string) =>
  or(eq(id, wanted), and(isNull(id), gte(digest, wanted), lt(digest, `${wanted}g`)));
