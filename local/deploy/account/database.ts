// The service's database at Cloudflare. It is migrated before new code runs.
import { readdirSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod";
import { ROOT } from "../../home/constants.ts";
import type { CloudflareApi } from "./cloudflare-api.ts";

const Rows = z.array(z.object({ results: z.array(z.object({ name: z.string() })) }));
const Bookmark = z.object({ bookmark: z.string() });

/**
 * The migrations of the repository that a database lacks. `path`: the database's path in the API; null: no database
 * yet.
 */
export async function pendingMigrations(api: CloudflareApi | null, path: string | null): Promise<string[]> {
  const files = readdirSync(join(ROOT, "migrations"))
    .filter((name) => name.endsWith(".sql"))
    .sort();
  if (api === null || path === null) return files;
  const query = async (sql: string): Promise<string[]> =>
    (await api.request(`${path}/query`, Rows, { sql })).flatMap(({ results }) => results.map(({ name }) => name));
  const tables = await query("SELECT name FROM sqlite_master WHERE name = 'd1_migrations'");
  if (tables.length === 0) return files;
  const applied = new Set(await query("SELECT name FROM d1_migrations"));
  return files.filter((name) => !applied.has(name));
}

/** A point in time that `wrangler d1 time-travel restore` can restore; null if Cloudflare returns none. */
export const bookmarkOf = async (api: CloudflareApi, path: string): Promise<string | null> =>
  await api.request(`${path}/time_travel/bookmark`, Bookmark).then(
    ({ bookmark }) => bookmark,
    // A missing bookmark does not stop a migration.
    () => null,
  );
