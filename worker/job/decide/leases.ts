// Claims and leases: which node works on which task, and for how long. Pure: (state, input, now) → next state.
import type { LeaseId } from "#shared/ids.ts";
import type { ProgressItem } from "#shared/protocol/frames.ts";
import { LEASE_MS, type LeaseProof, OFFER_MS } from "#shared/protocol/leases.ts";
import { signatureOf } from "#shared/protocol/requirements.ts";
import { type Assignment, type SlotClass, slotClassOf } from "#shared/protocol/tasks.ts";
import type { ClaimRequest } from "../../rpc/turn.ts";
import { freshChunks, isChunkedTask, joinsEarly, otherAttempt } from "../chunks/chunk-work.ts";
import type { TaskSecrets } from "../secrets/task-secrets.ts";
import { checkLease, type LeaseVerdict } from "../state/check-lease.ts";
import {
  bumpVersion,
  leaseIdOf,
  moveInputTo,
  moveOutputs,
  moveTaskTo,
  orphanUploads,
  patchTask,
} from "../state/job-moves.ts";
import type { JobState } from "../state/job-state.ts";
import { madeReports, remainingOutputs } from "../state/remaining-outputs.ts";
import type { TaskState } from "../state/task-state.ts";
import { bumpIfQueueingChanged, isStoring } from "../state/work-state.ts";
import { publicPlaylists } from "../views/job-view.ts";
import { taskFor } from "./node-task.ts";
import { requirementsOf, waitsFor } from "./requirements.ts";
import { startOf } from "./storage-check.ts";

/** A node's request for work, with the source of tokens for its leases. */
export type Claim = ClaimRequest & TaskSecrets & { readonly newToken: (lease: LeaseId) => string };

/**
 * Leases up to `max` runnable tasks of a class to a node, each with its own token. A repeated claim gets the leases of
 * the first claim.
 */
export function claimTasks(state: JobState, claim: Claim, now: number): { state: JobState; assignments: Assignment[] } {
  if (isRepeated(state, claim)) {
    const held = state.tasks.filter((task) => isOfRequest(task, claim));
    return { state, assignments: held.flatMap((task) => assignmentOf(state, task, claim)) };
  }
  const assignments: Assignment[] = [];
  let next = state;
  for (const task of preferredTasks(state, claim)) {
    if (assignments.length >= claim.max) break;
    if (startOf(state, task) > now || worksOnSameChunk(next, task, claim.nodeId)) continue;
    const attempt = task.attempt + 1;
    const token = claim.newToken(leaseIdOf(state, { ...task, attempt }));
    const lease = newLease(claim, token, joinsEarly(next, task), now);
    const leased = { attempt, lease, stage: null, fraction: 0, rate: null, live: [], reports: madeReports(task) };
    if (!state.tasks.includes(task)) next = { ...next, tasks: [...next.tasks, task] };
    next = moveTaskTo(orphanUploads(next, task.id), task.id, "claim", leased);
    if (task.kind === "inspect" && claim.chunking) next = useScratch(next);
    assignments.push(...assignmentOf(state, { ...task, ...leased }, claim));
  }
  if (assignments.length > 0) {
    next = { ...waitsFor(next, claim.slotClass, null), runningSince: state.runningSince ?? now, workedAt: now };
    next = bumpIfQueueingChanged(next);
  }
  return { state: next, assignments };
}

const newLease = (
  { nodeId, session, requestId }: Claim,
  token: string,
  waits: boolean,
  now: number,
): TaskState["lease"] => ({
  nodeId,
  session,
  token,
  expiresAt: now + LEASE_MS,
  since: now,
  confirmBy: now + OFFER_MS,
  isSuspected: false,
  ...(requestId === undefined ? {} : { requestId }),
  ...(waits ? { waitedUntil: null } : {}),
});

const isOfRequest = ({ phase, lease }: TaskState, { requestId }: ClaimRequest): boolean =>
  requestId !== undefined && phase === "leased" && lease?.requestId === requestId;

/** True if leases of the same claim exist: the answer to the claim was lost. */
export const isRepeated = (state: JobState, claim: ClaimRequest): boolean =>
  state.tasks.some((task) => isOfRequest(task, claim));

function assignmentOf(state: JobState, task: TaskState, claim: Claim): Assignment[] {
  if (!task.lease) return [];
  const { kind, lease } = task;
  const { trace } = state.spec;
  const playlists = publicPlaylists(state, task);
  return [
    {
      lease: leaseIdOf(state, task),
      token: lease.token,
      jobId: state.spec.id,
      kind,
      slotClass: slotClassOf(task),
      round: state.round,
      // Outputs that an earlier node stored are not encoded again.
      task: taskFor(state, { ...task, outputs: remainingOutputs(state, task) }, claim),
      ...(playlists.length > 0 ? { playlists } : {}),
      ...(trace ? { trace } : {}),
    },
  ];
}

/** True if no task has the claimed requirements any more: the job must advertise its current tasks. */
export const isOutdated = (state: JobState, claim: ClaimRequest): boolean =>
  runnableTasks(state, claim.slotClass).length > 0 && !requiredTasks(state, claim).length;

/** The tasks with the claimed requirements. */
function requiredTasks(state: JobState, { slotClass, signature }: ClaimRequest): TaskState[] {
  const tasks = runnableTasks(state, slotClass);
  if (signature === undefined) return tasks;
  return tasks.filter((task) => signatureOf(requirementsOf(state, task)) === signature);
}

/** Tasks that a node is able to do, without tasks that it has failed before, unless only such tasks are left. */
function preferredTasks(state: JobState, claim: Claim): TaskState[] {
  const tasks = requiredTasks(state, claim);
  const preferred = tasks.filter(({ avoid }) => !avoid.includes(claim.nodeId));
  return preferred.length > 0 ? preferred : tasks;
}

/** True if a node already works on the other attempt of a chunk. */
const worksOnSameChunk = (state: JobState, task: TaskState, nodeId: string): boolean => {
  const other = otherAttempt(state, task);
  return other?.phase === "leased" && other.lease?.nodeId === nodeId;
};

const useScratch = (state: JobState): JobState => ({ ...state, scratch: { ...state.scratch, isUsed: true } });

/**
 * Tasks that wait for a node of this class, even if they may not start yet, in the order of leasing: the longest first.
 * Chunks that no node has started come last: their tasks are not in the state yet.
 */
export function runnableTasks(state: JobState, slotClass: SlotClass): TaskState[] {
  const pending = state.tasks.filter((task) => task.phase === "pending" && slotClassOf(task) === slotClass);
  const fresh = slotClass === "encode" ? freshChunks(state) : [];
  return [...pending.toSorted((a, b) => RANK[a.kind] - RANK[b.kind]), ...fresh];
}

/**
 * Chunks may wait for text. Audio takes long, because a single core encodes it. A chunk that is encoded again already
 * delays the other chunks.
 */
const RANK: Readonly<Record<TaskState["kind"], number>> = {
  inspect: 0,
  texts: 1,
  audio: 2,
  encode: 3,
  join: 4,
  chunk: 5,
};

type Renewed = { readonly state: JobState; readonly verdict: LeaseVerdict };

/**
 * Renews a lease after any report from its node. An expired lease becomes valid again if no other node has the task.
 */
export function renewLease(
  state: JobState,
  proof: LeaseProof,
  now: number,
): Renewed & { readonly task: TaskState | null } {
  const { verdict, task } = checkLease(state, proof);
  if (verdict !== "current" || !task?.lease) return { state, verdict, task };
  const lease = { ...task.lease, expiresAt: now + LEASE_MS, confirmBy: null, isSuspected: false };
  // A node that only waits for chunks does not work on the job (time-limits.ts).
  const workedAt = lease.waitedUntil === null ? state.workedAt : now;
  return { state: { ...moveTaskTo(state, task.id, "renew", { lease }), workedAt }, verdict, task };
}

/** Records a node's progress; statuses follow the stage of the task. */
export function recordProgress(state: JobState, item: ProgressItem, now: number): Renewed {
  const { state: renewed, verdict, task } = renewLease(state, item, now);
  if (verdict !== "current" || !task) return { state: renewed, verdict };
  const fraction = item.stage === task.stage ? Math.max(task.fraction, item.fraction) : item.fraction;
  const isHeldNow = (item.stage === "holding") !== (task.stage === "holding");
  const next = patchTask(isHeldNow ? bumpVersion(renewed) : renewed, task.id, {
    stage: item.stage,
    fraction,
    rate: rateOf(item),
    live: item.live ?? [],
  });
  if (task.kind === "inspect") return { state: moveInputTo(next, "transfer"), verdict };
  if (item.stage === "transferring") return { state: next, verdict };
  const started = moveOutputs(next, task.outputs, "start");
  const isPart = isChunkedTask(task) && task.kind !== "join";
  if (isPart || !isStoring(item.stage)) return { state: started, verdict };
  // All frames and audio of the task are encoded: only the playlists of its streams remain.
  const streams = task.outputs.filter((index) => state.spec.outputs[index]?.type === "httpstream");
  return { state: moveOutputs(started, streams, "package"), verdict };
}

function rateOf({ fps, speed }: ProgressItem): TaskState["rate"] {
  if (fps === undefined && speed === undefined) return null;
  return { ...(fps === undefined ? {} : { fps }), ...(speed === undefined ? {} : { speed }) };
}

/** Renews the lease of a report. */
export type Renewal<Item extends LeaseProof> = (state: JobState, item: Item, now: number) => Renewed;

/** Renews the leases of several reports. Returns the leases that their nodes must drop. */
export function renewAll<Item extends LeaseProof>(
  state: JobState,
  items: readonly Item[],
  renew: Renewal<Item>,
  now: number,
): { state: JobState; dropped: LeaseId[] } {
  let next = state;
  const dropped: LeaseId[] = [];
  for (const item of items) {
    const renewed = renew(next, item, now);
    if (renewed.verdict === "current") next = renewed.state;
    else dropped.push(item.lease);
  }
  return { state: next, dropped };
}
