// The real database with injected faults, for tests. Calls fail as D1's calls fail.

/** `rejects`: an error, nothing is executed. `loses the response`: executed, then an error. `hangs`: never responds. */
export type Fault = "rejects" | "loses the response" | "hangs";

/** D1's messages (D1, "Debug D1": error list). */
const OVERLOADED = "D1_ERROR: D1 DB is overloaded. Requests queued for too long.";
const CONNECTION_LOST = "D1_ERROR: Network connection lost.";

const QUERYING: ReadonlySet<string | symbol> = new Set(["run", "all", "raw", "first"]);

/** `faultOf` returns the fault of each call. Calls are counted from 1; a batch is one call. */
export function faultyDatabase(db: D1Database, faultOf: (call: number) => Fault | null): D1Database {
  let calls = 0;
  const real = new WeakMap<object, D1PreparedStatement>();
  const call = async (query: () => Promise<unknown>): Promise<unknown> => {
    calls += 1;
    const fault = faultOf(calls);
    if (fault === "hangs") return await new Promise(() => {});
    if (fault === "rejects") throw new Error(OVERLOADED);
    const answer = await query();
    if (fault === "loses the response") throw new Error(CONNECTION_LOST);
    return answer;
  };
  const wrap = (statement: D1PreparedStatement): D1PreparedStatement => {
    const wrapped = new Proxy(statement, {
      get(target, name) {
        if (name === "bind") return (...values: unknown[]) => wrap(target.bind(...values));
        const member = Reflect.get(target, name);
        return QUERYING.has(name) ? (...args: unknown[]) => call(() => Reflect.apply(member, target, args)) : member;
      },
    });
    real.set(wrapped, statement);
    return wrapped;
  };
  return new Proxy(db, {
    get(target, name) {
      if (name === "prepare") return (query: string) => wrap(target.prepare(query));
      if (name === "batch") {
        return (statements: D1PreparedStatement[]) =>
          call(() => target.batch(statements.map((statement) => real.get(statement) ?? statement)));
      }
      const member = Reflect.get(target, name);
      return typeof member === "function" ? member.bind(target) : member;
    },
  });
}
