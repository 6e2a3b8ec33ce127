// Which progress of nodes goes on to their jobs: all of it while somebody follows a job, otherwise only a new stage and
// a sign of life now and then. The hub itself notices lost connections. Pure, except that it remembers.
import { type LeaseId, parseLeaseId } from "#shared/ids.ts";
import type { ProgressItem, TaskStage } from "#shared/protocol/frames.ts";
import type { Assignment } from "#shared/protocol/tasks.ts";

/** How often nodes report while somebody follows one of their jobs, and otherwise. */
export const WATCHED_EVERY_MS = 1000;
export const PROGRESS_EVERY_MS = 15_000;
/**
 * How often a job hears of a lease at least; a lease lives 10 minutes without, and a new one is asked for (OFFER_MS).
 */
export const ALIVE_EVERY_MS = 120_000;
/** A new stage is sent with the next report after this long, so that short tasks need no call of their own. */
const STAGE_AFTER_MS = 10_000;

type Known = {
  /** The last report, and the stage and time of the last one that was sent on. */
  item: ProgressItem;
  sentStage: TaskStage;
  /** How many streams could be played by then. */
  sentLive: number;
  sentAt: number;
  /** Whether clients see the stage of its task. */
  readonly hasStages: boolean;
};

/** Of many tasks that work on the same output, none has a stage that clients see unless they follow the job. */
const WITHOUT_STAGES: ReadonlySet<Assignment["kind"]> = new Set(["chunk", "audio"]);

/** In memory only: what is lost is sent again. */
export class ProgressRelay {
  readonly #known = new Map<LeaseId, Known>();
  readonly #watchedUntil = new Map<string, number>();

  /** The reports of a node that are sent on now. */
  take(items: readonly ProgressItem[], now: number): ProgressItem[] {
    return items.filter((item) => this.#isSent(item, now));
  }

  /** Somebody follows a job; returns the last reports on its leases. */
  watch(jobId: string, until: number): ProgressItem[] {
    this.#watchedUntil.set(jobId, Math.max(until, this.#watchedUntil.get(jobId) ?? 0));
    return [...this.#known.values()].flatMap(({ item }) => (jobOf(item.lease) === jobId ? [item] : []));
  }

  isWatched(lease: string, now: number): boolean {
    return (this.#watchedUntil.get(jobOf(lease)) ?? 0) > now;
  }

  /** A lease was assigned: its job need not hear of it soon. */
  assigned({ lease, token, kind }: Pick<Assignment, "lease" | "token" | "kind">, now: number): void {
    const item: ProgressItem = { lease, token, stage: "transferring", fraction: 0 };
    this.#known.set(lease, {
      item,
      sentStage: item.stage,
      sentLive: 0,
      sentAt: now,
      hasStages: !WITHOUT_STAGES.has(kind),
    });
  }

  /** Leases that their node no longer holds. */
  forget(leases: Iterable<string>, now: number): void {
    for (const lease of leases) this.#known.delete(lease as LeaseId);
    for (const [job, until] of this.#watchedUntil) if (until <= now) this.#watchedUntil.delete(job);
  }

  #isSent(item: ProgressItem, now: number): boolean {
    const known = this.#known.get(item.lease);
    const waitMs = known ? waitAfter(known, item) : 0;
    const isSent =
      !known || known.item.token !== item.token || this.isWatched(item.lease, now) || now >= known.sentAt + waitMs;
    const { hasStages = true } = known ?? {};
    const sentLive = liveIn(item);
    if (isSent) this.#known.set(item.lease, { item, sentStage: item.stage, sentLive, sentAt: now, hasStages });
    else known.item = item;
    return isSent;
  }
}

/** That a stream can be played is sent at once: somebody may wait for it. */
function waitAfter({ sentStage, sentLive, hasStages }: Known, item: ProgressItem): number {
  if (liveIn(item) > sentLive) return 0;
  return item.stage === sentStage || !hasStages ? ALIVE_EVERY_MS : STAGE_AFTER_MS;
}

const liveIn = ({ live = [] }: ProgressItem): number => live.length;

const jobOf = (lease: string): string => parseLeaseId(lease)?.job ?? "";
