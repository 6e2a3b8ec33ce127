// The lives of objects in memory. What an object has begun belongs to its life: it keeps the object from hibernating,
// and it has no effect any more once the object has died.
import { AsyncLocalStorage } from "node:async_hooks";

/** An object in memory, from its construction to its death. */
export class Life {
  readonly #begin: () => void;
  readonly #end: () => void;
  readonly #awaited = new Set<(error: Error) => void>();
  isOver = false;

  constructor(begin: () => void, end: () => void) {
    this.#begin = begin;
    this.#end = end;
  }

  /** Runs an event of the object. Rejects when the object dies meanwhile. */
  run<Value>(event: () => Value | Promise<Value>): Promise<Value> {
    return new Promise((resolve, reject) => {
      this.#awaited.add(reject);
      lives
        .run(this, async () => event())
        .then(resolve, reject)
        .finally(() => this.#awaited.delete(reject));
    });
  }

  /** Something is under way: the object cannot hibernate. */
  begin(): void {
    if (!this.isOver) this.#begin();
  }

  end(): void {
    if (!this.isOver) this.#end();
  }

  kill(): void {
    this.isOver = true;
    for (const reject of this.#awaited) reject(new Error("The Durable Object was reset"));
  }
}

/** Whose code runs; undefined: that of the Worker, of a node or of the test. */
export const lives = new AsyncLocalStorage<Life>();

const never = new Promise<never>(() => undefined);

/** A request of the running code to its outside. That of a dead object does not happen, and nobody gets its answer. */
export async function outside<Value>(request: () => Promise<Value>): Promise<Value> {
  const life = lives.getStore();
  if (!life) return request();
  if (life.isOver) return never;
  life.begin();
  try {
    const value = await request();
    return life.isOver ? await never : value;
  } catch (error) {
    return life.isOver ? await never : Promise.reject(error);
  } finally {
    life.end();
  }
}

/** True if the running code is that of a dead object: what it writes or sends is dropped. */
export const isDead = (): boolean => lives.getStore()?.isOver === true;
