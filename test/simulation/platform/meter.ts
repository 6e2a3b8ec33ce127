// Counts the units that Cloudflare bills, and prices them.

/** Counted units. Durations are in ms. */
export type Counts = {
  workerRequests: number;
  /** RPC calls and requests to Durable Objects. */
  calls: number;
  alarms: number;
  /** Frames that nodes sent to hubs. Cloudflare bills twenty frames as a request. Pings are free. */
  frames: number;
  rowsWritten: number;
  rowsRead: number;
  /** Bytes of the stored values. Not billed. */
  bytesWritten: number;
  /** Time for which objects could not hibernate. */
  activeMs: number;
  queries: number;
  /** Round trips to D1: a batch is a single trip. */
  trips: number;
  databaseWritten: number;
  databaseRead: number;
  /** Time that SQLite took on this machine. Not billed; D1 runs a single statement at a time. */
  databaseMs: number;
};

export const NOTHING: Counts = {
  workerRequests: 0,
  calls: 0,
  alarms: 0,
  frames: 0,
  rowsWritten: 0,
  rowsRead: 0,
  bytesWritten: 0,
  activeMs: 0,
  queries: 0,
  trips: 0,
  databaseWritten: 0,
  databaseRead: 0,
  databaseMs: 0,
};

/** Counts by method, entry or statement. */
export type Details = Map<string, number>;

export class Meter {
  counts: Counts = { ...NOTHING };
  readonly details: Details = new Map();

  add(name: keyof Counts, amount = 1, detail?: string): void {
    this.counts[name] += amount;
    if (detail === undefined) return;
    const key = `${name} ${detail}`;
    this.details.set(key, (this.details.get(key) ?? 0) + amount);
  }

  /** Returns the counts since the last call. */
  take(): Counts {
    const { counts } = this;
    this.counts = { ...NOTHING };
    return counts;
  }
}

export const plus = (a: Counts, b: Counts): Counts => minus(a, b, -1);

/** Subtracts the other counts `times` times. */
export function minus(a: Counts, b: Counts, times = 1): Counts {
  const entries = Object.entries(a) as [keyof Counts, number][];
  return Object.fromEntries(entries.map(([name, count]) => [name, count - times * b[name]])) as Counts;
}

/**
 * Dollars per million units above the quota of the $5 plan (developers.cloudflare.com/workers/platform/pricing/ and
 * /durable-objects/platform/pricing/, 2026-11).
 */
export const PRICES = {
  workerRequest: 0.3,
  workerCpuMs: 0.02,
  objectRequest: 0.15,
  gigabyteSecond: 12.5,
  rowWritten: 1,
  rowRead: 0.001,
};
/** The assumed CPU time of a request to the Worker: measured values lie between 1 and 4 ms. */
const WORKER_CPU_MS = 2;
const GIGABYTES = 0.128;
const FRAMES_PER_REQUEST = 20;

export type Bill = { readonly worker: number; readonly requests: number; readonly duration: number } & {
  readonly rows: number;
  readonly database: number;
  readonly total: number;
};

/** Requests to objects as they are billed. */
export const objectRequests = ({ calls, alarms, frames }: Counts): number =>
  calls + alarms + frames / FRAMES_PER_REQUEST;

/** The cost of a million times these counts, in dollars. */
export function billOf(counts: Counts): Bill {
  const worker = counts.workerRequests * (PRICES.workerRequest + WORKER_CPU_MS * PRICES.workerCpuMs);
  const requests = objectRequests(counts) * PRICES.objectRequest;
  const duration = (counts.activeMs / 1000) * GIGABYTES * PRICES.gigabyteSecond;
  const rows = counts.rowsWritten * PRICES.rowWritten + counts.rowsRead * PRICES.rowRead;
  const database = counts.databaseWritten * PRICES.rowWritten + counts.databaseRead * PRICES.rowRead;
  return { worker, requests, duration, rows, database, total: worker + requests + duration + rows + database };
}
