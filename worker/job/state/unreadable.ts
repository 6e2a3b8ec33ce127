// What becomes of a job whose stored state cannot be read: a fault of the service's own, in this version or an earlier one.
// Pure: what lies there and the time → what to do.
import * as z from "zod";
import type { Failure } from "#shared/errors.ts";
import { isTerminalOutput } from "#shared/job/output-status.ts";
import { endIfDone } from "../decide/job-ending.ts";
import { failOutput, orphanUploads, patchTask } from "./job-moves.ts";
import { Delivery, JobSpec, JobState, MultipartUpload, newJob, OutputState, TaskState } from "./job-state.ts";

/** What an object throws while it cannot read its state. It crosses RPC with `retryable`: callers come again. */
export class UnreadableState extends Error {
  override readonly name = "UnreadableState";
  readonly retryable = true;
}

/** How long a version of the service that can read the state is waited for: a faulty one is taken back by then. */
const PATIENCE_MS = 60 * 60_000;
const LOOK_EVERY_MS = 5 * 60_000;
/** Of a job that has ended only its notifications and its purge wait. */
const LOOK_AT_ENDED_EVERY_MS = 60 * 60_000;

export const LOST: Failure = {
  code: "internal_error",
  message: "The service lost what it knew of this job; please create it anew",
};

export type Verdict = { do: "wait"; ms: number } | { do: "end"; state: JobState } | { do: "forget" };

/** Of the entry `rest` (job-store.ts) what is needed, each member by itself. */
const Rest = z.object({
  completedAt: z.number().nullable().catch(null),
  round: z.int().catch(0),
  // More than any job comes to, so that the index takes what is written next.
  version: z.int().catch(1_000_000),
  scratch: JobState.shape.scratch.catch(JobState.shape.scratch.parse(undefined)),
  orphans: z.unknown().transform((entries) => readable(MultipartUpload, entries)),
});

/**
 * What to do with entries that make no state. `since` is when that was first seen. A job that runs is ended as failed
 * once nobody can be expected to mend it, with its good outputs kept; one of which not even the specification can be
 * read is forgotten, and the sweeper ends its row.
 */
export function judgeUnreadable(
  stored: ReadonlyMap<string, unknown>,
  { since, now, retentionMs }: { since: number; now: number; retentionMs: number },
): Verdict {
  const rest = Rest.parse(Object(stored.get("rest")));
  if (rest.completedAt !== null) {
    const leftMs = rest.completedAt + retentionMs - now;
    return leftMs <= 0 ? { do: "forget" } : { do: "wait", ms: Math.min(leftMs, LOOK_AT_ENDED_EVERY_MS) };
  }
  if (now - since < PATIENCE_MS) return { do: "wait", ms: LOOK_EVERY_MS };
  const spec = JobSpec.safeParse(stored.get("spec"));
  return spec.success ? { do: "end", state: ended(spec.data, rest, stored, now) } : { do: "forget" };
}

function ended(
  spec: JobSpec,
  { round, version, scratch, orphans }: z.infer<typeof Rest>,
  stored: ReadonlyMap<string, unknown>,
  now: number,
): JobState {
  const fresh = newJob(spec);
  const outputs = z.array(OutputState).length(spec.outputs.length).catch(fresh.outputs).parse(stored.get("outputs"));
  const input = JobState.shape.input.catch(fresh.input).parse(stored.get("input"));
  const outbox = deliveriesOf(stored, now);
  const tasks = readable(TaskState, stored.get("tasks"));
  const all = { ...fresh, round, version, indexedVersion: 0, scratch, orphans, outputs, input, outbox, tasks };
  let state: JobState = { ...tasks.reduce(withOrphans, all), tasks: [] };
  for (const [index, { phase }] of outputs.entries()) {
    if (!isTerminalOutput(phase)) state = failOutput(state, index, LOST, now);
  }
  return endIfDone(state, now);
}

/** Those of the entries that can be read. */
function readable<Schema extends z.ZodType>(schema: Schema, entries: unknown): z.infer<Schema>[] {
  return (Array.isArray(entries) ? entries : []).flatMap((entry) => {
    const parsed = schema.safeParse(entry);
    return parsed.success ? [parsed.data] : [];
  });
}

/** Sets a task's multipart uploads aside to be aborted, as far as what else is left says which objects they are for. */
function withOrphans(state: JobState, { id }: TaskState): JobState {
  try {
    return orphanUploads(patchTask(state, id, { reports: [] }), id);
  } catch {
    return state;
  }
}

/** The deliveries; one that cannot be read keeps its place, because the ids of those that follow count on. */
function deliveriesOf(stored: ReadonlyMap<string, unknown>, now: number): Delivery[] {
  const entries = [...stored].filter(([key]) => key.startsWith("outbox:")).map(([, entry]) => entry);
  return entries.map((entry, index) =>
    Delivery.catch({
      ...{ id: `lost_${index + 1}`, event: "job.failed", body: "", createdAt: now, nextAt: now },
      ...{ attempts: 0, earlierAttempts: 0, state: "abandoned", lastResult: "It was lost" },
    } as const).parse(entry),
  );
}
