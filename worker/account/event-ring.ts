// The newest events of an account, in the object's storage. A new event overwrites the oldest, so that an event costs a
// single row. Only the ids are in memory, because a notification may have a megabyte.
import * as z from "zod";
import { JobEvent, NotificationEventData } from "#shared/api/account-responses.ts";
import { UploadPayload } from "#shared/api/upload-links.ts";
import type { AccountEvent } from "../rpc/account.ts";

const PREFIX = "event:";
export const RING_SIZE = 1000;

const RingEvent = z.intersection(
  z.object({
    id: z.int(),
    /** The id of the previous event. */
    after: z.int(),
    /** The same if an event is sent again. */
    key: z.string(),
  }),
  z.discriminatedUnion("kind", [
    z.object({ kind: z.literal("job"), data: JobEvent }),
    z.object({ kind: z.literal("notification"), data: NotificationEventData }),
    z.object({ kind: z.literal("upload"), data: UploadPayload }),
  ]),
);
export type RingEvent = z.infer<typeof RingEvent>;

type Place = { readonly id: number; readonly after: number; readonly key: string; readonly slot: number };

export class EventRing {
  readonly #kv: SyncKvStorage;
  #startsAfter: number;
  readonly #keys = new Set<string>();
  /** In the order of their ids. */
  #places: Place[] = [];

  /** `startsAfter`: id of the event before the first event. */
  constructor(kv: SyncKvStorage, startsAfter: number) {
    this.#kv = kv;
    this.#startsAfter = startsAfter;
    for (const [name, value] of kv.list({ prefix: PREFIX })) {
      const event = RingEvent.safeParse(value);
      if (event.success) this.#add({ ...placeOf(event.data), slot: Number(name.slice(PREFIX.length)) });
    }
    this.#places.sort((a, b) => a.id - b.id);
  }

  /** Id of the newest event that was removed: all later events are kept. */
  get floor(): number {
    return this.#places[0]?.after ?? this.#startsAfter;
  }

  /** The id of the newest event. */
  get last(): number {
    return this.#places.at(-1)?.id ?? this.#startsAfter;
  }

  /** Time at which the oldest kept event was added, ms since 1970; null if there is none. */
  get oldest(): number | null {
    return this.#places[0]?.id ?? null;
  }

  /** The first event after an id. */
  next(id: number): RingEvent | null {
    const place = this.#places.find((later) => later.id > id);
    return place ? RingEvent.parse(this.#kv.get(PREFIX + place.slot)) : null;
  }

  /** Adds new events. Ids are times in ms, so that they increase even if the storage is lost. */
  add(events: readonly AccountEvent[], now: number): void {
    for (const event of events) {
      if (this.#keys.has(event.key)) continue;
      const slot = ((this.#places.at(-1)?.slot ?? -1) + 1) % RING_SIZE;
      const added: RingEvent = { ...event, id: Math.max(now, this.last + 1), after: this.last };
      const overwritten = this.#places.find((place) => place.slot === slot);
      if (overwritten) {
        this.#keys.delete(overwritten.key);
        this.#places = this.#places.filter((place) => place !== overwritten);
      }
      this.#kv.put(PREFIX + slot, added);
      this.#add({ ...placeOf(added), slot });
    }
  }

  /** Removes events that are older than a time (ms since 1970). */
  forget(before: number): void {
    const old = this.#places.filter(({ id }) => id < before);
    this.#startsAfter = old.at(-1)?.id ?? this.#startsAfter;
    this.#places = this.#places.slice(old.length);
    for (const { key, slot } of old) {
      this.#keys.delete(key);
      this.#kv.delete(PREFIX + slot);
    }
  }

  #add(place: Place): void {
    this.#places.push(place);
    this.#keys.add(place.key);
  }
}

const placeOf = ({ id, after, key }: RingEvent): Omit<Place, "slot"> => ({ id, after, key });
