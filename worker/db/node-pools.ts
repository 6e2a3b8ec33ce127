// The pools that node tokens bind.
import { isNull } from "drizzle-orm";
import { drizzle } from "drizzle-orm/d1";
import { runQuery } from "./run-query.ts";
import { nodeTokens } from "./schema.ts";

/** The pools of tokens that are not revoked. */
export async function listPools(db: D1Database): Promise<string[]> {
  const { pool, revokedAt } = nodeTokens;
  const rows = await runQuery(drizzle(db).selectDistinct({ pool }).from(nodeTokens).where(isNull(revokedAt)));
  return rows.map((row) => row.pool);
}
