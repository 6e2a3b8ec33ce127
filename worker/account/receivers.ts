// The receivers of an account's notifications: their circuit breakers, and the number of concurrent deliveries to each.
import { admit, afterDelivery, Circuit } from "./circuit.ts";

const PREFIX = "circuit:";
/** Maximum number of remembered receivers with failures. The receiver with the oldest failure is forgotten first. */
const MAX_CIRCUITS = 1000;
/** Maximum number of concurrent deliveries to a receiver. */
const MAX_CONCURRENT = 20;
/** Time after which a delivery without a reported end counts as lost with its object. */
const LOST_AFTER_MS = 20_000;
const RETRY_MS = 1000;
/** Postponed deliveries are requested again at this interval: 20 a second. */
const SPACING_MS = 50;

/** Kept in memory only: it is short-lived. */
type Traffic = { endsBy: number[]; nextRetryAt: number };

export class Receivers {
  readonly #kv: SyncKvStorage;
  readonly #circuits = new Map<string, Circuit>();
  readonly #traffic = new Map<string, Traffic>();

  constructor(kv: SyncKvStorage) {
    this.#kv = kv;
    for (const [key, value] of kv.list({ prefix: PREFIX })) {
      const circuit = Circuit.safeParse(value);
      if (circuit.success) this.#circuits.set(key.slice(PREFIX.length), circuit.data);
    }
  }

  /** Admits a delivery to the receiver now. Otherwise returns the time (ms since 1970) to request it again. */
  admit(receiver: string, now: number): { go: true } | { go: false; at: number } {
    const traffic = this.#trafficOf(receiver, now);
    const before = this.#circuits.get(receiver) ?? null;
    const admitted = admit(before, now);
    const isFull = traffic.endsBy.length >= MAX_CONCURRENT;
    if (!admitted.go || isFull) {
      const at = Math.max(admitted.go ? now + RETRY_MS : admitted.at, traffic.nextRetryAt);
      traffic.nextRetryAt = at + SPACING_MS;
      return { go: false, at };
    }
    if (admitted.circuit !== before) this.#save(receiver, admitted.circuit);
    traffic.endsBy.push(now + LOST_AFTER_MS);
    return { go: true };
  }

  /** Notes the end of an admitted delivery. */
  ended(receiver: string, wasDelivered: boolean, now: number): void {
    this.#trafficOf(receiver, now).endsBy.shift();
    const before = this.#circuits.get(receiver) ?? null;
    const after = afterDelivery(before, wasDelivered, now);
    if (after !== before) this.#save(receiver, after);
  }

  #trafficOf(receiver: string, now: number): Traffic {
    const known = this.#traffic.get(receiver) ?? { endsBy: [], nextRetryAt: 0 };
    known.endsBy = known.endsBy.filter((by) => by > now);
    // Idle receivers are removed.
    for (const [name, { endsBy, nextRetryAt }] of this.#traffic) {
      if (this.#traffic.size <= MAX_CIRCUITS) break;
      if (nextRetryAt < now && endsBy.every((by) => by < now)) this.#traffic.delete(name);
    }
    this.#traffic.set(receiver, known);
    return known;
  }

  #save(receiver: string, circuit: Circuit | null): void {
    // Deleted first, so that the map keeps the order of the changes.
    this.#circuits.delete(receiver);
    if (circuit === null) {
      this.#kv.delete(PREFIX + receiver);
      return;
    }
    this.#circuits.set(receiver, circuit);
    this.#kv.put(PREFIX + receiver, circuit);
    const oldest = this.#circuits.keys().next();
    if (this.#circuits.size <= MAX_CIRCUITS || oldest.done) return;
    this.#circuits.delete(oldest.value);
    this.#kv.delete(PREFIX + oldest.value);
  }
}
