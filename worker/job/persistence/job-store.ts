// A job's state in its object's storage. Each written entry costs a row, so that small sections share an entry. A
// section that has become large gets entries of its own. A save writes only the entries that changed.
import { JobState } from "../state/job-state.ts";

/** Sections that have a single entry of their own when they are large. */
const WHOLE = [
  "spec",
  "requested",
  "input",
  "outputs",
  "tasks",
  "chunks",
] as const satisfies readonly (keyof JobState)[];
/** Sections that have an entry for each member when they are large. Members never change, and there may be hundreds. */
const SPLIT = { outbox: "outbox:", chunkResults: "chunk:" } as const satisfies Partial<Record<keyof JobState, string>>;
type Section = (typeof WHOLE)[number] | keyof typeof SPLIT;
const SPLIT_SECTIONS = Object.keys(SPLIT) as (keyof typeof SPLIT)[];
const SECTIONS: readonly Section[] = [...WHOLE, ...SPLIT_SECTIONS];
/** The entry with all other members, and with the sections that its member `inline` names. */
const REST = "rest";
/** In characters of JSON. An entry holds 2 MB, and characters may take two bytes: all sections together fit. */
const MAX_INLINE_CHARS = 96_000;

type Entries = ReadonlyMap<string, unknown>;

/** The entries as if no section were in the entry `rest`. */
export function unpacked(stored: Entries): Map<string, unknown> {
  const { inline = [], ...rest } = Object(stored.get(REST)) as { inline?: readonly string[] };
  const entries = new Map(stored);
  entries.set(REST, Object.fromEntries(Object.entries(rest).filter(([name]) => !inline.includes(name))));
  for (const [name, value] of Object.entries(rest)) {
    if (!inline.includes(name)) continue;
    const prefix = (SPLIT as Record<string, string>)[name];
    if (prefix === undefined) entries.set(name, value);
    else for (const [key, member] of Object.entries(Object(value))) entries.set(memberKey(prefix, key), member);
  }
  return entries;
}

/** Deliveries are in the order of their keys. */
const memberKey = (prefix: string, key: string): string =>
  prefix + (prefix === SPLIT.outbox ? key.padStart(6, "0") : key);

const membersOf = (entries: Entries, prefix: string): [key: string, member: unknown][] =>
  [...entries].flatMap(([key, member]) => (key.startsWith(prefix) ? [[key.slice(prefix.length), member]] : []));

export class JobStore {
  readonly #storage: DurableObjectStorage;
  #saved: JobState | null = null;
  /** The sections in the entry `rest`. */
  #inline: ReadonlySet<Section> = new Set(SECTIONS);

  constructor(storage: DurableObjectStorage) {
    this.#storage = storage;
  }

  /** The state as it was last written or read. */
  get saved(): JobState | null {
    return this.#saved;
  }

  /** Reads the state. Null if the object never held a job or has forgotten it. Throws if the state cannot be read. */
  load(): JobState | null {
    const stored = new Map(this.#storage.kv.list());
    const rest = stored.get(REST);
    this.#saved = rest === undefined ? null : stateOf(unpacked(stored));
    const { inline } = Object(rest) as { inline?: readonly Section[] };
    this.#inline = new Set(rest === undefined ? SECTIONS : inline);
    return this.#saved;
  }

  /** Writes all changes or, if the storage rejects an entry, nothing. */
  save(after: JobState): void {
    const before = this.#saved;
    const inline = new Set([...this.#inline].filter((name) => !hasOutgrown(before, after, name)));
    const { kv } = this.#storage;
    this.#storage.transactionSync(() => {
      for (const name of SECTIONS) {
        // A section that was in the entry `rest` has no entries yet.
        const known = this.#inline.has(name) ? null : before;
        if (!inline.has(name) && known?.[name] !== after[name]) writeSection(kv, name, known, after);
      }
      const isSame = before && inline.size === this.#inline.size && sameRest(before, after, inline);
      if (!isSame) kv.put(REST, { ...restOf(after, inline), inline: [...inline] });
    });
    this.#inline = inline;
    this.#saved = after;
  }

  /** Removes all entries of a state. */
  clear(): void {
    const { kv } = this.#storage;
    for (const [key] of [...kv.list()]) kv.delete(key);
    this.#saved = null;
    this.#inline = new Set(SECTIONS);
  }

  /** Removes everything, including the alarm. */
  async forget(): Promise<void> {
    await this.#storage.deleteAll();
    this.#saved = null;
    this.#inline = new Set(SECTIONS);
  }
}

function stateOf(entries: Entries): JobState {
  const whole = Object.fromEntries(WHOLE.map((section) => [section, entries.get(section)]));
  const outbox = membersOf(entries, SPLIT.outbox).map(([, delivery]) => delivery);
  const chunkResults = Object.fromEntries(membersOf(entries, SPLIT.chunkResults));
  return JobState.parse({ ...Object(entries.get(REST)), ...whole, outbox, chunkResults });
}

const hasOutgrown = (before: JobState | null, after: JobState, name: Section): boolean =>
  before?.[name] !== after[name] && JSON.stringify(after[name]).length > MAX_INLINE_CHARS;

function writeSection(kv: SyncKvStorage, name: Section, before: JobState | null, after: JobState): void {
  if (name !== "outbox" && name !== "chunkResults") return kv.put(name, after[name]);
  const known: Record<string, unknown> = Object(before?.[name] ?? {});
  const members = Object.entries(after[name]);
  for (const [key, member] of members) if (known[key] !== member) kv.put(memberKey(SPLIT[name], key), member);
  const keptKeys = new Set(members.map(([key]) => key));
  for (const key of Object.keys(known)) if (!keptKeys.has(key)) kv.delete(memberKey(SPLIT[name], key));
}

const restOf = (state: JobState, inline: ReadonlySet<string>): Record<string, unknown> => {
  const isInRest = (name: string): boolean => inline.has(name) || !(SECTIONS as readonly string[]).includes(name);
  return Object.fromEntries(Object.entries(state).filter(([name]) => isInRest(name)));
};

function sameRest(before: JobState, after: JobState, inline: ReadonlySet<string>): boolean {
  const one = restOf(before, inline);
  return Object.entries(restOf(after, inline)).every(([name, value]) => one[name] === value);
}
