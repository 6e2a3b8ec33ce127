// The storage of a Durable Object: entries, and the time of its alarm. Counts every write.
import { serialize } from "node:v8";
import { isDead } from "./lives.ts";
import type { Meter } from "./meter.ts";

/** The limit of an entry (developers.cloudflare.com/durable-objects/platform/limits/). */
const MAX_ENTRY_BYTES = 2 * 2 ** 20;

type Listing = { prefix?: string; start?: string; end?: string; limit?: number; reverse?: boolean };

export type AlarmClock = { readonly set: (at: number) => void; readonly clear: () => void };

/** Options of a storage, besides its entries. */
export type StorageOptions = {
  readonly meter: Meter;
  /** The class of the object, which names its writes in the details. */
  readonly className: string;
  readonly clock: AlarmClock;
  /** True if values are copied and measured, as the platform does. Runs are faster without it. */
  readonly isExact: boolean;
  /** Receives each stored value, serialized, in exact runs. */
  readonly written: (bytes: Buffer) => void;
};

export class ObjectStorage {
  readonly #entries = new Map<string, unknown>();
  readonly #options: StorageOptions;
  alarmAt: number | null = null;

  constructor(options: StorageOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#entries.size;
  }

  readonly kv = {
    get: (key: string): unknown => {
      this.#options.meter.add("rowsRead");
      const value = this.#entries.get(key);
      return this.#options.isExact ? structuredClone(value) : value;
    },
    put: (key: string, value: unknown): void => this.#put(key, value),
    delete: (key: string): boolean => this.#delete(key),
    list: (options: Listing = {}): Iterable<[string, unknown]> => this.#list(options),
  };

  transactionSync<Value>(work: () => Value): Value {
    const before = new Map(this.#entries);
    try {
      return work();
    } catch (error) {
      this.#entries.clear();
      for (const [key, value] of before) this.#entries.set(key, value);
      throw error;
    }
  }

  async getAlarm(): Promise<number | null> {
    this.#options.meter.add("rowsRead");
    return this.alarmAt;
  }

  async setAlarm(at: number | Date): Promise<void> {
    if (isDead()) return;
    const time = Number(at);
    this.#options.meter.add("rowsWritten", 1, `${this.#options.className} alarm`);
    this.alarmAt = time;
    this.#options.clock.set(time);
  }

  async deleteAlarm(): Promise<void> {
    if (isDead()) return;
    if (this.alarmAt !== null) this.#options.meter.add("rowsWritten", 1, `${this.#options.className} alarm`);
    this.alarmAt = null;
    this.#options.clock.clear();
  }

  async deleteAll(): Promise<void> {
    if (isDead()) return;
    this.#options.meter.add("rowsWritten", this.#entries.size, `${this.#options.className} deleteAll`);
    this.#entries.clear();
    await this.deleteAlarm();
  }

  async sync(): Promise<void> {}

  #put(key: string, value: unknown): void {
    if (isDead()) return;
    const { meter, className, isExact, written } = this.#options;
    if (isExact) {
      const bytes = serialize(value);
      const { byteLength } = bytes;
      if (byteLength > MAX_ENTRY_BYTES) throw new Error(`The entry ${key} has ${byteLength} bytes: too many`);
      meter.add("bytesWritten", byteLength);
      written(bytes);
    }
    meter.add("rowsWritten", 1, `${className} ${key.replace(/:.*/, ":")}`);
    this.#entries.set(key, isExact ? structuredClone(value) : value);
  }

  #delete(key: string): boolean {
    if (isDead()) return false;
    const had = this.#entries.delete(key);
    if (had) this.#options.meter.add("rowsWritten", 1, `${this.#options.className} ${key.replace(/:.*/, ":")} deleted`);
    return had;
  }

  #list({ prefix = "", start = "", end, limit = Number.POSITIVE_INFINITY, reverse }: Listing): [string, unknown][] {
    const isWanted = (key: string): boolean =>
      key.startsWith(prefix) && key >= start && (end === undefined || key < end);
    const keys = [...this.#entries.keys()].filter(isWanted).sort();
    const wanted = (reverse ? keys.reverse() : keys).slice(0, limit);
    this.#options.meter.add("rowsRead", Math.max(1, wanted.length));
    return wanted.map((key) => {
      const value = this.#entries.get(key);
      return [key, this.#options.isExact ? structuredClone(value) : value];
    });
  }
}
