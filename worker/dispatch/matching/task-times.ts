// Counts the tasks that have left their nodes, and how long they took there. Pure, and in memory: readers of metrics
// expect that counters begin again.
import { parseLeaseId } from "#shared/ids.ts";
import { DURATION_BOUNDS_S, type EndOfTask, type TaskReport } from "../../rpc/hub-reports.ts";

type Times = {
  retries: number;
  readonly outcomes: Record<EndOfTask, number>;
  readonly within: number[];
  timed: number;
  sumSeconds: number;
};

export class TaskTimes {
  readonly #kinds = new Map<string, Times>();

  /** A node has got a task. */
  started(lease: string): void {
    if ((parseLeaseId(lease)?.attempt ?? 1) > 1) this.#of(lease).retries += 1;
  }

  /** A task has left its node; `seconds` is null if its start is not known. */
  ended(lease: string, seconds: number | null, end: EndOfTask): void {
    const times = this.#of(lease);
    times.outcomes[end] += 1;
    if (end === "lost" || seconds === null) return;
    times.timed += 1;
    times.sumSeconds += seconds;
    for (const [at, bound] of DURATION_BOUNDS_S.entries()) {
      if (seconds <= bound) times.within[at] = (times.within[at] ?? 0) + 1;
    }
  }

  report(): TaskReport[] {
    return [...this.#kinds].map(([kind, times]) => structuredClone({ kind, ...times }));
  }

  #of(lease: string): Times {
    const kind = kindOf(lease);
    const times = this.#kinds.get(kind) ?? noTimes();
    this.#kinds.set(kind, times);
    return times;
  }
}

const noTimes = (): Times => ({
  outcomes: { done: 0, failed: 0, returned: 0, cancelled: 0, released: 0, lost: 0 },
  ...{ retries: 0, within: DURATION_BOUNDS_S.map(() => 0), timed: 0, sumSeconds: 0 },
});

/** `chunk-12-r1-speculative` is a `chunk`: each kind is a series of metrics for ever. */
const kindOf = (lease: string): string => (parseLeaseId(lease)?.task ?? "other").replace(/-.*/s, "");
