// One-time links to the dashboard.
import { eq, lt } from "drizzle-orm";
import { drizzle } from "drizzle-orm/d1";
import { runQuery } from "../../db/run-query.ts";
import { sessionLinks } from "../../db/schema.ts";

type SessionLink = typeof sessionLinks.$inferSelect;

/** Stores a link, and removes expired links. */
export async function storeLink(db: D1Database, link: SessionLink, now: number): Promise<void> {
  const client = drizzle(db);
  await runQuery(
    client.batch([
      client.delete(sessionLinks).where(lt(sessionLinks.expiresAt, now)),
      client.insert(sessionLinks).values(link),
    ]),
  );
}

export async function findLink(db: D1Database, digest: string): Promise<SessionLink | null> {
  const query = drizzle(db).select().from(sessionLinks).where(eq(sessionLinks.digest, digest));
  return (await runQuery(query))[0] ?? null;
}

/** Removes a link and returns it. Only the first of several callers gets it, the others get null. */
export async function takeLink(db: D1Database, digest: string): Promise<SessionLink | null> {
  const taken = drizzle(db).delete(sessionLinks).where(eq(sessionLinks.digest, digest)).returning();
  return (await runQuery(taken))[0] ?? null;
}
