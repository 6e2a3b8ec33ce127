// Chooses the number of connections for a source: more connections, as long as they help. Pure.

/** More connections are worth it only if a single connection needs at least this long for the rest. */
const LONG_MS = 3000;
/** A smaller rest arrives before other connections would be of use. */
const LEAST_BYTES = 16 * 1024 * 1024;
/** Hosts that limit the connections of a client allow at least this many; browsers use six. */
const MOST = 8;
/** Factor by which a larger number of connections must be faster. */
const GAIN = 1.25;

export type Transfer = {
  readonly bytesPerSecond: number;
  readonly remainingBytes: number;
  /** Time until the host refuses further requests (url-validity.ts). */
  readonly validForMs: number;
};

/**
 * True if several connections may shorten a transfer noticeably. A running request may continue after its URL has
 * expired, but new requests may not start. Even if several connections are not faster, they must finish within half of
 * the URL's validity.
 */
export function isWorthMore({ bytesPerSecond, remainingBytes, validForMs }: Transfer): boolean {
  const aloneMs = (remainingBytes * 1000) / bytesPerSecond;
  return remainingBytes >= LEAST_BYTES && aloneMs > LONG_MS && !(2 * aloneMs > validForMs);
}

/** The number of connections, and the results of other numbers. */
export type Connections = {
  readonly count: number;
  /** The last smaller number with its rate in bytes per second. */
  readonly before: { readonly count: number; readonly rate: number };
  /** True if a larger number may be tried. */
  readonly mayGrow: boolean;
};

/** The state after a transfer over a single connection at a rate in bytes per second. */
export const twoConnections = (rate: number): Connections => ({
  count: 2,
  before: { count: 1, rate },
  mayGrow: true,
});

/**
 * The state after a while at the current number. If this number was clearly faster than the last number, twice as many;
 * otherwise the last number.
 */
export function withRate(connections: Connections, rate: number): Connections {
  const { count, before, mayGrow } = connections;
  if (!mayGrow) return connections;
  if (rate < GAIN * before.rate) return { ...connections, count: before.count, mayGrow: false };
  const more = Math.min(2 * count, MOST);
  return { count: more, before: { count, rate }, mayGrow: more > count };
}

/** The state after a refused or broken connection: half as many, for good. */
export const withFailure = (connections: Connections): Connections => ({
  ...connections,
  count: Math.max(1, Math.floor(connections.count / 2)),
  mayGrow: false,
});
