// A job's state in its object's storage: a few entries, of which a save writes only those that changed.
import { JobState } from "./job-state.ts";

/** Sections with an entry of their own, because they are large or seldom change; the others share one. */
const OWN_ENTRY = ["spec", "input", "outputs", "tasks", "outbox"] as const satisfies readonly (keyof JobState)[];
type OwnEntry = (typeof OWN_ENTRY)[number];
const REST = "rest";

/** The stored state, or null when the object never held a job or has forgotten it. Throws when it cannot be read. */
export function loadState(kv: SyncKvStorage): JobState | null {
  const rest = kv.get(REST);
  if (rest === undefined) return null;
  const own = Object.fromEntries(OWN_ENTRY.map((section) => [section, kv.get(section)]));
  return JobState.parse({ ...(rest as object), ...own });
}

/** Writes what differs from `before`; all writes of one turn become durable together. */
export function saveState(kv: SyncKvStorage, before: JobState | null, after: JobState): void {
  for (const section of OWN_ENTRY) {
    if (before?.[section] !== after[section]) kv.put(section, after[section]);
  }
  if (!before || !sameRest(before, after)) kv.put(REST, restOf(after));
}

const restOf = ({
  spec: _1,
  input: _2,
  outputs: _3,
  tasks: _4,
  outbox: _5,
  ...rest
}: JobState): Omit<JobState, OwnEntry> => rest;

function sameRest(before: JobState, after: JobState): boolean {
  const one: Readonly<Record<string, unknown>> = restOf(before);
  return Object.entries(restOf(after)).every(([name, value]) => one[name] === value);
}
