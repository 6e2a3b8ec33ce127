// Reports that wait for others of the same job: each turn that brings results is a row, whatever their number. They
// wait for a frame of their node and not for a timer, which would keep the hub from hibernating. In memory only: a
// report that is lost with the hub is sent again by POST.

export type HeldReport<Node> = { readonly node: Node; readonly id: number };

/** A report waits only if the one before it of its job came within so many times the time that it may wait. */
const RECENT_WAITS = 2;
/** So many are sent at once, whatever they may wait. */
const MAX_HELD = 50;
/** Jobs whose last report is remembered; of more the oldest are forgotten. */
const MAX_JOBS = 1000;

export class HeldReports<Node, Held extends HeldReport<Node>> {
  readonly #held = new Map<string, Held[]>();
  /** When the last report of each job came. */
  readonly #lastAt = new Map<string, number>();

  /**
   * Takes a report that may wait. Returns the reports that go to the job now: none, or this one with those that have
   * waited.
   */
  add(jobId: string, report: Held, mayWaitMs: number, now: number): Held[] {
    const held = this.#held.get(jobId) ?? [];
    const lastAt = this.#lastAt.get(jobId) ?? Number.NEGATIVE_INFINITY;
    this.#noteTime(jobId, now);
    const waits = mayWaitMs > 0 && now - lastAt <= RECENT_WAITS * mayWaitMs && held.length + 1 < MAX_HELD;
    if (!waits) return [...this.take(jobId), report];
    this.#held.set(jobId, [...held, report]);
    return [];
  }

  /** The reports of a job, which wait no longer. */
  take(jobId: string): Held[] {
    const held = this.#held.get(jobId) ?? [];
    this.#held.delete(jobId);
    return held;
  }

  /** The jobs with reports of a node that wait, or with one of them. */
  jobsOf(node: Node, id: number | null = null): string[] {
    const isOwn = (one: Held): boolean => one.node === node && (id === null || one.id === id);
    return [...this.#held].flatMap(([jobId, held]) => (held.some(isOwn) ? [jobId] : []));
  }

  #noteTime(jobId: string, now: number): void {
    this.#lastAt.delete(jobId);
    this.#lastAt.set(jobId, now);
    const [oldest] = this.#lastAt.keys();
    if (this.#lastAt.size > MAX_JOBS && oldest !== undefined) this.#lastAt.delete(oldest);
  }
}
