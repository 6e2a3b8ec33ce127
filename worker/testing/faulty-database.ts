// A database that fails in the ways D1 does, for tests: the real one, with faults on its calls.

/** `refuses`: an error and nothing done; `loses the answer`: done, and an error; `hangs`: nothing, ever. */
export type Fault = "refuses" | "loses the answer" | "hangs";

/** D1's own words (D1, "Debug D1": error list). */
const OVERLOADED = "D1_ERROR: D1 DB is overloaded. Requests queued for too long.";
const CONNECTION_LOST = "D1_ERROR: Network connection lost.";

const ASKING: ReadonlySet<string | symbol> = new Set(["run", "all", "raw", "first"]);

/** `faultOf` is asked at each call, which are counted from 1; a batch is one. */
export function faultyDatabase(db: D1Database, faultOf: (call: number) => Fault | null): D1Database {
  let calls = 0;
  const real = new WeakMap<object, D1PreparedStatement>();
  const call = async (ask: () => Promise<unknown>): Promise<unknown> => {
    calls += 1;
    const fault = faultOf(calls);
    if (fault === "hangs") return await new Promise(() => {});
    if (fault === "refuses") throw new Error(OVERLOADED);
    const answer = await ask();
    if (fault === "loses the answer") throw new Error(CONNECTION_LOST);
    return answer;
  };
  const wrap = (statement: D1PreparedStatement): D1PreparedStatement => {
    const wrapped = new Proxy(statement, {
      get(target, name) {
        if (name === "bind") return (...values: unknown[]) => wrap(target.bind(...values));
        const member = Reflect.get(target, name);
        return ASKING.has(name) ? (...args: unknown[]) => call(() => Reflect.apply(member, target, args)) : member;
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
