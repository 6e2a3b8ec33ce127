// The newest events of an account, in the object's storage. Events that come together share an entry, and a new entry
// overwrites the oldest, so that the events of a short job cost a single row. Only the ids are in memory, because a
// notification may have a megabyte.
import * as z from "zod";
import { JobEvent, NotificationEventData } from "#shared/api/account-responses.ts";
import { UploadPayload } from "#shared/api/upload-links.ts";
import type { AccountEvent } from "../rpc/account.ts";

const PREFIX = "event:";
/** Number of entries. */
export const RING_SIZE = 1000;
/** In characters of JSON. An entry holds 2 MB, and an event of any size fits. */
const MAX_ENTRY_CHARS = 96_000;

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
const Entry = z.array(RingEvent);

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
      const slot = Number(name.slice(PREFIX.length));
      for (const event of Entry.safeParse(value).data ?? []) this.#add({ ...placeOf(event), slot });
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
    const entry = place ? Entry.parse(this.#kv.get(PREFIX + place.slot)) : [];
    return entry.find((event) => event.id === place?.id) ?? null;
  }

  /** Adds new events. Ids are times in ms, so that they increase even if the storage is lost. */
  add(events: readonly AccountEvent[], now: number): void {
    for (const group of groupsOf(events.filter(({ key }) => !this.#keys.has(key)))) {
      const slot = ((this.#places.at(-1)?.slot ?? -1) + 1) % RING_SIZE;
      this.#drop(new Set([slot]));
      const entry = group.map((event): RingEvent => {
        const added = { ...event, id: Math.max(now, this.last + 1), after: this.last };
        this.#add({ ...placeOf(added), slot });
        return added;
      });
      this.#kv.put(PREFIX + slot, entry);
    }
  }

  /** Removes entries whose events are older than a time (ms since 1970). */
  forget(before: number): void {
    const young = new Set(this.#places.filter(({ id }) => id >= before).map(({ slot }) => slot));
    const old = new Set(this.#places.map(({ slot }) => slot).filter((slot) => !young.has(slot)));
    this.#drop(old);
    for (const slot of old) this.#kv.delete(PREFIX + slot);
  }

  #drop(slots: ReadonlySet<number>): void {
    const dropped = this.#places.filter(({ slot }) => slots.has(slot));
    this.#startsAfter = dropped.at(-1)?.id ?? this.#startsAfter;
    this.#places = this.#places.slice(dropped.length);
    for (const { key } of dropped) this.#keys.delete(key);
  }

  #add(place: Place): void {
    this.#places.push(place);
    this.#keys.add(place.key);
  }
}

const placeOf = ({ id, after, key }: RingEvent): Omit<Place, "slot"> => ({ id, after, key });

/** The events in groups that fit into an entry each. */
function groupsOf(events: readonly AccountEvent[]): AccountEvent[][] {
  const groups: AccountEvent[][] = [];
  for (const event of events) {
    const last = groups.at(-1);
    if (last && JSON.stringify([...last, event]).length <= MAX_ENTRY_CHARS) last.push(event);
    else groups.push([event]);
  }
  return groups;
}
