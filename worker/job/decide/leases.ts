// Claims and leases: who may work on a task, for how long, and whose word counts. Pure: (state, what, now) → next state.
import { type LeaseId, parseLeaseId } from "#shared/ids.ts";
import { isTerminalOutput } from "#shared/job/output-status.ts";
import {
  type Assignment,
  LEASE_MS,
  type LeaseProof,
  OFFER_MS,
  type ProgressItem,
  type SlotClass,
  slotClassOf,
} from "#shared/protocol/protocol.ts";
import { freshChunks, twinOf } from "../chunks/chunk-work.ts";
import { type TaskSecrets, taskFor } from "../node-task.ts";
import { leaseOf, moveInputTo, moveOutputs, moveTaskTo, orphanUploads, patchTask } from "../state/job-moves.ts";
import type { JobState, TaskState } from "../state/job-state.ts";
import { moveTask } from "../state/task-table.ts";
import { endIfDone } from "./job-ending.ts";
import { madeReports, owedOutputs } from "./remaining-outputs.ts";
import { startOf } from "./storage-check.ts";
import { loseTask } from "./task-ends.ts";

export type Claim = {
  readonly nodeId: string;
  readonly session: string;
  readonly slotClass: SlotClass;
  readonly max: number;
  readonly tokens: readonly string[];
} & TaskSecrets;

/** What the job makes of a report: `current` speaks for a live grant, `repeat` was taken before, `superseded` is stale. */
export type Verdict = "current" | "repeat" | "superseded";

/** Grants up to `max` runnable tasks of a class to a node, one token each. */
export function claimTasks(state: JobState, claim: Claim, now: number): { state: JobState; assignments: Assignment[] } {
  const assignments: Assignment[] = [];
  let next = state;
  for (const task of welcomeTasks(state, claim)) {
    const token = claim.tokens[assignments.length];
    if (assignments.length >= claim.max || token === undefined) break;
    if (startOf(state, task) > now || isOvertaking(next, task, claim.nodeId)) continue;
    const grant = { nodeId: claim.nodeId, session: claim.session, token, expiresAt: now + OFFER_MS, since: now };
    const fresh = { attempt: task.attempt + 1, grant, stage: null, fraction: 0, reports: madeReports(task) };
    if (!state.tasks.includes(task)) next = { ...next, tasks: [...next.tasks, task] };
    next = moveTaskTo(orphanUploads(next, task.id), task.id, "claim", fresh);
    if (task.kind === "inspect" && claim.chunking) next = useScratch(next, claim.chunking);
    const lease = leaseOf(state, { ...task, ...fresh });
    assignments.push({ lease, token, jobId: state.spec.id, task: taskFor(state, owed(state, task), claim) });
  }
  return { state: next, assignments };
}

/** A task for what is left to do: outputs that an earlier node brought to the storage are not encoded again. */
const owed = (state: JobState, task: TaskState): TaskState => ({ ...task, outputs: owedOutputs(state, task) });

/** The tasks that a node has not failed before, if there are such. */
function welcomeTasks(state: JobState, { nodeId, slotClass }: Claim): TaskState[] {
  const tasks = runnableTasks(state, slotClass);
  const fit = tasks.filter(({ avoid }) => !avoid.includes(nodeId));
  return fit.length > 0 ? fit : tasks;
}

/** Whether a node would work on the same chunk twice. */
const isOvertaking = (state: JobState, task: TaskState, nodeId: string): boolean => {
  const other = twinOf(state, task);
  return other?.phase === "leased" && other.grant?.nodeId === nodeId;
};

const useScratch = (state: JobState, { keepMs }: NonNullable<Claim["chunking"]>): JobState => ({
  ...state,
  scratch: { ...state.scratch, isUsed: true, keepMs },
});

/**
 * Tasks that wait for a node of this class, whether or not their time has come, in the order in which they are given: what
 * takes longest first. Those of chunks that nobody has begun are not in the state yet.
 */
export function runnableTasks(state: JobState, slotClass: SlotClass): TaskState[] {
  const kept = state.tasks.filter((task) => task.phase === "pending" && slotClassOf(task) === slotClass);
  const fresh = slotClass === "encode" ? freshChunks(state) : [];
  return [...kept.toSorted((a, b) => RANK[a.kind] - RANK[b.kind]), ...fresh];
}

/** Sound is encoded by one core, and the longer for it; a chunk that comes back has held up the others already. */
const RANK: Readonly<Record<TaskState["kind"], number>> = { inspect: 0, sound: 1, encode: 2, join: 3, chunk: 4 };

/** The task that a report speaks of, and whether it may. */
export function judge(state: JobState, proof: LeaseProof): { verdict: Verdict; task: TaskState | null } {
  const named = parseLeaseId(proof.lease);
  const task = state.tasks.find((candidate) => candidate.id === named?.task) ?? null;
  if (!task && named && isTaken(state, named, proof.token)) return { verdict: "repeat", task };
  if (!task?.grant || task.attempt !== named?.attempt || task.grant.token !== proof.token) {
    return { verdict: "superseded", task };
  }
  if (task.phase === "publishing" || task.phase === "done") return { verdict: "repeat", task };
  return { verdict: moveTask(task.phase, "renew") ? "current" : "superseded", task };
}

/** Whether a lease may still store files of an output: its task is not taken from it or done, and the output has not ended. */
export function mayStore(state: JobState, lease: LeaseId, output: number): boolean {
  const named = parseLeaseId(lease);
  const task = state.tasks.find((candidate) => candidate.id === named?.task);
  const isCurrent = task?.grant != null && task.attempt === named?.attempt && moveTask(task.phase, "renew") !== null;
  return isCurrent && !isTerminalOutput(state.outputs[output]?.phase ?? "failed");
}

/** Whether the report brought a chunk, whose task is gone since then. */
const isTaken = (state: JobState, named: { task: string; attempt: number }, token: string): boolean =>
  Object.values(state.chunkResults).some(
    (result) => result.task === named.task && result.attempt === named.attempt && result.token === token,
  );

/** Renews a lease by any sign of life from its node; one that lapsed lives again if nobody else took the task. */
export function renewLease(
  state: JobState,
  proof: LeaseProof,
  now: number,
): { state: JobState; verdict: Verdict; task: TaskState | null } {
  const { verdict, task } = judge(state, proof);
  if (verdict !== "current" || !task?.grant) return { state, verdict, task };
  const grant = { ...task.grant, expiresAt: now + LEASE_MS };
  return { state: moveTaskTo(state, task.id, "renew", { grant }), verdict, task };
}

/** Takes a node's progress; statuses follow the stage that the node is in. */
export function recordProgress(
  state: JobState,
  item: ProgressItem,
  now: number,
): { state: JobState; verdict: Verdict } {
  const { state: renewed, verdict, task } = renewLease(state, item, now);
  if (verdict !== "current" || !task) return { state: renewed, verdict };
  const fraction = item.stage === task.stage ? Math.max(task.fraction, item.fraction) : item.fraction;
  const next = patchTask(renewed, task.id, { stage: item.stage, fraction });
  if (task.kind === "inspect") return { state: moveInputTo(next, "transfer"), verdict };
  if (item.stage === "transferring") return { state: next, verdict };
  const begun = moveOutputs(next, task.outputs, "start");
  if (task.kind === "chunk" || task.kind === "sound") return { state: begun, verdict };
  // All pictures and sound of the task are encoded: what is left of a stream is its playlists.
  const streams = task.outputs.filter((index) => state.spec.outputs[index]?.type === "httpstream");
  return { state: item.stage === "uploading" ? moveOutputs(begun, streams, "package") : begun, verdict };
}

/** How one sign of life renews its lease. */
export type Renewal<Item extends LeaseProof> = (
  state: JobState,
  item: Item,
  now: number,
) => { state: JobState; verdict: Verdict };

/** Renews the leases of several signs of life; answers those that their node must drop. */
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

/** A node's connection is gone: its leases live `graceMs` longer at the most. */
export function suspectSession(state: JobState, session: string, graceMs: number, now: number): JobState {
  const tasks = state.tasks.map((task) => {
    if (task.phase !== "leased" || task.grant?.session !== session) return task;
    return { ...task, grant: { ...task.grant, expiresAt: Math.min(task.grant.expiresAt, now + graceMs) } };
  });
  return { ...state, tasks };
}

/** Takes back every lease whose time is up. The grant stays, so that its node may still report until another claims. */
export function expireLeases(state: JobState, now: number): JobState {
  let next = state;
  for (const task of state.tasks) {
    // One loss too many ends other tasks of a film, too.
    const isLost = task.phase === "leased" && task.grant && task.grant.expiresAt <= now && next.tasks.includes(task);
    if (isLost) next = loseTask(next, task.id, now);
  }
  return next === state ? state : endIfDone(next, now);
}
