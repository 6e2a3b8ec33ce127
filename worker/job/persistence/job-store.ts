// A job's state in its object's storage: several entries, of which a save writes only those that changed.
import type { ChunkResults } from "../state/chunk-state.ts";
import { JobState } from "../state/job-state.ts";

/** Sections with an entry of their own, because they are large or seldom change; the others share an entry. */
const OWN_ENTRY = ["spec", "input", "outputs", "tasks", "chunks"] as const satisfies readonly (keyof JobState)[];
const REST = "rest";
/** Deliveries have an entry each: their bodies are large and never change. */
const OUTBOX = "outbox:";
/** Finished chunks have an entry each: there may be hundreds. */
const CHUNK = "chunk:";
const deliveryKey = (index: number): string => OUTBOX + String(index).padStart(6, "0");

/** The stored state, or null when the object never held a job or has forgotten it. Throws when it cannot be read. */
export function loadState({ kv }: DurableObjectStorage): JobState | null {
  const rest = kv.get(REST);
  if (rest === undefined) return null;
  const own = Object.fromEntries(OWN_ENTRY.map((section) => [section, kv.get(section)]));
  const outbox = [...kv.list({ prefix: OUTBOX })].map(([, delivery]) => delivery);
  const chunkResults = Object.fromEntries(
    [...kv.list({ prefix: CHUNK })].map(([key, one]) => [key.slice(CHUNK.length), one]),
  );
  return JobState.parse({ ...(rest as object), ...own, outbox, chunkResults });
}

/** Writes what differs from `before`: all of it or, if the storage rejects an entry, nothing. */
export function saveState(storage: DurableObjectStorage, before: JobState | null, after: JobState): void {
  const { kv } = storage;
  storage.transactionSync(() => {
    for (const section of OWN_ENTRY) {
      if (before?.[section] !== after[section]) kv.put(section, after[section]);
    }
    for (const [index, delivery] of after.outbox.entries()) {
      if (before?.outbox[index] !== delivery) kv.put(deliveryKey(index), delivery);
    }
    if (before?.chunkResults !== after.chunkResults) saveChunks(kv, before?.chunkResults ?? {}, after.chunkResults);
    if (!before || !sameRest(before, after)) kv.put(REST, restOf(after));
  });
}

function saveChunks(kv: SyncKvStorage, before: ChunkResults, after: ChunkResults): void {
  for (const [index, result] of Object.entries(after)) {
    if (before[index] !== result) kv.put(CHUNK + index, result);
  }
  for (const index of Object.keys(before)) {
    if (!after[index]) kv.delete(CHUNK + index);
  }
}

const OWN: ReadonlySet<string> = new Set([...OWN_ENTRY, "outbox", "chunkResults"]);
const restOf = (state: JobState): Record<string, unknown> =>
  Object.fromEntries(Object.entries(state).filter(([name]) => !OWN.has(name)));

function sameRest(before: JobState, after: JobState): boolean {
  const one = restOf(before);
  return Object.entries(restOf(after)).every(([name, value]) => one[name] === value);
}
