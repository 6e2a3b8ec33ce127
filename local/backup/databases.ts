// Reads the SQLite files of a data folder while nothing has them open.
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { messageOf } from "#shared/log.ts";

/** The folder of the D1 database in a data folder. */
export const D1_FOLDER = join("control-plane", "v3", "d1", "miniflare-D1DatabaseObject");

/** The names of the migrations that the database of a data folder has; none if there is no database. */
export function appliedMigrations(folder: string): string[] {
  const d1 = join(folder, D1_FOLDER);
  if (!statSync(d1, { throwIfNoEntry: false })) return [];
  const files = readdirSync(d1).filter((name) => name.endsWith(".sqlite") && name !== "metadata.sqlite");
  return files.flatMap((name) =>
    withDatabase(join(d1, name), (database) => {
      const known = database.prepare("SELECT 1 FROM sqlite_master WHERE name = 'd1_migrations'").get();
      if (!known) return [];
      return database
        .prepare("SELECT name FROM d1_migrations ORDER BY id")
        .all()
        .map((row) => String(row.name));
    }),
  );
}

/** The databases among the files that are damaged, each with the reason. */
export function damagedDatabases(folder: string, files: readonly string[]): string[] {
  return files
    .filter((file) => file.endsWith(".sqlite"))
    .flatMap((file) => {
      const reason = damageOf(join(folder, file));
      return reason === null ? [] : [`${file}: ${reason}`];
    });
}

function damageOf(path: string): string | null {
  try {
    const [row] = withDatabase(path, (database) => database.prepare("PRAGMA quick_check(1)").all());
    const result = String(row?.quick_check);
    return result === "ok" ? null : result;
  } catch (error) {
    return messageOf(error);
  }
}

function withDatabase<Result>(path: string, read: (database: DatabaseSync) => Result): Result {
  const database = new DatabaseSync(path);
  try {
    return read(database);
  } finally {
    database.close();
  }
}
