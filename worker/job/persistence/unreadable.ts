// Decides about a job whose stored state cannot be read, because of a bug in this version of the service or another
// version. Pure: (stored entries, now) → verdict.
import * as z from "zod";
import { isTerminalOutput } from "#shared/job/output-status.ts";
import { Delivery } from "../../notify/delivery.ts";
import { JobSpec, RequestBody } from "../../rpc/job-spec.ts";
import { endIfDone, failOutput } from "../decide/job-ending.ts";
import { NO_SCRATCH } from "../state/chunk-state.ts";
import { orphanUploads, patchTask } from "../state/job-moves.ts";
import { JobState, MultipartUpload, newJob, OutputState } from "../state/job-state.ts";
import { TaskState } from "../state/task-state.ts";
import { LOST_JOB } from "../views/lost-view.ts";

/** Thrown by an object that cannot read its state. It crosses RPC with `retryable`, so that callers try again. */
export class UnreadableState extends Error {
  override readonly name = "UnreadableState";
  readonly retryable = true;
}

/**
 * Time that the job waits for a version of the service that can read the state: a faulty version is rolled back by
 * then.
 */
const GRACE_MS = 60 * 60_000;
const CHECK_EVERY_MS = 5 * 60_000;
/** An ended job has only its notifications and its purge left to do. */
const CHECK_ENDED_EVERY_MS = 60 * 60_000;

export type UnreadableVerdict = { do: "wait"; ms: number } | { do: "end"; state: JobState } | { do: "forget" };

/** The needed members of the entry `rest` (job-store.ts), each with a default of its own. */
const Rest = z.object({
  completedAt: z.number().nullable().catch(null),
  round: z.int().catch(0),
  // Higher than the version of any job, so that the index accepts the next version.
  version: z.int().catch(1_000_000),
  scratch: JobState.shape.scratch.catch(NO_SCRATCH),
  orphans: z.unknown().transform((entries) => readable(MultipartUpload, entries)),
});

/**
 * Judges entries that are not a valid state. `since`: time of the first failure to read them. A running job fails after
 * GRACE_MS, and keeps its finished outputs. A job without a readable specification is forgotten, and the sweeper ends
 * its row.
 */
export function judgeUnreadable(
  stored: ReadonlyMap<string, unknown>,
  { since, now, retentionMs }: { since: number; now: number; retentionMs: number },
): UnreadableVerdict {
  const rest = Rest.parse(Object(stored.get("rest")));
  if (rest.completedAt !== null) {
    const leftMs = rest.completedAt + retentionMs - now;
    return leftMs <= 0 ? { do: "forget" } : { do: "wait", ms: Math.min(leftMs, CHECK_ENDED_EVERY_MS) };
  }
  if (now - since < GRACE_MS) return { do: "wait", ms: CHECK_EVERY_MS };
  const spec = JobSpec.safeParse(stored.get("spec"));
  return spec.success ? { do: "end", state: endedState(spec.data, rest, stored, now) } : { do: "forget" };
}

function endedState(
  spec: JobSpec,
  { round, version, scratch, orphans }: z.infer<typeof Rest>,
  stored: ReadonlyMap<string, unknown>,
  now: number,
): JobState {
  const requested = RequestBody.safeParse(stored.get("requested")).data;
  const fresh = newJob({ ...spec, ...(requested ? { requested } : {}) });
  const outputs = z.array(OutputState).length(spec.outputs.length).catch(fresh.outputs).parse(stored.get("outputs"));
  const input = JobState.shape.input.catch(fresh.input).parse(stored.get("input"));
  const outbox = deliveriesOf(stored, now);
  const tasks = readable(TaskState, stored.get("tasks"));
  const all = { ...fresh, round, version, indexedVersion: 0, scratch, orphans, outputs, input, outbox, tasks };
  let state: JobState = { ...tasks.reduce(withOrphans, all), tasks: [] };
  for (const [index, { phase }] of outputs.entries()) {
    if (!isTerminalOutput(phase)) state = failOutput(state, index, LOST_JOB, now);
  }
  return endIfDone(state, now);
}

/** The readable entries. */
function readable<Schema extends z.ZodType>(schema: Schema, entries: unknown): z.infer<Schema>[] {
  return (Array.isArray(entries) ? entries : []).flatMap((entry) => {
    const parsed = schema.safeParse(entry);
    return parsed.success ? [parsed.data] : [];
  });
}

/** Marks a task's multipart uploads to be aborted. */
const withOrphans = (state: JobState, { id }: TaskState): JobState =>
  orphanUploads(patchTask(state, id, { reports: [] }), id);

/** The deliveries. An unreadable delivery is replaced, because the ids of the following deliveries are counted. */
function deliveriesOf(stored: ReadonlyMap<string, unknown>, now: number): Delivery[] {
  const entries = [...stored].filter(([key]) => key.startsWith("outbox:")).map(([, entry]) => entry);
  return entries.map((entry, index) =>
    Delivery.catch({
      id: `lost_${index + 1}`,
      event: "job.failed",
      body: "",
      createdAt: now,
      attempts: 0,
      earlierAttempts: 0,
      state: "abandoned",
      nextAt: now,
      lastResult: "The delivery was lost",
    } as const).parse(entry),
  );
}
