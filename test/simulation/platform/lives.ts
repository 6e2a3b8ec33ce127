// The lives of objects in memory. Operations of an object belong to its life. They keep the object from hibernating,
// and have no effect after its death.
import { AsyncLocalStorage } from "node:async_hooks";

/** An object in memory, from its construction to its death. */
export class Life {
  readonly #begin: () => void;
  readonly #end: () => void;
  /** The object loses its memory. */
  readonly die: () => void;
  readonly #awaited = new Set<(error: Error) => void>();
  isOver = false;

  constructor(begin: () => void, end: () => void, die: () => void) {
    this.#begin = begin;
    this.#end = end;
    this.die = die;
  }

  /** Runs an event of the object. Rejects if the object dies meanwhile. */
  run<Value>(event: () => Value | Promise<Value>): Promise<Value> {
    return new Promise((resolve, reject) => {
      this.#awaited.add(reject);
      lives
        .run(this, async () => event())
        .then(resolve, reject)
        .finally(() => this.#awaited.delete(reject));
    });
  }

  /** Records a pending operation: the object cannot hibernate. */
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

/** The object whose code runs; undefined for code of the Worker, a node or the test. */
export const lives = new AsyncLocalStorage<Life>();

const never = new Promise<never>(() => undefined);

/** A request of the running code to other parts. Requests of a dead object are not sent, and it gets no answers. */
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

/** Ends the object whose code runs, if any. It gets no answer to its running request. */
export const endCaller = (): void => lives.getStore()?.die();

/** True if the running code belongs to a dead object. Its writes and messages are dropped. */
export const isDead = (): boolean => lives.getStore()?.isOver === true;
