// The receivers of an account's notifications: which of them are left alone, and how many deliveries each gets at a time.
import { admit, afterDelivery, Circuit } from "./circuit.ts";

const PREFIX = "circuit:";
/** Receivers with failures that are remembered: the one that failed longest ago is forgotten first. */
const MAX_CIRCUITS = 1000;
/** Deliveries to one receiver at a time. */
const AT_A_TIME = 20;
/** After this a delivery that did not say how it ended was lost with its object. */
const LOST_AFTER_MS = 20_000;
const ASK_AGAIN_MS = 1000;
/** Those who are to ask again do so one after the other: 20 a second, however many wait. */
const SPACING_MS = 50;

/** Counts of a moment; losing them with the object's memory costs nothing. */
type Traffic = { endsBy: number[]; nextAskAt: number };

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

  /** Whether a delivery may go to the receiver now; otherwise when (ms since 1970) to ask again. */
  admit(receiver: string, now: number): { go: true } | { go: false; at: number } {
    const traffic = this.#trafficOf(receiver, now);
    const before = this.#circuits.get(receiver) ?? null;
    const admitted = admit(before, now);
    const isFull = traffic.endsBy.length >= AT_A_TIME;
    if (!admitted.go || isFull) {
      const at = Math.max(admitted.go ? now + ASK_AGAIN_MS : admitted.at, traffic.nextAskAt);
      traffic.nextAskAt = at + SPACING_MS;
      return { go: false, at };
    }
    if (admitted.circuit !== before) this.#save(receiver, admitted.circuit);
    traffic.endsBy.push(now + LOST_AFTER_MS);
    return { go: true };
  }

  /** A delivery that was let go has ended. */
  ended(receiver: string, wasTaken: boolean, now: number): void {
    this.#trafficOf(receiver, now).endsBy.shift();
    const before = this.#circuits.get(receiver) ?? null;
    const after = afterDelivery(before, wasTaken, now);
    if (after !== before) this.#save(receiver, after);
  }

  #trafficOf(receiver: string, now: number): Traffic {
    const known = this.#traffic.get(receiver) ?? { endsBy: [], nextAskAt: 0 };
    known.endsBy = known.endsBy.filter((by) => by > now);
    // What is quiet needs no place.
    for (const [name, { endsBy, nextAskAt }] of this.#traffic) {
      if (this.#traffic.size <= MAX_CIRCUITS) break;
      if (nextAskAt < now && endsBy.every((by) => by < now)) this.#traffic.delete(name);
    }
    this.#traffic.set(receiver, known);
    return known;
  }

  #save(receiver: string, circuit: Circuit | null): void {
    // Deleted first, so that the order of the map is the order of the changes.
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
