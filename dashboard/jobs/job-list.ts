// The jobs that the page shows: at most a page of the list. Events keep it current, except for the progress of running
// jobs, which the page reads: an event for each step of progress would cost more than the job's other requests.
import { batch, signal } from "@preact/signals";
import type { AccountEvent, Job, JobCounts, JobEvent } from "../../client/index.ts";
import { timeOf } from "../core/format.ts";
import { copra } from "../core/service.ts";
import { filterOf, isFiltered, listOf, type View } from "./filter.ts";
import { isEnded, mergedRows, withEvent, withJob } from "./rows.ts";

/** The most jobs that the API returns, and that this list holds. */
export const PAGE = 100;
/**
 * A page of a search may be empty although more jobs follow. At most this many pages are read until a page has a job.
 */
const EMPTY_PAGES = 10;
/** Shortest times between reads, in ms. */
const PAGE_INTERVAL_MS = 2000;
/** A search reads the texts of 2,000 jobs. Events do not show which jobs a search would find. */
const SEARCH_INTERVAL_MS = 10_000;
/** Counting reads up to 10,000 rows of each status. */
const COUNT_INTERVAL_MS = 10_000;

export class JobList {
  /** undefined until the first response. */
  readonly rows = signal<readonly Job[] | undefined>(undefined);
  /** The cursor of the next page; null: the present page is the last. */
  readonly next = signal<string | null>(null);
  readonly counts = signal<JobCounts | undefined>(undefined);
  readonly error = signal<unknown>(undefined);
  /** True while another page is being read. */
  readonly isLoading = signal(false);
  /** The number of new jobs that are not yet in the list. */
  readonly unseen = signal(0);

  #view: View | undefined;
  #abort = new AbortController();
  /** The number of loads that were started, and the newest load whose response is shown. */
  #loads = 0;
  #shownLoad = 0;
  /** Jobs that have ended since they were read: their outputs have changed. */
  readonly #ended = new Set<string>();
  #isReading = false;
  readonly #unseen = new Set<string>();
  readonly #refresh = new Throttle(
    () => (this.#isSearch ? SEARCH_INTERVAL_MS : PAGE_INTERVAL_MS),
    () => this.refresh(),
  );
  readonly #recount = new Throttle(
    () => COUNT_INTERVAL_MS,
    () => this.#count(),
  );

  /** Shows other jobs. The previous jobs stay until the new jobs have been read. */
  async show(view: View): Promise<void> {
    this.stop();
    this.#view = view;
    this.isLoading.value = true;
    await Promise.all([this.#load(view), this.#count()]);
  }

  /** Reads the same page again. */
  async refresh(): Promise<void> {
    if (this.#view) await this.#load(this.#view);
  }

  /** Ends requests and timers. */
  stop(): void {
    this.#abort.abort();
    this.#abort = new AbortController();
    this.#refresh.stop();
    this.#recount.stop();
    this.#ended.clear();
  }

  async #load(view: View): Promise<void> {
    const { signal } = this.#abort;
    this.#loads += 1;
    const load = this.#loads;
    const isOutdated = (): boolean => signal.aborted || load < this.#shownLoad;
    this.#unseen.clear();
    this.unseen.value = 0;
    try {
      const { jobs, next } = await readPage(view, signal);
      if (isOutdated()) return;
      this.#shownLoad = load;
      batch(() => {
        this.rows.value = mergedRows(this.rows.peek() ?? [], jobs);
        this.next.value = next;
        this.error.value = undefined;
        this.isLoading.value = false;
      });
    } catch (error) {
      if (isOutdated()) return;
      batch(() => {
        this.error.value = error;
        this.isLoading.value = false;
      });
    }
  }

  /** Counts jobs of all statuses. The page works without the counts, too. */
  async #count(): Promise<void> {
    const { signal } = this.#abort;
    if (!this.#view) return;
    const { status: _, ...filter } = filterOf(this.#view);
    const counts = await copra.jobs.counts(filter, { signal }).catch(() => undefined);
    if (!signal.aborted && counts) this.counts.value = counts;
  }

  /** Applies an event. `mayMove`: true if rows may move now without disturbing anybody. */
  take(event: AccountEvent, mayMove: () => boolean): void {
    if (event.event === "notification" || event.event === "upload") return;
    this.#recount.soon();
    if (event.event === "gap") return this.#refresh.soon();
    const rows = this.rows.peek();
    const changed = rows && withEvent(rows, event.data);
    if (changed) {
      this.rows.value = changed;
      if (isEnded(event.data)) this.#ended.add(event.data.id);
    } else if (this.#belongs(event.data)) {
      if (mayMove()) return this.#refresh.soon();
      if (this.#isSearch) return;
      this.#unseen.add(event.data.id);
      this.unseen.value = this.#unseen.size;
    }
  }

  get #isSearch(): boolean {
    return this.#view !== undefined && (isFiltered({ ...this.#view, statuses: [] }) || this.#view.sort === "took");
  }

  /** True if a job that is not in the list may belong to this page. */
  #belongs({ status, created_at, completed_at }: JobEvent): boolean {
    const [view, rows] = [this.#view, this.rows.peek()];
    if (!view || !rows || view.cursor !== "") return false;
    if (view.statuses.length > 0 && !view.statuses.includes(status)) return false;
    if (view.sort !== "") return completed_at !== null;
    const last = rows.length < PAGE ? undefined : rows.at(-1);
    return last === undefined || timeOf(created_at) >= timeOf(last.created_at);
  }

  /** Reads the running jobs and the jobs that have ended since they were read, one by one. `ids`: the visible jobs. */
  async readChanging(ids: readonly string[]): Promise<void> {
    if (this.#isReading) return;
    this.#isReading = true;
    const { signal } = this.#abort;
    const changing = (this.rows.peek() ?? []).filter((job) => !isEnded(job) || this.#ended.has(job.id));
    for (const { id } of changing.filter((job) => ids.includes(job.id))) {
      this.#ended.delete(id);
      const job = await copra.jobs.get(id, { signal }).catch(() => undefined);
      if (signal.aborted) break;
      if (job) this.rows.value = withJob(this.rows.peek() ?? [], job);
    }
    this.#isReading = false;
  }
}

/** The first page with a job, from the cursor on. */
async function readPage(view: View, signal: AbortSignal): Promise<{ jobs: readonly Job[]; next: string | null }> {
  const filter = listOf(view);
  let cursor: string | null = view.cursor === "" ? null : view.cursor;
  for (let round = 1; ; round++) {
    const page = await copra.jobs.page({ ...filter, limit: PAGE, cursor }, { signal });
    cursor = page.next_cursor;
    if (page.jobs.length > 0 || cursor === null || round === EMPTY_PAGES) return { jobs: page.jobs, next: cursor };
  }
}

/** Runs work shortly after a request for it, and at most once in each interval. */
class Throttle {
  readonly #intervalMs: () => number;
  readonly #run: () => Promise<unknown>;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #ranAt = Number.NEGATIVE_INFINITY;

  constructor(intervalMs: () => number, run: () => Promise<unknown>) {
    this.#intervalMs = intervalMs;
    this.#run = run;
  }

  soon(): void {
    this.#timer ??= setTimeout(
      () => {
        this.#timer = undefined;
        this.#ranAt = performance.now();
        this.#run().catch(() => undefined);
      },
      Math.max(MIN_DELAY_MS, this.#ranAt + this.#intervalMs() - performance.now()),
    );
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}

/** Requests within this time run the work only once. */
const MIN_DELAY_MS = 200;
