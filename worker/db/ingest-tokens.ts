// Tokens of URLs that receive events of buckets.
import { and, eq, gt, isNull, or, sql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/d1";
import type { Account } from "./credentials.ts";
import { runQuery } from "./run-query.ts";
import { accounts, ingestTokens } from "./schema.ts";

export type TokenRow = typeof ingestTokens.$inferSelect;

const tokensOf = (accountId: string, template: string) =>
  and(eq(ingestTokens.accountId, accountId), eq(ingestTokens.template, template));

/** Number of tokens of a template. */
export const MAX_TOKENS = 10;
const ID_CHARS = 16;

/** The id of a token for its owner: the start of its digest. */
export const tokenId = ({ digest }: Pick<TokenRow, "digest">): string => digest.slice(0, ID_CHARS);

/** Stores a token. Returns false if the template has too many. */
export async function insertToken(db: D1Database, row: TokenRow): Promise<boolean> {
  const { digest, accountId, template, createdAt, keyId, expiresAt } = row;
  const inserted = sql`
    INSERT INTO ${ingestTokens} (digest, account_id, template, created_at, key_id, expires_at)
    SELECT ${digest}, ${accountId}, ${template}, ${createdAt}, ${keyId}, ${expiresAt}
    WHERE (SELECT count(*) FROM ${ingestTokens} WHERE ${tokensOf(accountId, template)}) < ${MAX_TOKENS}`;
  return (await runQuery(drizzle(db).run(inserted))).meta.changes > 0;
}

export const listTokens = (db: D1Database, accountId: string, template: string): Promise<TokenRow[]> =>
  runQuery(
    drizzle(db).select().from(ingestTokens).where(tokensOf(accountId, template)).orderBy(ingestTokens.createdAt),
  );

/** Deletes the token with this id. Returns false if there is none. */
export async function deleteToken(db: D1Database, accountId: string, template: string, id: string): Promise<boolean> {
  const wanted = and(tokensOf(accountId, template), sql`substr(${ingestTokens.digest}, 1, ${ID_CHARS}) = ${id}`);
  return (await runQuery(drizzle(db).delete(ingestTokens).where(wanted).run())).meta.changes > 0;
}

/** The account, template and API key of a token; null if the token is unknown or has expired. */
export async function findToken(
  db: D1Database,
  digest: string,
): Promise<{ account: Account; template: string; keyId: string | null } | null> {
  const rows = drizzle(db)
    .select({ account: accounts, template: ingestTokens.template, keyId: ingestTokens.keyId })
    .from(ingestTokens)
    .innerJoin(accounts, eq(accounts.id, ingestTokens.accountId))
    .where(
      and(eq(ingestTokens.digest, digest), or(isNull(ingestTokens.expiresAt), gt(ingestTokens.expiresAt, Date.now()))),
    );
  return (await runQuery(rows))[0] ?? null;
}
