// Which progress of nodes goes on to their jobs: while somebody follows a job each step of two percent, otherwise only
// a new stage and a sign of life now and then. The hub itself notices lost connections. Pure, except that it remembers.
import * as z from "zod";
import { type LeaseId, parseLeaseId } from "#shared/ids.ts";
import { ProgressItem, TASK_STAGES } from "#shared/protocol/frames.ts";
import type { Assignment } from "#shared/protocol/tasks.ts";

/** How often nodes report while somebody follows one of their jobs, and otherwise. */
export const WATCHED_EVERY_MS = 1000;
export const PROGRESS_EVERY_MS = 15_000;
/**
 * How often a job hears of a lease at least; a lease lives 10 minutes without, and a new one is asked for (OFFER_MS).
 */
export const ALIVE_EVERY_MS = 120_000;
/**
 * How often a job that is followed hears of a lease at least. Below the ten seconds after which its object hibernates
 * and forgets progress.
 */
const WATCHED_ALIVE_MS = 5000;
/** A new stage is sent with the next report after this long, so that short tasks need no call of their own. */
const STAGE_AFTER_MS = 10_000;

export const KnownProgress = z.object({
  /** The last report, and the stage, the step and the time of the last one that was sent on. */
  item: ProgressItem,
  sentStage: z.enum(TASK_STAGES),
  sentStep: z.number(),
  /** How many streams could be played by then. */
  sentLive: z.number(),
  sentAt: z.number(),
  /** True if clients see the stage of its task. */
  hasStages: z.boolean(),
  /** Until when somebody follows its job. */
  watchedUntil: z.number(),
});
export type KnownProgress = z.infer<typeof KnownProgress>;

/** Of many tasks that work on the same output, none has a stage that clients see unless they follow the job. */
const WITHOUT_STAGES: ReadonlySet<Assignment["kind"]> = new Set(["chunk", "audio"]);

/** What is lost with the hub's memory is sent again. */
export class ProgressRelay {
  readonly #known = new Map<LeaseId, SentProgress>();
  readonly #watchedUntil = new Map<string, number>();

  /** Takes back what another one knew of some leases. */
  restore(known: readonly KnownProgress[]): void {
    for (const { watchedUntil, ...own } of known) {
      this.#known.set(own.item.lease, own);
      if (watchedUntil > 0) this.watch(jobOf(own.item.lease), watchedUntil);
    }
  }

  /** What it knows of these leases. */
  knownOf(leases: readonly string[]): KnownProgress[] {
    return leases.flatMap((lease) => {
      const known = this.#known.get(lease as LeaseId);
      return known ? [{ ...known, watchedUntil: this.#watchedUntil.get(jobOf(lease)) ?? 0 }] : [];
    });
  }

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
    this.#known.set(lease, sentAs(item, now, !WITHOUT_STAGES.has(kind)));
  }

  /** Leases that their node no longer holds. */
  forget(leases: Iterable<string>, now: number): void {
    for (const lease of leases) this.#known.delete(lease as LeaseId);
    for (const [job, until] of this.#watchedUntil) if (until <= now) this.#watchedUntil.delete(job);
  }

  #isSent(item: ProgressItem, now: number): boolean {
    const known = this.#known.get(item.lease);
    const wait = this.isWatched(item.lease, now) ? waitWhileWatched : waitAfter;
    if (known?.item.token === item.token && now < known.sentAt + wait(known, item)) {
      known.item = item;
      return false;
    }
    this.#known.set(item.lease, sentAs(item, now, known?.hasStages ?? true));
    return true;
  }
}

type SentProgress = Omit<KnownProgress, "watchedUntil">;

/** What is known of a lease after its job was sent a report. */
const sentAs = (item: ProgressItem, sentAt: number, hasStages: boolean): SentProgress => ({
  item,
  sentStage: item.stage,
  sentStep: stepOf(item),
  sentLive: liveIn(item),
  sentAt,
  hasStages,
});

/** That a stream can be played is sent at once: somebody may wait for it. */
function waitAfter({ sentStage, sentLive, hasStages }: SentProgress, item: ProgressItem): number {
  if (liveIn(item) > sentLive) return 0;
  return item.stage === sentStage || !hasStages ? ALIVE_EVERY_MS : STAGE_AFTER_MS;
}

/** Of many tasks that work on the same output, none moves the percentage that clients see by much. */
function waitWhileWatched({ sentStage, sentStep, sentLive, hasStages }: SentProgress, item: ProgressItem): number {
  const isNew = item.stage !== sentStage || stepOf(item) !== sentStep || liveIn(item) > sentLive;
  return isNew && hasStages ? 0 : WATCHED_ALIVE_MS;
}

/** Fifty steps a task: a task of ten seconds seems to move steadily, and a task of an hour costs little. */
const stepOf = ({ fraction }: ProgressItem): number => Math.floor(fraction * 50);

const liveIn = ({ live = [] }: ProgressItem): number => live.length;

const jobOf = (lease: string): string => parseLeaseId(lease)?.job ?? "";
