// Decides which progress of nodes the hub forwards to jobs. While somebody follows a job, the hub forwards each step of
// two percent. Otherwise it forwards new stages, and a sign of life now and then. The hub itself notices lost
// connections. Pure, except for its memory.
import * as z from "zod";
import { type LeaseId, parseLeaseId } from "#shared/ids.ts";
import { ProgressItem, TASK_STAGES } from "#shared/protocol/frames.ts";
import type { Assignment } from "#shared/protocol/tasks.ts";
import type { SeenProgress } from "../../rpc/turn.ts";

/** Intervals of a node's reports: while somebody follows one of its jobs, and otherwise. */
export const WATCHED_EVERY_MS = 1000;
export const PROGRESS_EVERY_MS = 15_000;
/**
 * Maximum interval between two reports on a lease to its job. A lease lives 15 minutes without a report. The job asks
 * the hub about a new lease sooner (OFFER_MS).
 */
export const ALIVE_EVERY_MS = 180_000;
/**
 * Maximum interval while somebody follows the job. After ten seconds without a report, the job's object hibernates and
 * forgets progress.
 */
const WATCHED_ALIVE_MS = 5000;
/** A new stage is sent with the next report after this time, so that short tasks need no extra call. */
const STAGE_AFTER_MS = 10_000;

export const KnownProgress = z.object({
  /** The last report, and its time. The other fields describe the last forwarded report. */
  item: ProgressItem,
  itemAt: z.number(),
  sentStage: z.enum(TASK_STAGES),
  sentStep: z.number(),
  /** Number of playable streams at that time. */
  sentLive: z.number(),
  sentAt: z.number(),
  /** True if clients see the stage of the task. */
  hasStages: z.boolean(),
  /** End of the time during which somebody follows the job. */
  watchedUntil: z.number(),
});
export type KnownProgress = z.infer<typeof KnownProgress>;

/**
 * Many tasks of these kinds work on the same output. Clients see no stage of such a task unless they follow the job.
 */
const WITHOUT_STAGES: ReadonlySet<Assignment["kind"]> = new Set(["chunk", "audio", "texts"]);

/** Progress that is lost with the hub's memory is sent again. */
export class ProgressRelay {
  readonly #known = new Map<LeaseId, SentProgress>();
  readonly #watchedUntil = new Map<string, number>();

  /** Restores the known progress of some leases from another relay. */
  restore(known: readonly KnownProgress[]): void {
    for (const { watchedUntil, ...sent } of known) {
      this.#known.set(sent.item.lease, sent);
      if (watchedUntil > 0) this.watch(jobOf(sent.item.lease), watchedUntil, sent.itemAt);
    }
  }

  /** The known progress of these leases. */
  knownOf(leases: readonly string[]): KnownProgress[] {
    return leases.flatMap((lease) => {
      const known = this.#known.get(lease as LeaseId);
      return known ? [{ ...known, watchedUntil: this.#watchedUntil.get(jobOf(lease)) ?? 0 }] : [];
    });
  }

  /** Returns the reports of a node that are due now. */
  due(items: readonly ProgressItem[], now: number): ProgressItem[] {
    return items.filter((item) => this.#isSent(item, now));
  }

  /** Records that somebody follows a job. Returns the last reports on its leases. */
  watch(jobId: string, until: number, now: number): SeenProgress[] {
    this.#watchedUntil.set(jobId, Math.max(until, this.#watchedUntil.get(jobId) ?? 0));
    const ofJob = [...this.#known.values()].filter(({ item }) => jobOf(item.lease) === jobId);
    return ofJob.map(({ item, itemAt }) => ({ ...item, ageMs: now - itemAt }));
  }

  isWatched(lease: string, now: number): boolean {
    return (this.#watchedUntil.get(jobOf(lease)) ?? 0) > now;
  }

  /** Records a new lease. Its job needs no report soon. */
  assigned({ lease, token, kind }: Pick<Assignment, "lease" | "token" | "kind">, now: number): void {
    const item: ProgressItem = { lease, token, stage: "transferring", fraction: 0 };
    this.#known.set(lease, sentAs(item, now, !WITHOUT_STAGES.has(kind)));
  }

  /** Forgets leases that their node no longer holds. */
  forget(leases: Iterable<string>, now: number): void {
    for (const lease of leases) this.#known.delete(lease as LeaseId);
    for (const [job, until] of this.#watchedUntil) if (until <= now) this.#watchedUntil.delete(job);
  }

  #isSent(item: ProgressItem, now: number): boolean {
    const known = this.#known.get(item.lease);
    const wait = this.isWatched(item.lease, now) ? waitWhileWatched : waitAfter;
    if (known?.item.token === item.token && now < known.sentAt + wait(known, item)) {
      [known.item, known.itemAt] = [item, now];
      return false;
    }
    this.#known.set(item.lease, sentAs(item, now, known?.hasStages ?? true));
    return true;
  }
}

type SentProgress = Omit<KnownProgress, "watchedUntil">;

/** The known progress of a lease after its job was sent a report. */
const sentAs = (item: ProgressItem, sentAt: number, hasStages: boolean): SentProgress => ({
  item,
  itemAt: sentAt,
  sentStage: item.stage,
  sentStep: stepOf(item),
  sentLive: liveIn(item),
  sentAt,
  hasStages,
});

/** A playable stream is reported at once: somebody may wait for it. */
function waitAfter({ sentStage, sentLive, hasStages }: SentProgress, item: ProgressItem): number {
  if (liveIn(item) > sentLive) return 0;
  return item.stage === sentStage || !hasStages ? ALIVE_EVERY_MS : STAGE_AFTER_MS;
}

/** Many tasks without stages work on the same output: a single task hardly moves the percentage that clients see. */
function waitWhileWatched({ sentStage, sentStep, sentLive, hasStages }: SentProgress, item: ProgressItem): number {
  const isNew = item.stage !== sentStage || stepOf(item) !== sentStep || liveIn(item) > sentLive;
  return isNew && hasStages ? 0 : WATCHED_ALIVE_MS;
}

/** Fifty steps per task: a task of ten seconds seems to move steadily, and a task of an hour costs little. */
const stepOf = ({ fraction }: ProgressItem): number => Math.floor(fraction * 50);

const liveIn = ({ live = [] }: ProgressItem): number => live.length;

const jobOf = (lease: string): string => parseLeaseId(lease)?.job ?? "";
