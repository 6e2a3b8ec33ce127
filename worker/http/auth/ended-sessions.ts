// Signed-out sessions: a copy of such a session's cookie gives no access.
import { eq, lt } from "drizzle-orm";
import { drizzle } from "drizzle-orm/d1";
import type { Session } from "../../crypto/session.ts";
import { runQuery } from "../../db/run-query.ts";
import { endedSessions } from "../../db/schema.ts";

/** Ends a session, and forgets ended sessions that have expired. */
export async function endSession(db: D1Database, { id, expiresAt }: Session, now: number): Promise<void> {
  const client = drizzle(db);
  await runQuery(
    client.batch([
      client.delete(endedSessions).where(lt(endedSessions.expiresAt, now)),
      client.insert(endedSessions).values({ id, expiresAt }).onConflictDoNothing(),
    ]),
  );
}

export async function isEnded(db: D1Database, { id }: Session): Promise<boolean> {
  const query = drizzle(db).select().from(endedSessions).where(eq(endedSessions.id, id));
  return (await runQuery(query)).length > 0;
}
