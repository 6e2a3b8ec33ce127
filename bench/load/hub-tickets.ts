// Reads the hub's storage in the files of a control plane that has stopped.
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

/** Counts the hub's stored tickets in Miniflare's files, after workerd has closed them. */
export function countTickets(home: string): number {
  const folder = join(home, "control-plane", "v3", "do", "copra-NodeHub");
  const files = readdirSync(folder).filter((file) => file.endsWith(".sqlite") && file !== "metadata.sqlite");
  if (files.length === 0) throw new Error(`There is no storage of the hub in ${folder}`);
  return files.reduce((sum, file) => sum + countTicketsIn(join(folder, file)), 0);
}

function countTicketsIn(file: string): number {
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    // A hub without a table has stored nothing: it had a free slot for every ticket.
    const hasTable = database.prepare("SELECT 1 FROM sqlite_master WHERE name = '_cf_KV'").get();
    const counted =
      hasTable && database.prepare("SELECT count(*) AS tickets FROM _cf_KV WHERE key LIKE 'ticket:%'").get();
    return Number(counted?.tickets ?? 0);
  } finally {
    database.close();
  }
}
