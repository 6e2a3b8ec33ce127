// Counts the tasks that have left their nodes, and how long they took there. Pure, and in memory: readers of metrics
// expect that counters begin again.
import { parseLeaseId } from "#shared/ids.ts";
import { DURATION_BOUNDS_S, type TaskReport } from "../../rpc/hub-reports.ts";

type Times = { released: number; lost: number; readonly within: number[]; timed: number; sumSeconds: number };

export class TaskTimes {
  readonly #kinds = new Map<string, Times>();

  /** A task has ended, or its node has disconnected (`isLost`); `seconds` is null if its start is not known. */
  ended(lease: string, seconds: number | null, isLost: boolean): void {
    const kind = kindOf(lease);
    const none = { released: 0, lost: 0, within: DURATION_BOUNDS_S.map(() => 0), timed: 0, sumSeconds: 0 };
    const times = this.#kinds.get(kind) ?? none;
    this.#kinds.set(kind, times);
    if (isLost) times.lost += 1;
    else times.released += 1;
    if (isLost || seconds === null) return;
    times.timed += 1;
    times.sumSeconds += seconds;
    for (const [at, bound] of DURATION_BOUNDS_S.entries()) {
      if (seconds <= bound) times.within[at] = (times.within[at] ?? 0) + 1;
    }
  }

  report(): TaskReport[] {
    return [...this.#kinds].map(([kind, times]) => ({ kind, ...times, within: [...times.within] }));
  }
}

/** `chunk-12` is a `chunk`. */
const kindOf = (lease: string): string => (parseLeaseId(lease)?.task ?? "other").replace(/-\d+$/, "");
