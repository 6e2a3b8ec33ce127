// Changes of many jobs: the selection, and the result.
import { signal } from "@preact/signals";
import type { BulkResult, JobSelection, JobStatus } from "../../client/index.ts";
import { copra } from "../core/service.ts";
import { filterOf, type View } from "./filter.ts";

export type Verb = "retry" | "cancel";
export type Changed = BulkResult["jobs"][number];

/** The statuses that allow a change. */
export const POSSIBLE = { retry: ["job.failed", "job.aborted"], cancel: ["job.starting"] } as const satisfies Record<
  Verb,
  readonly JobStatus[]
>;

/** The most jobs in a request. */
const BATCH = 100;

/** A change that runs or has ended. */
export type Bulk = {
  readonly verb: Verb;
  readonly jobs: readonly Changed[];
  readonly isRunning: boolean;
  readonly error: unknown;
};

export const bulk = signal<Bulk | null>(null);
let abort = new AbortController();

/** All jobs of a view that allow the change; null if its statuses exclude them. */
export function wholeView(verb: Verb, view: View): JobSelection | null {
  const possible: readonly JobStatus[] = POSSIBLE[verb];
  const statuses = view.statuses.length === 0 ? possible : view.statuses.filter((status) => possible.includes(status));
  return statuses.length === 0 ? null : { filter: { ...filterOf(view), status: statuses } };
}

/** Changes jobs in batches. The results stay when a later request fails. */
export async function changeJobs(verb: Verb, jobs: JobSelection): Promise<void> {
  abort.abort();
  abort = new AbortController();
  const { signal } = abort;
  bulk.value = { verb, jobs: [], isRunning: true, error: undefined };
  const report = (change: Partial<Bulk>): void => {
    if (bulk.peek() && !signal.aborted)
      bulk.value = { verb, jobs: [], isRunning: true, error: undefined, ...bulk.peek(), ...change };
  };
  try {
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const portion = "ids" in jobs ? jobs : { ...jobs, limit: BATCH, cursor };
      const result = await (verb === "retry" ? copra.jobs.retryMany : copra.jobs.cancelMany).call(copra.jobs, portion, {
        signal,
      });
      report({ jobs: [...(bulk.peek()?.jobs ?? []), ...result.jobs] });
      cursor = result.has_more ? result.next_cursor : null;
    }
    report({ isRunning: false });
  } catch (error) {
    report({ isRunning: false, error });
  }
}

/** Sends no further requests. */
export function stopChange(): void {
  abort.abort();
  if (bulk.value) bulk.value = { ...bulk.value, isRunning: false };
}

export function closeBulk(): void {
  stopChange();
  bulk.value = null;
}
