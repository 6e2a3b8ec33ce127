// API keys and node tokens. Only their digests are stored, so that a leaked database does not reveal them.
import { and, eq, gt, gte, isNull, lt, lte, or, sql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/d1";
import type { SQLiteColumn } from "drizzle-orm/sqlite-core";
import * as z from "zod";
import { runBatch, runQuery } from "./run-query.ts";
import { accounts, apiKeys, ingestTokens, nodeTokens, uploadLinks, uploads } from "./schema.ts";

export type Account = typeof accounts.$inferSelect;

/** Restrictions of an API key. `scopes` null: all requests; `expiresAt` null: no end. */
export type KeyLimits = { readonly scopes: readonly string[] | null; readonly expiresAt: number | null };
export type KeyDetails = KeyLimits & { readonly name: string; readonly lastUsedAt: number | null };

/** A valid API key. `id`: its id for the operator. */
export type ValidKey = { readonly account: Account; readonly id: string; readonly digest: string } & KeyDetails;

/** The valid API key with this digest, and its account; null if no account has the key. */
export async function accountOfKey(db: D1Database, digest: string, now: number): Promise<ValidKey | null> {
  const { expiresAt } = apiKeys;
  const [row] = await runQuery(
    drizzle(db)
      .select({ account: accounts, key: apiKeys })
      .from(apiKeys)
      .innerJoin(accounts, eq(accounts.id, apiKeys.accountId))
      .where(and(eq(apiKeys.digest, digest), isNull(apiKeys.revokedAt), or(isNull(expiresAt), gt(expiresAt, now)))),
  );
  return row
    ? { ...row.key, account: row.account, id: credentialId(digest), scopes: readScopes(row.key.scopes) }
    : null;
}

/** The interval between two writes of a key's last use: a row an hour, however many requests a client sends. */
const USE_INTERVAL_MS = 3_600_000;

/** Writes the last use of a key, unless another request wrote it within the interval. */
export async function noteUse(db: D1Database, { digest, lastUsedAt }: ValidKey, now: number): Promise<void> {
  const before = now - USE_INTERVAL_MS;
  if (lastUsedAt !== null && lastUsedAt > before) return;
  const isDue = or(isNull(apiKeys.lastUsedAt), lte(apiKeys.lastUsedAt, before));
  const noted = drizzle(db).update(apiKeys).set({ lastUsedAt: now });
  await runQuery(noted.where(and(eq(apiKeys.digest, digest), isDue)));
}

/** The placement that a node token binds: the pool of its nodes, and the labels that all of them have. */
export type TokenPlacement = { readonly pool: string; readonly labels: readonly string[] };

/** The id and placement of the valid node token with this digest; null if the token is unknown or revoked. */
export async function nodeTokenOf(db: D1Database, digest: string): Promise<({ id: string } & TokenPlacement) | null> {
  const { pool, labels } = nodeTokens;
  const mine = and(eq(nodeTokens.digest, digest), isNull(nodeTokens.revokedAt));
  const row = (await runQuery(drizzle(db).select({ pool, labels }).from(nodeTokens).where(mine)))[0];
  return row ? { id: credentialId(digest), pool: row.pool, labels: readLabels(row.labels) } : null;
}

const StoredTexts = z.array(z.string());
const readLabels = (stored: string): string[] => StoredTexts.parse(JSON.parse(stored));
const readScopes = (stored: string | null): string[] | null => (stored === null ? null : readLabels(stored));

/**
 * The length of a credential's id for the operator, in characters of its digest. It distinguishes thousands of
 * credentials, and reveals nothing.
 */
const ID_CHARS = 12;
export const credentialId = (digest: string): string => digest.slice(0, ID_CHARS);

/** A credential without its secret. */
export type CredentialView = { id: string; createdAt: number; revokedAt: number | null };

/** Stores an account together with its first API key. */
export async function insertAccount(
  db: D1Database,
  account: typeof accounts.$inferInsert,
  digest: string,
): Promise<void> {
  const client = drizzle(db);
  await runQuery(
    client.batch([
      client.insert(accounts).values(account),
      client.insert(apiKeys).values({ digest, accountId: account.id, createdAt: account.createdAt, name: "" }),
    ]),
  );
}

export async function insertKey(
  db: D1Database,
  { scopes, ...key }: KeyDetails & { digest: string; accountId: string; createdAt: number },
): Promise<void> {
  const stored = scopes && JSON.stringify(scopes);
  await runQuery(
    drizzle(db)
      .insert(apiKeys)
      .values({ ...key, scopes: stored }),
  );
}

export async function listKeys(db: D1Database, accountId: string): Promise<(CredentialView & KeyDetails)[]> {
  const rows = await runQuery(
    drizzle(db).select().from(apiKeys).where(eq(apiKeys.accountId, accountId)).orderBy(apiKeys.createdAt),
  );
  return rows.map(({ digest, scopes, ...row }) => ({ ...row, id: credentialId(digest), scopes: readScopes(scopes) }));
}

/**
 * Revokes an API key permanently, and with it the upload links and ingest tokens that it made. The sweeper removes the
 * unfinished files of the links. Returns false when no key has this id.
 */
export async function revokeKey(db: D1Database, id: string, now: number): Promise<boolean> {
  const key = sql`
    SELECT account_id, substr(digest, 1, ${ID_CHARS}) FROM ${apiKeys} WHERE ${named(apiKeys, id)}`;
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
  { labels, ...token }: TokenPlacement & { digest: string; name: string; createdAt: number },
): Promise<void> {
  await runQuery(
    drizzle(db)
      .insert(nodeTokens)
      .values({ ...token, labels: JSON.stringify(labels) }),
  );
}

export async function listNodeTokens(db: D1Database): Promise<(CredentialView & TokenPlacement & { name: string })[]> {
  const rows = await runQuery(drizzle(db).select().from(nodeTokens).orderBy(nodeTokens.createdAt));
  return rows.map(({ digest, name, createdAt, revokedAt, pool, labels }) => {
    return { id: credentialId(digest), name, pool, labels: readLabels(labels), createdAt, revokedAt };
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

/** Matches the credential with this id by a range of the primary key. Ids are hexadecimal, so `g` sorts after them. */
const named = ({ digest }: typeof apiKeys | typeof nodeTokens, id: string) =>
  and(gte(digest, id), lt(digest, `${id}g`));
