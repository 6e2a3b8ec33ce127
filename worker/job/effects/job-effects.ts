// Derives a job's pending effects from its state alone: an effect that was lost with its object is found again.

import { backoffMs, type Random } from "#shared/backoff.ts";
import type { LeaseId } from "#shared/ids.ts";
import { isTerminalJob } from "#shared/job/job-status.ts";
import { SLOT_CLASSES, type SlotClass } from "#shared/protocol/tasks.ts";
import { BUILTIN_RETENTION_MS } from "../../storage/builtin/builtin-objects.ts";
import { speculationsDue } from "../chunks/speculative-attempts.ts";
import { runnableTasks } from "../decide/leases.ts";
import { confirmationDueAt } from "../decide/lost-leases.ts";
import { startOf } from "../decide/storage-check.ts";
import { limitOf } from "../decide/time-limits.ts";
import type { JobState, MultipartUpload } from "../state/job-state.ts";
import { type MadeReport, madeReports } from "../state/remaining-outputs.ts";
import { type TaskState, uploadKey } from "../state/task-state.ts";
import { bumpIfQueueingChanged, isQueued } from "../state/work-state.ts";
import { areEventsDue } from "./account-events.ts";
import type { Effect, PendingEffect } from "./effect.ts";
import { clearName, scratchToClear } from "./scratch-effects.ts";

/**
 * Minutes after which jobs advertise their tasks again, in case the hub has lost its tickets. The last value repeats.
 */
const READVERTISE_MINUTES = [5, 10, 20, 60];
/** Jitter (±10 %), so that waiting jobs do not advertise all at once. */
const READVERTISE_SPREAD = 0.1;
const RETRY = { firstMs: 500, maxMs: 5 * 60_000 };
/** Attempts to abort a multipart upload. After them the upload is left to the bucket's lifecycle rules. */
const MAX_ABORTS = 8;

/** Time that a purge waits for storage that cannot be cleared. Then the job's secrets are deleted anyway. */
const CLEARING_GRACE_MS = 24 * 60 * 60_000;
/**
 * Minimum time for which an ended job is kept while a notification is due. It is longer than the schedule of the last
 * notification (75.6 h, notification.ts). It is limited, because earlier notifications that fail delay the last.
 */
const NOTIFYING_MS = 4 * 24 * 60 * 60_000;

/** Retention of a probe after its end. */
const KEEP_PROBE_MS = 24 * 60 * 60_000;

/** All pending effects of a state with their due times. */
export function pendingEffects(state: JobState, retentionMs: number): PendingEffect[] {
  const pendingEffect = (name: string, dueAt: number, effect: Effect): PendingEffect => ({
    name,
    dueAt: Math.max(dueAt, state.retries[name]?.at ?? 0),
    effect,
  });
  const pending: PendingEffect[] = [];
  for (const slotClass of SLOT_CLASSES) {
    const dueAt = advertiseDueAt(state, slotClass);
    if (dueAt !== null) pending.push(pendingEffect(`advertise:${slotClass}`, dueAt, { kind: "advertise", slotClass }));
  }
  if (state.storageCheck && !isTerminalJob(state.status)) {
    pending.push(pendingEffect("check-storage", 0, { kind: "check-storage" }));
  }
  for (const task of state.tasks) {
    for (const report of madeReports(task)) {
      pending.push(pendingEffect(completionName(task, report), 0, { kind: "complete-uploads", task, report }));
    }
  }
  const confirmAt = confirmationDueAt(state);
  if (confirmAt !== null) pending.push(pendingEffect("confirm-leases", confirmAt, { kind: "confirm-leases" }));
  if (state.revoked.length > 0) pending.push(pendingEffect("revoke", 0, { kind: "revoke", leases: state.revoked }));
  for (const upload of state.orphans) {
    pending.push(pendingEffect(`abort-upload:${upload.uploadId}`, 0, { kind: "abort-upload", upload }));
  }
  const isIndexed = state.spec.isProbe || state.indexedVersion >= state.version;
  // News of an unfinished job may be 30 s late unless somebody listens. A missing requirement is indexed at once.
  const isNews = !state.isListened && !isTerminalJob(state.status);
  const isProgress = isNews && state.runningSince !== null;
  if (!isIndexed) pending.push({ ...pendingEffect("index", 0, { kind: "index" }), isNews: isProgress });
  if (areEventsDue(state)) pending.push({ ...pendingEffect("emit", 0, { kind: "emit" }), isNews });
  // One delivery at a time for each receiver keeps the events of a job in order.
  const due = state.outbox.filter((delivery) => delivery.state === "due");
  const first = new Map(due.toReversed().map((delivery) => [delivery.receiver ?? 0, delivery]));
  for (const delivery of first.values())
    pending.push(pendingEffect(`deliver:${delivery.id}`, delivery.nextAt, { kind: "deliver", delivery }));
  if (isTerminalJob(state.status) && state.spec.storage.kind === "builtin" && !state.storageCleared) {
    pending.push(
      pendingEffect("clear-storage", (state.completedAt ?? 0) + BUILTIN_RETENTION_MS, { kind: "clear-storage" }),
    );
  }
  for (const { folder, dueAt } of scratchToClear(state)) {
    pending.push(pendingEffect(clearName(folder), dueAt, { kind: "clear-scratch", folder }));
  }
  if (isTerminalJob(state.status) && isIndexed) {
    // The purge is the last effect: afterwards nothing knows which objects are left elsewhere.
    const isClearing = pending.some(({ effect }) => effect.kind === "clear-storage" || effect.kind === "clear-scratch");
    const keptMs = state.spec.isProbe ? KEEP_PROBE_MS : retentionMs + (isClearing ? CLEARING_GRACE_MS : 0);
    const dueAt = (state.completedAt ?? 0) + Math.max(keptMs, due.length > 0 ? NOTIFYING_MS : 0);
    pending.push(pendingEffect("purge", dueAt, { kind: "purge" }));
  }
  return pending;
}

/** The name of the effect that completes an output's uploads. */
export const completionName = ({ id }: TaskState, { output }: MadeReport): string => `complete-uploads:${id}:${output}`;

function advertiseDueAt(state: JobState, slotClass: SlotClass): number | null {
  const advertisedAt = state.advertisedAt[slotClass] ?? null;
  const startTimes = runnableTasks(state, slotClass).map((task) => startOf(state, task));
  if (startTimes.length === 0) return null;
  if (advertisedAt === null) return Math.min(...startTimes);
  // Tasks that had to wait were not advertised: each task is advertised when it may start.
  return Math.min(advertisedAt + readvertiseMs(state, slotClass), ...startTimes.filter((at) => at > advertisedAt));
}

/** Time that a job waits before it advertises a class again. */
function readvertiseMs({ spec, advertisements }: JobState, slotClass: SlotClass): number {
  const count = Math.max(1, advertisements[slotClass] ?? 0);
  const minutes = READVERTISE_MINUTES[Math.min(count, READVERTISE_MINUTES.length) - 1] ?? 0;
  // Whole milliseconds, as alarms: an alarm that rings a fraction too early would ring again at once.
  return Math.round(minutes * 60_000 * (1 + READVERTISE_SPREAD * (2 * hashOf(`${spec.id} ${count}`) - 1)));
}

/** Hash of a text as a number from 0 to 1 (FNV-1a). */
function hashOf(text: string): number {
  const hash = [...text].reduce((sum, char) => Math.imul(sum ^ char.charCodeAt(0), 0x01000193), 0x811c9dc5);
  return (hash >>> 0) / 2 ** 32;
}

/**
 * Time of the job's next alarm: the first effect (never before the time that `notBefore` returns), the first lease to
 * expire, the first chunk to count as slow, or the job's time limit. Null if nothing is left to do.
 */
export function nextAlarmAt(
  state: JobState,
  notBefore: (pending: PendingEffect) => number,
  retentionMs: number,
): number | null {
  const leases = state.tasks.flatMap((task) => (task.phase === "leased" && task.lease ? [task.lease.expiresAt] : []));
  const effects = pendingEffects(state, retentionMs).map((pending) => Math.max(pending.dueAt, notBefore(pending)));
  const speculations = speculationsDue(state).map(({ at }) => at);
  const limit = limitOf(state);
  const times = [...effects, ...leases, ...speculations, ...(limit ? [limit.at] : [])];
  return times.length > 0 ? Math.min(...times) : null;
}

/** Time of the sweeper's next check: some time after the alarm should have rung, so that only stuck jobs are found. */
export const nextCheckAt = (state: JobState, now: number, retentionMs: number): number =>
  Math.ceil(Math.max(now, nextAlarmAt(state, () => 0, retentionMs) ?? now)) + checkAfterMs(now - state.spec.createdAt);
/** Longer than any alarm is late. */
export const CHECK_AFTER_MS = 10 * 60_000;
const MAX_CHECK_AFTER_MS = 60 * 60_000;

/** A check costs a request and two rows: an old job was checked before, and is checked less often. */
const checkAfterMs = (ageMs: number): number => Math.min(MAX_CHECK_AFTER_MS, Math.max(CHECK_AFTER_MS, 2 * ageMs));

/**
 * Notes that the row in the index is older than the confirmed version: the row was restored from a backup, or a write
 * was lost.
 */
export const indexBehind = (state: JobState, rowVersion: number): JobState =>
  rowVersion < state.indexedVersion ? { ...state, indexedVersion: rowVersion } : state;

/**
 * Maximum number of requests that the effects of an invocation send to other services. Cloudflare's Free plan ends an
 * invocation that sends more than 50.
 */
const MAX_REQUESTS = 40;

/** Requests that an effect sends to other services. A scratch folder is cleared in pages of a hundred objects. */
export function requestsOf({ effect }: PendingEffect): number {
  if (effect.kind === "clear-scratch") return 10;
  if (effect.kind === "complete-uploads") {
    const { task, report } = effect;
    return report.files.filter((file) => task.uploads[uploadKey(file)]?.uploadId).length;
  }
  return ["check-storage", "abort-upload", "deliver"].includes(effect.kind) ? 1 : 0;
}

/** Effects that may run in an invocation whose effects have sent `sent` requests. The first effect may send more. */
export function affordable(due: readonly PendingEffect[], sent: number): PendingEffect[] {
  let sum = sent;
  return due.filter((pending) => {
    const count = requestsOf(pending);
    const isRun = count === 0 || sum === 0 || sum + count <= MAX_REQUESTS;
    if (isRun) sum += count;
    return isRun;
  });
}

/** Forgets the failures of an effect that succeeded. */
export function effectDone(state: JobState, name: string): JobState {
  if (!state.retries[name]) return state;
  const { [name]: _done, ...retries } = state.retries;
  return { ...state, retries };
}

/** Schedules a failed effect again, with increasing delay. */
export function effectFailed(state: JobState, name: string, now: number, random: Random): JobState {
  const attempts = (state.retries[name]?.attempts ?? 0) + 1;
  const at = now + RETRY.firstMs + backoffMs(attempts, RETRY, random);
  return { ...state, retries: { ...state.retries, [name]: { attempts, at } } };
}

export const advertised = (state: JobState, slotClass: SlotClass, now: number): JobState => ({
  ...state,
  advertisedAt: { ...state.advertisedAt, [slotClass]: now },
  advertisements: { ...state.advertisements, [slotClass]: (state.advertisements[slotClass] ?? 0) + 1 },
});

/**
 * Notes that the index has a row of the state `written`. A job that started or stopped waiting since then has changed.
 */
export function indexed(state: JobState, written: JobState): JobState {
  const indexedVersion = Math.max(state.indexedVersion, written.version);
  const next = { ...state, indexedVersion, isIndexedQueued: isQueued(written) };
  return isTerminalJob(state.status) ? next : bumpIfQueueingChanged(next);
}

export const revoked = (state: JobState, leases: readonly LeaseId[]): JobState => ({
  ...state,
  revoked: state.revoked.filter((lease) => !leases.includes(lease)),
});

/** Forgets an upload that is gone, or that could not be aborted in all attempts. */
export function uploadAborted(state: JobState, upload: MultipartUpload): JobState {
  return { ...state, orphans: state.orphans.filter(({ uploadId }) => uploadId !== upload.uploadId) };
}

export const mayAbortAgain = (state: JobState, upload: MultipartUpload): boolean =>
  (state.retries[`abort-upload:${upload.uploadId}`]?.attempts ?? 0) < MAX_ABORTS;
