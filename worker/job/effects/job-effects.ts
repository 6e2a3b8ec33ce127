// What a job still owes the world, derived from its state alone: a step that a lost object never took is found again.

import { backoffMs, type Random } from "#shared/backoff.ts";
import type { LeaseId } from "#shared/ids.ts";
import { isTerminalJob } from "#shared/job/job-status.ts";
import { SLOT_CLASSES, type SlotClass } from "#shared/protocol/protocol.ts";
import { BUILTIN_RETENTION_MS } from "../../storage/builtin/builtin-objects.ts";
import { twinsDue } from "../chunks/speculative-attempts.ts";
import { runnableTasks } from "../decide/leases.ts";
import { type MadeReport, madeReports } from "../decide/remaining-outputs.ts";
import { startOf } from "../decide/storage-check.ts";
import type { Delivery, JobState, MultipartUpload, TaskState } from "../state/job-state.ts";
import { clearName, scratchToClear } from "./scratch-effects.ts";

export type Effect =
  /** Tell the hub how many tasks of a class wait. */
  | { kind: "advertise"; slotClass: SlotClass }
  /** Ask the storage whether it takes files, before anything is encoded. */
  | { kind: "check-storage" }
  /** Have the storage complete the multipart uploads of an output that a node has made. */
  | { kind: "publish"; task: TaskState; report: MadeReport }
  /** Tell the nodes whose leases ended under their hands. */
  | { kind: "revoke"; leases: LeaseId[] }
  | { kind: "abort-upload"; upload: MultipartUpload }
  /** Bring the job's row in the index up to date. */
  | { kind: "index" }
  | { kind: "deliver"; delivery: Delivery }
  /** Remove what the job left in the service's own storage. */
  | { kind: "clear-storage" }
  /** Remove one of its folders in the scratch bucket. */
  | { kind: "clear-scratch"; folder: number }
  /** Forget everything: the retention is over. */
  | { kind: "purge" };

export type PendingEffect = { name: string; dueAt: number; effect: Effect };

/** The hub keeps tickets on its disk; a hub that lost them all learns of them again within this time. */
const READVERTISE_MS = 5 * 60_000;
const RETRY = { firstMs: 500, maxMs: 5 * 60_000 };
/** Multipart uploads that could not be aborted so often are left to the bucket's own lifecycle rules. */
const MAX_ABORTS = 8;

/** How much later a job is forgotten that cannot remove what it left elsewhere: its secrets go, whatever else stays. */
const CLEARING_GRACE_MS = 24 * 60 * 60_000;
/**
 * How long after its end a job is kept at the least while a notification is due: longer than the schedule of the last
 * one (75.6 h, notification.ts), and no longer, because earlier ones that fail hold it up.
 */
const TELLING_MS = 4 * 24 * 60 * 60_000;

/** All effects of a state with their due times, earlier ones of a kind first. */
export function pendingEffects(state: JobState, retentionMs: number): PendingEffect[] {
  const owed = (name: string, dueAt: number, effect: Effect): PendingEffect => ({
    name,
    dueAt: Math.max(dueAt, state.retries[name]?.at ?? 0),
    effect,
  });
  const pending: PendingEffect[] = [];
  for (const slotClass of SLOT_CLASSES) {
    const dueAt = advertiseDueAt(state, slotClass);
    if (dueAt !== null) pending.push(owed(`advertise:${slotClass}`, dueAt, { kind: "advertise", slotClass }));
  }
  if (state.storageCheck && !isTerminalJob(state.status)) {
    pending.push(owed("check-storage", 0, { kind: "check-storage" }));
  }
  for (const task of state.tasks) {
    for (const report of madeReports(task)) {
      pending.push(owed(publishName(task, report), 0, { kind: "publish", task, report }));
    }
  }
  if (state.revoked.length > 0) pending.push(owed("revoke", 0, { kind: "revoke", leases: state.revoked }));
  for (const upload of state.orphans) {
    pending.push(owed(`abort-upload:${upload.uploadId}`, 0, { kind: "abort-upload", upload }));
  }
  if (state.indexedVersion < state.version) pending.push(owed("index", 0, { kind: "index" }));
  // One delivery at a time keeps the events of a job in order.
  const delivery = state.outbox.find((candidate) => candidate.state === "due");
  if (delivery) pending.push(owed(`deliver:${delivery.id}`, delivery.nextAt, { kind: "deliver", delivery }));
  if (isTerminalJob(state.status) && state.spec.storage.kind === "builtin" && !state.storageCleared) {
    pending.push(owed("clear-storage", (state.completedAt ?? 0) + BUILTIN_RETENTION_MS, { kind: "clear-storage" }));
  }
  for (const { folder, dueAt } of scratchToClear(state)) {
    pending.push(owed(clearName(folder), dueAt, { kind: "clear-scratch", folder }));
  }
  if (isTerminalJob(state.status) && state.indexedVersion >= state.version) {
    // Forgetting is the last effect: what was to be removed elsewhere would be forgotten with the job.
    const isClearing = pending.some(({ effect }) => effect.kind === "clear-storage" || effect.kind === "clear-scratch");
    const keptMs = retentionMs + (isClearing ? CLEARING_GRACE_MS : 0);
    const dueAt = (state.completedAt ?? 0) + Math.max(keptMs, delivery ? TELLING_MS : 0);
    pending.push(owed("purge", dueAt, { kind: "purge" }));
  }
  return pending;
}

/** The name of the effect that completes an output's uploads. */
export const publishName = ({ id }: TaskState, { output }: MadeReport): string => `publish:${id}:${output}`;

function advertiseDueAt(state: JobState, slotClass: SlotClass): number | null {
  const advertisedAt = state.advertisedAt[slotClass] ?? null;
  const startTimes = runnableTasks(state, slotClass).map((task) => startOf(state, task));
  if (startTimes.length === 0) return null;
  if (advertisedAt === null) return Math.min(...startTimes);
  // Tasks that had to wait then were not told of: each is when its time comes.
  return Math.min(advertisedAt + READVERTISE_MS, ...startTimes.filter((at) => at > advertisedAt));
}

/**
 * When the job's alarm must ring next: for the soonest effect, each no sooner than `notBefore` says, or for the soonest
 * end of a lease, or for a chunk that is slow; null when nothing is left to do.
 */
export function nextAlarmAt(
  state: JobState,
  notBefore: (pending: PendingEffect) => number,
  retentionMs: number,
): number | null {
  const leases = state.tasks.flatMap((task) => (task.phase === "leased" && task.grant ? [task.grant.expiresAt] : []));
  const effects = pendingEffects(state, retentionMs).map((pending) => Math.max(pending.dueAt, notBefore(pending)));
  const twins = twinsDue(state).map(({ at }) => at);
  const times = [...effects, ...leases, ...twins];
  return times.length > 0 ? Math.min(...times) : null;
}

/**
 * When the sweeper is to ask after the job: a while after its alarm was to ring, or after now. A job that is begun, or
 * whose row is written, is heard of by then or in trouble.
 */
export const nextCheckAt = (state: JobState, now: number, retentionMs: number): number =>
  Math.max(now, nextAlarmAt(state, () => 0, retentionMs) ?? now) + CHECK_AFTER_MS;
/** Longer than two rounds of the alarm of a job that only waits. */
export const CHECK_AFTER_MS = 2 * READVERTISE_MS;

/** The index is behind what it confirmed: it was set back, or never took what it said it took. */
export const indexBehind = (state: JobState, rowVersion: number): JobState =>
  rowVersion < state.indexedVersion ? { ...state, indexedVersion: rowVersion } : state;

/** An effect went well: forget its failures. */
export function effectDone(state: JobState, name: string): JobState {
  if (!state.retries[name]) return state;
  const { [name]: _done, ...retries } = state.retries;
  return { ...state, retries };
}

/** An effect failed: try again later, each time later still. */
export function effectFailed(state: JobState, name: string, now: number, random: Random): JobState {
  const attempts = (state.retries[name]?.attempts ?? 0) + 1;
  const at = now + RETRY.firstMs + backoffMs(attempts, RETRY, random);
  return { ...state, retries: { ...state.retries, [name]: { attempts, at } } };
}

export const advertised = (state: JobState, slotClass: SlotClass, now: number): JobState => ({
  ...state,
  advertisedAt: { ...state.advertisedAt, [slotClass]: now },
});

export const indexed = (state: JobState, version: number): JobState => ({
  ...state,
  indexedVersion: Math.max(state.indexedVersion, version),
});

export const revoked = (state: JobState, leases: readonly LeaseId[]): JobState => ({
  ...state,
  revoked: state.revoked.filter((lease) => !leases.includes(lease)),
});

/** The upload is gone, or so often not to be aborted that nobody will try again. */
export function uploadAborted(state: JobState, upload: MultipartUpload): JobState {
  return { ...state, orphans: state.orphans.filter(({ uploadId }) => uploadId !== upload.uploadId) };
}

export const mayAbortAgain = (state: JobState, upload: MultipartUpload): boolean =>
  (state.retries[`abort-upload:${upload.uploadId}`]?.attempts ?? 0) < MAX_ABORTS;
