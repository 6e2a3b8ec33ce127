// The unfinished probes of an account: they have no rows that can be counted.
import * as z from "zod";

const PREFIX = "probe:";
/** A probe whose end was not reported ends by its own limits: 10 minutes until its start, then 30 minutes. */
const LIFE_MS = 45 * 60_000;

export class RunningProbes {
  readonly #kv: SyncKvStorage;
  /** Times when the probes have ended at the latest; ms since 1970. */
  readonly #endsBy = new Map<string, number>();

  constructor(kv: SyncKvStorage) {
    this.#kv = kv;
    for (const [key, value] of kv.list({ prefix: PREFIX })) this.#endsBy.set(key, z.number().catch(0).parse(value));
  }

  count(now: number): number {
    for (const [key, endsBy] of this.#endsBy) if (endsBy <= now) this.#remove(key);
    return this.#endsBy.size;
  }

  started(id: string, now: number): void {
    this.#endsBy.set(`${PREFIX}${id}`, now + LIFE_MS);
    this.#kv.put(`${PREFIX}${id}`, now + LIFE_MS);
  }

  ended(id: string): void {
    this.#remove(`${PREFIX}${id}`);
  }

  #remove(key: string): void {
    if (this.#endsBy.delete(key)) this.#kv.delete(key);
  }
}
