// Over how many connections a source is fetched: more as long as they help. Pure.

/** Fetching the rest over one connection must take at least this long to be worth more of them. */
const LONG_MS = 3000;
/** Less than this is fetched before other connections would be of use. */
const LEAST_BYTES = 16 * 1024 * 1024;
/** Hosts that limit the connections of one client allow at least this many; browsers use six. */
const MOST = 8;
/** By how much a larger number must be faster. */
const GAIN = 1.25;

export type Transfer = {
  readonly bytesPerSecond: number;
  readonly remainingBytes: number;
  /** How long the host accepts further requests (url-validity.ts). */
  readonly validForMs: number;
};

/**
 * True if more connections than one may shorten a transfer noticeably. One request may go on after its URL has expired,
 * others may not begin: if they turn out to be no faster than the one, they still need half of the time that they have.
 */
export function isWorthMore({ bytesPerSecond, remainingBytes, validForMs }: Transfer): boolean {
  const aloneMs = (remainingBytes * 1000) / bytesPerSecond;
  return remainingBytes >= LEAST_BYTES && aloneMs > LONG_MS && !(2 * aloneMs > validForMs);
}

/** The number of connections, and what is known about others. */
export type Connections = {
  readonly count: number;
  /** The last smaller number with its rate in bytes per second. */
  readonly before: { readonly count: number; readonly rate: number };
  /** True if a larger number may be tried. */
  readonly mayGrow: boolean;
};

/** After a transfer over one connection at a rate in bytes per second. */
export const twoConnections = (rate: number): Connections => ({
  count: 2,
  before: { count: 1, rate },
  mayGrow: true,
});

/**
 * After a while at the current number: twice as many if this number was clearly faster than the last one, else that.
 */
export function withRate(connections: Connections, rate: number): Connections {
  const { count, before, mayGrow } = connections;
  if (!mayGrow) return connections;
  if (rate < GAIN * before.rate) return { ...connections, count: before.count, mayGrow: false };
  const more = Math.min(2 * count, MOST);
  return { count: more, before: { count, rate }, mayGrow: more > count };
}

/** After a refused or broken connection: half as many, for good. */
export const withFailure = (connections: Connections): Connections => ({
  ...connections,
  count: Math.max(1, Math.floor(connections.count / 2)),
  mayGrow: false,
});
