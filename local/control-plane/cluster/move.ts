// Moves the data of a service on one machine into a new cluster: workerd does not import databases into a bucket.
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { deserialize } from "node:v8";
import * as z from "zod";
import { D1_FOLDER } from "../../backup/databases.ts";
import type { WorkerOptions } from "../worker-options.ts";
import { classesOf } from "./workerd-config.ts";

/** The databases of Miniflare's objects: a folder for each class, a file for each object. */
const OBJECTS = join("control-plane", "v3", "do");
/** Alarms of the objects in a folder. */
const ALARMS = "metadata.sqlite";
/** A request has about this many characters. */
const BATCH_CHARS = 1_000_000;

const Entry = z.object({ key: z.string(), value: z.instanceof(Uint8Array) });
const Alarm = z.object({ actor_id: z.string(), scheduled_time: z.bigint() });
const Table = z.object({ type: z.string(), name: z.string(), sql: z.string() });

/** An object's entries, and the time of its alarm, in ms. */
type StoredObject = {
  readonly className: string;
  readonly id: string;
  readonly entries: readonly (readonly [key: string, value: unknown])[];
  readonly alarm: number | null;
};
type Statement = { readonly sql: string; readonly params: readonly unknown[] };

export const hasDataOfOneMachine = (home: string): boolean => existsSync(join(home, D1_FOLDER));

/** The Worker that writes what it receives. An alarm waits until the real Worker runs. */
export const writerOf = (worker: WorkerOptions): WorkerOptions => ({
  ...worker,
  cronTriggers: [],
  script: `import { DurableObject } from "cloudflare:workers";
class Written extends DurableObject {
  async write({ entries, alarm }) {
    const { storage } = this.ctx;
    storage.transactionSync(() => { for (const [key, value] of entries) storage.kv.put(key, value); });
    if (alarm !== null) await storage.setAlarm(alarm);
  }
  alarm() { return this.ctx.storage.setAlarm(Date.now() + 60_000); }
}
${classesOf(worker)
  .map(([, className]) => `export class ${className} extends Written {}`)
  .join("\n")}
const BINDINGS = ${JSON.stringify(Object.fromEntries(classesOf(worker).map(([binding, name]) => [name, binding])))};
export default {
  async fetch(request, env) {
    const { objects, statements } = await request.json();
    for (const object of objects) {
      const namespace = env[BINDINGS[object.className]];
      await namespace.get(namespace.idFromString(object.id)).write(object);
    }
    const prepared = statements.map(({ sql, params }) => env.DB.prepare(sql).bind(...params));
    if (prepared.length > 0) await env.DB.batch(prepared);
    return new Response();
  },
};`,
});

/** Sends all data to the writer at this origin. Returns the numbers of objects and of statements. Rejects on failure. */
export async function moveData(home: string, worker: WorkerOptions, origin: string): Promise<[number, number]> {
  const send = async (body: { objects: StoredObject[]; statements: Statement[] }): Promise<void> => {
    const response = await fetch(origin, { method: "POST", body: JSON.stringify(body) });
    if (!response.ok) throw new Error(`HTTP ${response.status} ${await response.text()}`);
  };
  let objects = 0;
  for (const object of objectsIn(join(home, OBJECTS), worker)) {
    await send({ objects: [object], statements: [] });
    objects++;
  }
  let batch: Statement[] = [];
  let chars = 0;
  let statements = 0;
  for (const statement of statementsIn(join(home, D1_FOLDER))) {
    batch.push(statement);
    statements++;
    chars += JSON.stringify(statement).length;
    if (chars < BATCH_CHARS) continue;
    await send({ objects: [], statements: batch });
    [batch, chars] = [[], 0];
  }
  await send({ objects: [], statements: batch });
  return [objects, statements];
}

const databasesIn = (folder: string): string[] =>
  existsSync(folder) ? readdirSync(folder).filter((file) => file.endsWith(".sqlite") && file !== ALARMS) : [];

function* objectsIn(folder: string, worker: WorkerOptions): Generator<StoredObject> {
  for (const [, className] of classesOf(worker)) {
    const ofClass = join(folder, `${worker.name}-${className}`);
    const files = databasesIn(ofClass);
    if (files.length === 0) continue;
    const known = rows(join(ofClass, ALARMS), "SELECT actor_id, scheduled_time FROM _cf_ALARM", Alarm);
    const alarms = new Map([...known].map((alarm) => [alarm.actor_id, Number(alarm.scheduled_time / 1_000_000n)]));
    for (const file of files) {
      const id = file.slice(0, -".sqlite".length);
      const path = join(ofClass, file);
      const hasEntries = tablesOf(path).some(({ name }) => name === "_cf_KV");
      const stored = hasEntries ? [...rows(path, "SELECT key, value FROM _cf_KV", Entry)] : [];
      const entries = stored.map(({ key, value }) => [key, deserialize(value)] as const);
      if (entries.length > 0) yield { className, id, entries, alarm: alarms.get(id) ?? null };
    }
  }
}

/** The statements that make the tables, their rows, and then the indexes and triggers. */
function* statementsIn(folder: string): Generator<Statement> {
  for (const file of databasesIn(folder)) {
    const path = join(folder, file);
    const parts = tablesOf(path).filter(({ name }) => !/^(_cf_|sqlite_)/.test(name));
    const statements = (isTable: boolean): Statement[] =>
      parts.filter(({ type }) => (type === "table") === isTable).map(({ sql }) => ({ sql, params: [] }));
    yield* statements(true);
    for (const { name } of parts.filter(({ type }) => type === "table")) {
      for (const row of rows(path, `SELECT * FROM "${name}"`, z.record(z.string(), z.unknown()))) {
        const columns = Object.keys(row).map((column) => `"${column}"`);
        const sql = `INSERT INTO "${name}" (${columns.join(", ")}) VALUES (${columns.map(() => "?").join(", ")})`;
        yield { sql, params: Object.values(row).map((value) => (typeof value === "bigint" ? Number(value) : value)) };
      }
    }
    yield* statements(false);
  }
}

const tablesOf = (path: string) => [
  ...rows(path, "SELECT type, name, sql FROM sqlite_master WHERE sql IS NOT NULL", Table),
];

function* rows<Row>(path: string, sql: string, row: z.ZodType<Row>): Generator<Row> {
  const database = new DatabaseSync(path);
  try {
    const statement = database.prepare(sql);
    statement.setReadBigInts(true);
    for (const values of statement.iterate()) yield row.parse({ ...values });
  } finally {
    database.close();
  }
}
