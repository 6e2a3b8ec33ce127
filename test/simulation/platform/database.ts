// D1 on node:sqlite. Triggers count the written rows of each statement, including rows of indexes. Statements run in
// sequence, as in D1.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite";
import { endCaller, outside } from "./lives.ts";
import type { Meter } from "./meter.ts";
import type { Network } from "./network.ts";
import { countSubrequests } from "./subrequests.ts";
import type { VirtualTime } from "./virtual-time.ts";

export type DatabaseOptions = {
  readonly time: VirtualTime;
  readonly meter: Meter;
  readonly network: Network;
  /** Round-trip time between the caller and the database. */
  readonly tripMs: number;
  /** Time for which a statement occupies the database. */
  readonly statementMs: number;
  /** The folder with the migrations. */
  readonly migrations: string;
};

type Mode = "all" | "raw" | "run" | "first";
type Meta = {
  readonly changes: number;
  readonly rows_read: number;
  readonly rows_written: number;
  readonly duration: number;
};

/** Limits per statement (developers.cloudflare.com/d1/platform/limits/). */
const MAX_VALUES = 100;
const MAX_SQL_BYTES = 100_000;

/** The error of D1 when it loses its connection (developers.cloudflare.com/d1/observability/debug-d1/). */
const LOST = "D1_ERROR: Network connection lost.";

export class Database {
  readonly #sqlite = new DatabaseSync(":memory:");
  readonly #statements = new Map<string, StatementSync>();
  readonly #options: DatabaseOptions;
  #busyUntil = 0;
  #written = 0;
  /** No statement ends before this time; ms since 1970. */
  stalledUntil = 0;

  constructor(options: DatabaseOptions) {
    this.#options = options;
    const { migrations } = options;
    for (const file of readdirSync(migrations)
      .filter((name) => name.endsWith(".sql"))
      .toSorted()) {
      for (const sql of readFileSync(join(migrations, file), "utf8").split("--> statement-breakpoint")) {
        this.#sqlite.exec(sql);
      }
    }
    this.#sqlite.function("wrote", { deterministic: false }, (rows) => {
      this.#written += Number(rows);
      return null;
    });
    for (const trigger of countingTriggers(this.#sqlite)) this.#sqlite.exec(trigger);
  }

  /** Direct access, for preparations and checks of a run. */
  get sqlite(): DatabaseSync {
    return this.#sqlite;
  }

  prepare(sql: string): Statement {
    return new Statement(this, sql, []);
  }

  /** A binding to this database whose statements count for another meter. */
  countedBy(meter: Meter): object {
    return {
      prepare: (sql: string) => new Statement(this, sql, [], meter),
      batch: (statements: readonly Statement[]) => this.batch(statements),
    };
  }

  batch(statements: readonly Statement[]): Promise<unknown[]> {
    return this.#trip(statements.length, statements[0]?.meter, () => {
      this.#sqlite.exec("BEGIN");
      try {
        const results = statements.map((statement) => this.#run(statement, "all"));
        this.#sqlite.exec("COMMIT");
        return results;
      } catch (error) {
        this.#sqlite.exec("ROLLBACK");
        throw error;
      }
    });
  }

  exec(sql: string): Promise<void> {
    return this.#trip(1, undefined, () => this.#sqlite.exec(sql));
  }

  one(statement: Statement, mode: Mode): Promise<unknown> {
    return this.#trip(1, statement.meter, () => this.#run(statement, mode));
  }

  /** A round trip to the database. */
  #trip<Value>(statements: number, meter: Meter | undefined, work: () => Value): Promise<Value> {
    const { time, network, tripMs } = this.#options;
    countSubrequests("query", statements);
    return outside(async () => {
      const fate = network.fateOf("query");
      await this.#arrive(statements, meter);
      if (fate === "lost") throw new Error(LOST);
      const value = work();
      await time.sleep(network.delayMs(tripMs / 2));
      if (fate === "caller dies") endCaller();
      else if (fate !== "passes") throw new Error(LOST);
      return value;
    });
  }

  async #arrive(statements: number, meter = this.#options.meter): Promise<void> {
    const { time, network, tripMs, statementMs } = this.#options;
    meter.add("trips");
    await time.sleep(network.delayMs(tripMs / 2));
    this.#busyUntil = Math.max(this.#busyUntil, this.stalledUntil, time.now) + statements * statementMs;
    await time.sleep(this.#busyUntil - time.now);
  }

  #run({ sql, values, meter = this.#options.meter }: Statement, mode: Mode): unknown {
    if (values.length > MAX_VALUES) throw new Error("D1_ERROR: too many SQL variables: SQLITE_ERROR");
    if (sql.length > MAX_SQL_BYTES) throw new Error("D1_ERROR: statement too long: SQLITE_TOOBIG");
    const key = `${mode === "raw"} ${sql}`;
    const prepared = this.#statements.get(key) ?? this.#sqlite.prepare(sql);
    this.#statements.set(key, prepared);
    prepared.setReturnArrays(mode === "raw");
    this.#written = 0;
    const startedAt = process.hrtime.bigint();
    let rows: unknown[];
    try {
      rows = prepared.all(...(values as SQLInputValue[]));
    } catch (error) {
      throw new Error(`D1_ERROR: ${error instanceof Error ? error.message : error}: SQLITE_ERROR`);
    }
    const duration = Number(process.hrtime.bigint() - startedAt) / 1e6;
    const detail = sql.replaceAll(/\s+/g, " ").slice(0, 60);
    meter.add("queries", 1, detail);
    meter.add("databaseWritten", this.#written, detail);
    meter.add("databaseRead", Math.max(1, rows.length));
    meter.add("databaseMs", duration);
    if (mode === "raw") return rows;
    if (mode === "first") return rows[0] ?? null;
    const meta: Meta = {
      changes: this.#written > 0 ? 1 : 0,
      rows_read: rows.length,
      rows_written: this.#written,
      duration,
    };
    return { success: true, results: rows.map((row) => ({ ...(row as object) })), meta };
  }
}

/** A prepared statement with its values. */
export class Statement {
  readonly #database: Database;
  readonly sql: string;
  readonly values: readonly unknown[];
  readonly meter: Meter | undefined;

  constructor(database: Database, sql: string, values: readonly unknown[], meter?: Meter) {
    this.#database = database;
    this.sql = sql;
    this.values = values;
    this.meter = meter;
  }

  bind(...values: unknown[]): Statement {
    return new Statement(this.#database, this.sql, values, this.meter);
  }

  all = (): Promise<unknown> => this.#database.one(this, "all");
  run = (): Promise<unknown> => this.#database.one(this, "run");
  raw = (): Promise<unknown> => this.#database.one(this, "raw");
  async first(column?: string): Promise<unknown> {
    const row = (await this.#database.one(this, "first")) as Record<string, unknown> | null;
    return column === undefined || row === null ? row : row[column];
  }
}

type Index = { readonly columns: readonly string[]; readonly where: string | null };

/**
 * Triggers that report the written rows of each statement. Measured with Miniflare on 2026-11-22: an insert counts the
 * row, and an entry of each index with this row. An update counts the row, and entries of indexes on columns that the
 * statement names, even if their values stay. A deleted row counts once.
 */
function countingTriggers(sqlite: DatabaseSync): string[] {
  const tables = sqlite.prepare(
    "SELECT name, sql FROM sqlite_master WHERE type = 'table' AND name NOT GLOB 'sqlite_*'",
  );
  return tables.all().flatMap((table) => {
    const name = String(table.name);
    const indexes = indexesOf(sqlite, name, /WITHOUT\s+ROWID/i.test(String(table.sql)));
    const trigger = (title: string, event: string, rows: string): string =>
      `CREATE TEMP TRIGGER "${name}_${title}" AFTER ${event} ON main."${name}" BEGIN SELECT wrote(${rows}); END`;
    return [
      trigger("inserted", "INSERT", ["1", ...indexes.map(isIn)].join(" + ")),
      trigger("deleted", "DELETE", "1"),
      trigger("updated", "UPDATE", "1"),
      ...indexes.map((index, at) => trigger(`index_${at}`, `UPDATE OF ${columnsOf(index)}`, isIn(index))),
    ];
  });
}

function indexesOf(sqlite: DatabaseSync, table: string, isWithoutRowid: boolean): Index[] {
  const listed = sqlite.prepare(`PRAGMA index_list("${table}")`).all();
  return listed
    .filter(({ origin }) => !(isWithoutRowid && origin === "pk"))
    .map(({ name }) => {
      const info = sqlite.prepare(`PRAGMA index_info("${name}")`).all();
      const sql = sqlite.prepare("SELECT sql FROM sqlite_master WHERE name = ?").get(String(name))?.sql;
      const where = /\bWHERE\b(.*)$/is.exec(String(sql ?? ""))?.[1] ?? null;
      return { columns: info.map((column) => String(column.name)), where };
    });
}

/** A quoted column in the condition of a partial index. */
const COLUMN = /(?:["`]\w+["`]\.)?["`](\w+)["`]/g;

/** 1 if a new row is in an index, else 0, as SQL. */
const isIn = ({ where }: Index): string => (where === null ? "1" : `(${where.replaceAll(COLUMN, 'NEW."$1"')})`);

/** All columns that an index depends on. */
function columnsOf({ columns, where }: Index): string {
  const conditions = [...(where ?? "").matchAll(COLUMN)].map(([, column = ""]) => column);
  return [...new Set([...columns, ...conditions])].map((column) => `"${column}"`).join(", ");
}
