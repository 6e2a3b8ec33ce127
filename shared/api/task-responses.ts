// Schemas of responses about a job's tasks and their attempts.
import * as z from "zod";
import { NAMED } from "../named-schemas.ts";
import { TASK_STAGES } from "../protocol/frames.ts";
import { TASK_KINDS } from "../protocol/tasks.ts";

export const TASK_STATUSES = ["waiting", "running", "completed", "failed"] as const;
/**
 * `lost`: the node stopped reporting. `returned`: the node handed the task back. `superseded`: another attempt made the
 * result, or the job no longer needs it.
 */
export const ATTEMPT_OUTCOMES = ["completed", "failed", "lost", "returned", "superseded", "cancelled"] as const;
export type AttemptOutcome = (typeof ATTEMPT_OUTCOMES)[number];

/** Timestamp in responses: ISO 8601 in UTC, with milliseconds. */
export const Instant = z.iso.datetime({ precision: 3 });
export const instant = (timeMs: number): string => new Date(timeMs).toISOString();

const ChunkView = z
  .object({
    number: z.int().describe("From 1, in time order"),
    from_seconds: z.number().describe("Where it starts in the input's video"),
    to_seconds: z.number(),
  })
  .describe("The part of the input's video that a task of kind `chunk` encodes");

const SpeculativeOf = z
  .string()
  .exactOptional()
  .describe("Only of a second task for a slow chunk: the id of the first task for the chunk");

export const TaskView = z
  .object({
    id: z.string().describe("Unique in the job"),
    kind: z.enum(TASK_KINDS),
    outputs: z.array(z.string()).describe("The keys of the outputs that it makes"),
    status: z
      .enum(TASK_STATUSES)
      .describe("`failed`: it was given up, because it failed too often or the job ended before"),
    chunk: ChunkView.exactOptional(),
    speculative_of: SpeculativeOf,
    attempt: z.int().describe("How many nodes have taken it so far; 0 before the first"),
    node: z.string().exactOptional().describe("The node that has it, or had it last"),
    started_at: Instant.exactOptional().describe("When that node took it"),
    ended_at: Instant.exactOptional(),
    stage: z.enum(TASK_STAGES).exactOptional().describe("Current work of its node"),
    progress: z.number().describe("The completed share of the stage, 0 to 1; 1 when it is completed"),
    fps: z.number().exactOptional().describe("Frames per second that ffmpeg encodes, or has encoded on average"),
    speed: z.number().exactOptional().describe("How many seconds of the input it encodes in a second"),
  })
  .describe("A task of a job")
  .register(NAMED, { id: "Task" });
export type TaskView = z.infer<typeof TaskView>;

export const AttemptView = z
  .object({
    task: z.string().describe("The id of the task, which may belong to an earlier start of the job"),
    kind: z.enum(TASK_KINDS),
    speculative_of: SpeculativeOf,
    attempt: z.int().describe("From 1"),
    node: z.string(),
    started_at: Instant,
    ended_at: Instant,
    outcome: z.enum(ATTEMPT_OUTCOMES),
    reason: z.string().exactOptional().describe("Why it was not completed, in a sentence"),
  })
  .describe("The work of one node on a task, after its end")
  .register(NAMED, { id: "Attempt" });
export type AttemptView = z.infer<typeof AttemptView>;

/** Maximum number of ended attempts in a response. */
export const MAX_ATTEMPTS = 200;

export const TaskList = z
  .object({
    job_id: z.string(),
    tasks: z.array(TaskView).describe("The tasks since the job was started last, and all chunks of its video"),
    attempts: z.array(AttemptView).describe(`Ended attempts by their end: the last ${MAX_ATTEMPTS}`),
    attempts_dropped: z.int().describe("Number of earlier attempts that are not kept"),
  })
  .describe("The tasks of a job and their attempts")
  .register(NAMED, { id: "TaskList" });
export type TaskList = z.infer<typeof TaskList>;

/** The data of the event `tasks` of a job's event stream. */
export const TaskChanges = z
  .object({
    tasks: z.array(TaskView).describe("The tasks that have changed since the event before"),
    removed: z
      .array(z.string())
      .describe("The ids of tasks that no longer exist, such as a second attempt at a chunk that was not needed"),
    attempts: z.array(AttemptView).describe("The attempts that have ended since"),
  })
  .describe("Changes of a job's tasks")
  .register(NAMED, { id: "TaskChanges" });
export type TaskChanges = z.infer<typeof TaskChanges>;

export const QueueView = z
  .object({
    job_id: z.string(),
    ahead: z
      .int()
      .nullable()
      .describe(
        "Number of jobs before it: older jobs of the account, and jobs with a higher priority. null: it does not " +
          "wait for a node",
      ),
    starts_in_seconds: z
      .int()
      .nullable()
      .describe("About when a node starts it. null: it does not wait, or no node of its pool takes work"),
  })
  .describe("The place of a job among the waiting jobs")
  .register(NAMED, { id: "QueueView" });
export type QueueView = z.infer<typeof QueueView>;
