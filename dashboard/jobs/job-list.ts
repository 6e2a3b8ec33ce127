// The jobs that the page shows: at most a page of the list. Events, and reads of running jobs, keep it current.
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
const REFRESH_MS = 2000;
/** Searches are expensive: each reads the texts of 2,000 jobs. Events do not show which jobs a search would find. */
const SEARCH_MS = 10_000;
/** Counting reads up to 10,000 rows of each status. */
const COUNT_MS = 10_000;
const READ_INTERVAL_MS = 300;
/** If more jobs changed, the page is read again instead of each job. */
const MAX_SINGLE_READS = 8;
/** The number of newest jobs that are compared to find jobs created since the page was read. */
const NEWEST_JOBS = 5;
/** Running jobs whose progress is read at a time. */
const READ_RUNNING = 8;

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
  #turn = 0;
  /** The number of loads. A later load makes the responses of earlier loads outdated. */
  #loads = 0;
  readonly #unseen = new Set<string>();
  readonly #toRead = new Set<string>();
  readonly #refresh = new Throttle(REFRESH_MS, () => this.refresh());
  readonly #search = new Throttle(SEARCH_MS, () => this.refresh());
  readonly #recount = new Throttle(COUNT_MS, () => this.#count());
  readonly #read = new Throttle(READ_INTERVAL_MS, () => this.#readEnded());

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

  /**
   * Finds jobs that were created after the page was read and before events arrived. Changed jobs need no search: their
   * rows show them as running, and `readRunning` reads them. `mayMove`: as for `take`. Returns false if the request
   * failed: the caller tries again.
   */
  async catchUp(mayMove: () => boolean): Promise<boolean> {
    const [view, rows, { signal }] = [this.#view, this.rows.peek(), this.#abort];
    if (view?.cursor !== "") return true;
    // The page is still being read, or could not be read.
    if (!rows) {
      this.#refresh.soon();
      return true;
    }
    const newest = await copra.jobs.page({ ...listOf(view), limit: NEWEST_JOBS }, { signal }).catch(() => undefined);
    if (signal.aborted) return true;
    if (!newest) return false;
    for (const { id } of newest.jobs) if (!rows.some((row) => row.id === id)) this.#unseen.add(id);
    if (this.#unseen.size === 0) return true;
    this.#recount.soon();
    if (mayMove()) this.#refresh.soon();
    else this.unseen.value = this.#unseen.size;
    return true;
  }

  /** Ends requests and timers. */
  stop(): void {
    this.#abort.abort();
    this.#abort = new AbortController();
    for (const throttle of [this.#refresh, this.#search, this.#recount, this.#read]) throttle.stop();
  }

  async #load(view: View): Promise<void> {
    const { signal } = this.#abort;
    this.#loads += 1;
    const load = this.#loads;
    const isOutdated = (): boolean => signal.aborted || load !== this.#loads;
    this.#forgetUnseen();
    try {
      const { jobs, next } = await readPage(view, signal);
      if (isOutdated()) return;
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
      if (isEnded(event.data)) this.#readSoon(event.data.id);
    } else if (this.#belongs(event.data)) {
      if (this.#isSearch) return mayMove() ? this.#search.soon() : undefined;
      this.#unseen.add(event.data.id);
      if (mayMove()) this.#refresh.soon();
      else this.unseen.value = this.#unseen.size;
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

  #forgetUnseen(): void {
    this.#unseen.clear();
    this.unseen.value = 0;
  }

  /** The outputs of an ended job have changed, so the job is read. */
  #readSoon(id: string): void {
    this.#toRead.add(id);
    this.#read.soon();
  }

  async #readEnded(): Promise<void> {
    const ids = [...this.#toRead];
    this.#toRead.clear();
    if (ids.length > MAX_SINGLE_READS) this.#refresh.soon();
    else await this.#readJobs(ids);
  }

  /** Reads the progress of running jobs, in turns if there are many. `ids`: the visible jobs. */
  async readRunning(ids: readonly string[]): Promise<void> {
    const running = (this.rows.peek() ?? []).filter((job) => !isEnded(job) && ids.includes(job.id));
    if (running.length === 0) return;
    const from = running.length <= READ_RUNNING ? 0 : this.#turn % running.length;
    this.#turn = from + READ_RUNNING;
    const turn = [...running.slice(from), ...running.slice(0, from)].slice(0, READ_RUNNING);
    await this.#readJobs(turn.map(({ id }) => id));
  }

  async #readJobs(ids: readonly string[]): Promise<void> {
    const { signal } = this.#abort;
    const read = await Promise.all(ids.map((id) => copra.jobs.get(id, { signal }).catch(() => undefined)));
    if (signal.aborted) return;
    batch(() => {
      for (const job of read) if (job) this.rows.value = withJob(this.rows.peek() ?? [], job);
    });
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

// Limits how often requested work runs.

/** Runs shortly after a request, and at most every `ms`. */
class Throttle {
  readonly #ms: number;
  readonly #run: () => Promise<unknown>;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #ranAt = Number.NEGATIVE_INFINITY;

  constructor(ms: number, run: () => Promise<unknown>) {
    this.#ms = ms;
    this.#run = run;
  }

  soon(): void {
    this.#timer ??= setTimeout(
      () => {
        this.#timer = undefined;
        this.#ranAt = performance.now();
        this.#run().catch(() => undefined);
      },
      Math.max(MIN_DELAY_MS, this.#ranAt + this.#ms - performance.now()),
    );
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}

/** Requests within this time run the work only once. */
const MIN_DELAY_MS = 200;
