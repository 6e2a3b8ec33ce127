// The databases of a fake account, on SQLite.
import { randomUUID } from "node:crypto";
import { DatabaseSync } from "node:sqlite";
import * as z from "zod";

/** A response of the API: its result, or an error with Cloudflare's code. */
export type Reply = {
  readonly status?: number;
  readonly result?: unknown;
  readonly code?: number;
  readonly message?: string;
};
/** A request to the API; `path` is relative to the account. */
export type Call = { readonly method: string; readonly path: string; body(): Promise<Buffer> };

export const refuse = (status: number, code: number, message: string): Reply => ({ status, code, message });

export class FakeDatabases {
  /** Databases by id. */
  readonly all = new Map<string, { readonly name: string; readonly data: DatabaseSync }>();
  readonly #changes: string[];

  constructor(changes: string[]) {
    this.#changes = changes;
  }

  /** Responds to a request; null: the request is not about databases. */
  async answer({ method, path, body }: Call): Promise<Reply | null> {
    if (!path.startsWith("/d1/database")) return null;
    const [, id, verb] = /^\/d1\/database(?:\/([^/]+))?(?:\/(.+))?$/.exec(path) ?? [];
    if (id === undefined) return method === "POST" ? this.#create(String(await body())) : this.#list();
    const database = this.all.get(id) ?? [...this.all.values()].find(({ name }) => name === id);
    if (!database) return refuse(404, 7404, `The database ${id} could not be found`);
    if (verb === undefined)
      return { result: { uuid: this.#idOf(database.name), name: database.name, version: "production", num_tables: 1 } };
    if (verb !== "query") return null;
    const { sql } = z.object({ sql: z.string() }).parse(JSON.parse(String(await body())));
    return this.#query(database.data, sql);
  }

  #idOf(name: string): string {
    return [...this.all].find(([, database]) => database.name === name)?.[0] ?? "";
  }

  #create(body: string): Reply {
    const { name } = z.object({ name: z.string() }).parse(JSON.parse(body));
    if ([...this.all.values()].some((database) => database.name === name)) {
      return refuse(400, 7502, "A database with that name already exists");
    }
    const uuid = randomUUID();
    this.all.set(uuid, { name, data: new DatabaseSync(":memory:") });
    this.#changes.push(`create database ${name}`);
    return { result: { uuid, name, version: "production", created_at: new Date().toISOString() } };
  }

  #list(): Reply {
    return { result: [...this.all].map(([uuid, { name }]) => ({ uuid, name, version: "production" })) };
  }

  #query(data: DatabaseSync, sql: string): Reply {
    const [, migration] = /INSERT (?:OR IGNORE )?INTO "?d1_migrations"? \(name\)\s+values \('([^']+)'/i.exec(sql) ?? [];
    try {
      const isQuery = /^\s*(SELECT|PRAGMA)/i.test(sql);
      const results = isQuery ? data.prepare(sql).all() : [];
      if (!isQuery) data.exec(sql);
      if (migration !== undefined) this.#changes.push(`migrate ${migration}`);
      return { result: [{ results, success: true, meta: { duration: 1 } }] };
    } catch (error) {
      return refuse(400, 7500, error instanceof Error ? error.message : String(error));
    }
  }
}
