// Accounts, API keys and node tokens. Keys are stored as digests, so that a leaked database opens nothing.
import { and, eq, isNull } from "drizzle-orm";
import { drizzle } from "drizzle-orm/d1";
import { hex } from "../hex.ts";
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
  const rows = await drizzle(db)
    .select({ account: accounts })
    .from(apiKeys)
    .innerJoin(accounts, eq(accounts.id, apiKeys.accountId))
    .where(and(eq(apiKeys.digest, digest), isNull(apiKeys.revokedAt)));
  return rows[0]?.account ?? null;
}

export async function isNodeToken(db: D1Database, digest: string): Promise<boolean> {
  const rows = await drizzle(db)
    .select({ name: nodeTokens.name })
    .from(nodeTokens)
    .where(and(eq(nodeTokens.digest, digest), isNull(nodeTokens.revokedAt)));
  return rows.length > 0;
}

/** Writes an account together with its first API key. */
export async function insertAccount(db: D1Database, account: Account, keyDigest: string): Promise<void> {
  const client = drizzle(db);
  await client.batch([
    client.insert(accounts).values(account),
    client.insert(apiKeys).values({ digest: keyDigest, accountId: account.id, createdAt: account.createdAt }),
  ]);
}

export async function insertNodeToken(
  db: D1Database,
  token: { digest: string; name: string; createdAt: number },
): Promise<void> {
  await drizzle(db).insert(nodeTokens).values(token);
}
