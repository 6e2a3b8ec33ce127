// Accounts, API keys and node tokens. Keys are stored as digests, so that a leaked database opens nothing.
import { and, eq, gte, isNull, lt, sql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/d1";
import type { SQLiteColumn } from "drizzle-orm/sqlite-core";
import { hex } from "../hex.ts";
import { ask } from "./ask.ts";
import { accounts, apiKeys, nodeTokens } from "./schema.ts";

export type Account = typeof accounts.$inferSelect;

/** HMAC-SHA-256 of a key under the operator's pepper, in hex. Keys have full entropy, so that no slow hash is needed. */
export async function digestOf(key: string, pepper: string): Promise<string> {
  const encoder = new TextEncoder();
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  const secret = await crypto.subtle.importKey("raw", encoder.encode(pepper), algorithm, false, ["sign"]);
  return hex(await crypto.subtle.sign("HMAC", secret, encoder.encode(key)));
}

/** The account that an API key opens, or null. */
export async function accountOfKey(db: D1Database, digest: string): Promise<Account | null> {
  const rows = await ask(
    drizzle(db)
      .select({ account: accounts })
      .from(apiKeys)
      .innerJoin(accounts, eq(accounts.id, apiKeys.accountId))
      .where(and(eq(apiKeys.digest, digest), isNull(apiKeys.revokedAt))),
  );
  return rows[0]?.account ?? null;
}

/** Whether a digest is that of a node token that is not revoked. */
export async function opensToNodes(db: D1Database, digest: string): Promise<boolean> {
  const rows = await ask(
    drizzle(db)
      .select({ name: nodeTokens.name })
      .from(nodeTokens)
      .where(and(eq(nodeTokens.digest, digest), isNull(nodeTokens.revokedAt))),
  );
  return rows.length > 0;
}

/** Characters of a digest that name a credential to its operator: enough to tell thousands apart, of no use to anyone else. */
const ID_CHARS = 12;
export const credentialId = (digest: string): string => digest.slice(0, ID_CHARS);

/** A credential without its secret. */
export type CredentialView = { id: string; createdAt: number; revokedAt: number | null };

/** Writes an account together with its first API key. */
export async function insertAccount(db: D1Database, account: Account, keyDigest: string): Promise<void> {
  const client = drizzle(db);
  await ask(
    client.batch([
      client.insert(accounts).values(account),
      client.insert(apiKeys).values({ digest: keyDigest, accountId: account.id, createdAt: account.createdAt }),
    ]),
  );
}

export const listAccounts = (db: D1Database): Promise<{ id: string; name: string; createdAt: number }[]> =>
  ask(
    drizzle(db)
      .select({ id: accounts.id, name: accounts.name, createdAt: accounts.createdAt })
      .from(accounts)
      .orderBy(accounts.createdAt),
  );

export async function hasAccount(db: D1Database, id: string): Promise<boolean> {
  const rows = await ask(drizzle(db).select({ id: accounts.id }).from(accounts).where(eq(accounts.id, id)));
  return rows.length > 0;
}

export async function insertKey(db: D1Database, accountId: string, digest: string, now: number): Promise<void> {
  await ask(drizzle(db).insert(apiKeys).values({ digest, accountId, createdAt: now }));
}

export async function listKeys(db: D1Database, accountId: string): Promise<CredentialView[]> {
  const rows = await ask(
    drizzle(db).select().from(apiKeys).where(eq(apiKeys.accountId, accountId)).orderBy(apiKeys.createdAt),
  );
  return rows.map(({ digest, createdAt, revokedAt }) => ({ id: credentialId(digest), createdAt, revokedAt }));
}

/** Revokes an API key for good; false when there is none of this id. */
export async function revokeKey(db: D1Database, id: string, now: number): Promise<boolean> {
  const revoked = drizzle(db)
    .update(apiKeys)
    .set({ revokedAt: firstOf(apiKeys.revokedAt, now) })
    .where(startsWith(apiKeys.digest, id));
  return (await ask(revoked.returning({ digest: apiKeys.digest }))).length > 0;
}

export async function insertNodeToken(
  db: D1Database,
  token: { digest: string; name: string; createdAt: number },
): Promise<void> {
  await ask(drizzle(db).insert(nodeTokens).values(token));
}

export async function listNodeTokens(db: D1Database): Promise<(CredentialView & { name: string })[]> {
  const rows = await ask(drizzle(db).select().from(nodeTokens).orderBy(nodeTokens.createdAt));
  return rows.map(({ digest, name, createdAt, revokedAt }) => ({
    id: credentialId(digest),
    name,
    createdAt,
    revokedAt,
  }));
}

/** Revokes a node token for good; false when there is none of this id. */
export async function revokeNodeToken(db: D1Database, id: string, now: number): Promise<boolean> {
  const revoked = drizzle(db)
    .update(nodeTokens)
    .set({ revokedAt: firstOf(nodeTokens.revokedAt, now) })
    .where(startsWith(nodeTokens.digest, id));
  return (await ask(revoked.returning({ digest: nodeTokens.digest }))).length > 0;
}

/** What is revoked once more was revoked the first time. */
const firstOf = (revokedAt: SQLiteColumn, now: number) => sql<number>`coalesce(${revokedAt}, ${now})`;

/** Digests of one id: a range of the primary key. `id` is hexadecimal, so that `g` comes after all that follows it. */
const startsWith = (digest: SQLiteColumn, id: string) => and(gte(digest, id), lt(digest, `${id}g`));
